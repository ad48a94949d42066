import Foundation

/// The results as text, one line a row, printed as they come in.
package struct Table {
  let isSmoke: Bool

  package init(isSmoke: Bool) { self.isSmoke = isSmoke }

  // MARK: Rows that compare

  package func header(_ section: RowID.Section) -> String {
    switch section {
    case .databases:
      Self.head(
        Self.databaseWidths, "what is done", "ours", "raw*", "GRDB", "÷ raw*", "÷ GRDB", "target", "verdict",
        "raw")
    case .others:
      Self.head(
        Self.otherWidths, "what is done", "ours", "other", "÷ other", "target", "verdict", "the other")
    }
  }

  package func line(_ result: RowResult) -> String {
    let target: String
    switch result.row.target {
    case .ratioToRaw(let ratio), .ratioToReference(let ratio): target = Self.ratio(ratio)
    case .ratioToGRDB(let ratio): target = "\(Self.ratio(ratio)) GRDB"
    case .value(let value): target = "\(Self.figure(value)) \(result.row.unit)"
    }
    switch result.row.section {
    case .databases:
      let floor = result.floor.map { " (least: \(Self.figure($0)))" } ?? ""
      return Self.line(
        Self.databaseWidths, result.row.name, Self.figure(result.ours), Self.figure(result.rawTuned),
        Self.figure(result.grdb), Self.ratio(result.ratioToTuned), Self.ratio(result.ratioToGRDB), target,
        text(result.verdict, isRequired: result.row.isRequired), Self.figure(result.raw) + floor)
    case .others:
      return Self.line(
        Self.otherWidths, result.row.name, Self.figure(result.ours), Self.figure(result.reference),
        Self.ratio(result.ratioToReference), target,
        text(result.verdict, isRequired: result.row.isRequired), result.row.reference ?? "")
    }
  }

  package static let legend = """

    ns for one object, call or transaction, or what the target names; medians, ratios round by round.
    raw*: SQLite through C with the pragmas that our engine sets; raw: with a write-ahead log and nothing else, for comparison.
    unsettled: raw* (or what stands in its place) spread by more than 10 % over the rounds; MISSED: a required row.
    least: what the same work takes with plain objects, one found through another, in the same order.
    """

  // MARK: Growth

  package var growthHeader: String {
    Self.head(
      Self.growthWidths, "in a context of so many objects", GrowthSize.tenThousand.text,
      GrowthSize.hundredThousand.text, GrowthSize.million.text, "growth", "target", "verdict")
  }

  package func line(_ result: GrowthResult) -> String {
    Self.line(
      Self.growthWidths, result.operation.name, Self.figure(result.median(.tenThousand)),
      Self.figure(result.median(.hundredThousand)), Self.figure(result.median(.million)),
      Self.ratio(result.growth), Self.ratio(GrowthOperation.target), text(result.verdict, isRequired: false))
  }

  package static func growthLegend(residentBytes: Int) -> String {
    """

    ns for one operation; growth: the time at the largest size over the time at the smallest, round by round.
    Resident memory with all these contexts: \(String(format: "%.2f", Double(residentBytes) / 1e9)) GB.
    """
  }

  // MARK: Cells

  private func text(_ verdict: Verdict?, isRequired: Bool) -> String {
    guard let verdict else { return "-" }
    // Small runs show that everything works; their figures say nothing about speed.
    if isSmoke { return "ran" }
    return verdict == .missed && isRequired ? "MISSED" : verdict.rawValue
  }

  private static let databaseWidths = [46, 8, 8, 8, 7, 7, 9, 9, 0]
  private static let otherWidths = [46, 8, 8, 8, 12, 9, 0]
  private static let growthWidths = [46, 9, 9, 9, 7, 7, 0]

  private static func head(_ widths: [Int], _ cells: String...) -> String {
    join(widths, cells) + "\n" + String(repeating: "-", count: widths.reduce(0) { $0 + $1 + 1 } + 8)
  }

  private static func line(_ widths: [Int], _ cells: String...) -> String { join(widths, cells) }

  private static func join(_ widths: [Int], _ cells: [String]) -> String {
    let line = zip(cells, widths).map { cell, width in
      cell + String(repeating: " ", count: max(width - cell.count, 0))
    }.joined(separator: " ")
    return String(line.reversed().drop { $0 == " " }.reversed())
  }

  private static func figure(_ value: Double?) -> String {
    guard let value else { return "" }
    return String(format: abs(value) >= 100 ? "%.0f" : "%.1f", value)
  }

  private static func ratio(_ value: Double?) -> String {
    guard let value else { return "" }
    if value > 0, value < 0.001 { return "<0.001" }
    return String(format: value < 0.1 ? "%.3f" : "%.2f", value)
  }
}
