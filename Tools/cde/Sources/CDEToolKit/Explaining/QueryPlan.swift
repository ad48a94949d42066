import Foundation

/// What SQLite does for a statement: the lines of EXPLAIN QUERY PLAN as a tree.
struct QueryPlan {
  struct Step {
    let depth: Int
    let text: String

    /// Whether all rows of a table are read.
    var isScan: Bool {
      text.hasPrefix("SCAN ") && !text.contains(" USING ") && !text.contains("CONSTANT ROW")
        && !text.contains("SUBQUERY")
    }
  }

  let steps: [Step]
  var scans: Int { steps.count(where: \.isScan) }

  /// Asks SQLite for the plan of a statement. The statement does not run.
  init(_ sql: String, _ file: RawFile) throws(ToolError) {
    var depths = [0: -1]
    var steps: [Step] = []
    for row in try file.texts("EXPLAIN QUERY PLAN " + sql) {
      let depth = (depths[Int(row[1]) ?? 0] ?? -1) + 1
      depths[Int(row[0]) ?? 0] = depth
      steps.append(Step(depth: depth, text: row[3]))
    }
    self.steps = steps
  }
}
