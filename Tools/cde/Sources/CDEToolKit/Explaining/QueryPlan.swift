@_spi(CDE) import CDESQLiteStore
import CDEStore
import Foundation

/// What SQLite does for a statement: the lines of EXPLAIN QUERY PLAN as a tree.
struct QueryPlan {
  let steps: [StatementPlan.Step]
  var scans: Int { steps.count { $0.access == .scan } }

  /// Asks SQLite for the plan of a statement. The statement does not run.
  init(_ sql: String, _ file: RawFile) throws(ToolError) {
    var depths = [0: -1]
    var steps: [StatementPlan.Step] = []
    for row in try file.texts("EXPLAIN QUERY PLAN " + sql) {
      let depth = (depths[Int(row[1]) ?? 0] ?? -1) + 1
      depths[Int(row[0]) ?? 0] = depth
      steps.append(StatementPlan.Step(sqlite: row[3], depth: depth))
    }
    self.steps = steps
  }
}
