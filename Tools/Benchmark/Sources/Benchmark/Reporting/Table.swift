import Foundation

/// The results as text, one line a row, printed as they come in.
struct Table {
  let isSmoke: Bool

  func printHeader() {
    print(
      Self.line(
        "row", "ours", "raw", "raw*", "GRDB", "÷ raw", "÷ raw*", "÷ GRDB", "target", "verdict", "operation"))
    print(String(repeating: "-", count: 122))
  }

  func printRow(_ result: RowResult) {
    let target: String
    switch result.row.target {
    case .ratio(let ratio): target = Self.ratio(ratio)
    case .ratioToGRDB(let ratio): target = "\(Self.ratio(ratio)) GRDB"
    case .value(let value), .time(let value, _): target = "\(Self.figure(value)) \(result.row.unit)"
    }
    let byRaw = result.targetByRaw.map { " (by raw's speed: \(Self.figure($0)))" } ?? ""
    let floor = result.floor.map { " (least: \(Self.figure($0)))" } ?? ""
    print(
      Self.line(
        result.row.rawValue, Self.figure(result.ours), Self.figure(result.raw), Self.figure(result.rawTuned),
        Self.figure(result.grdb), Self.ratio(result.ratio), Self.ratio(result.ratioToTuned),
        Self.ratio(result.ratioToGRDB), target, verdict(result), result.row.title + byRaw + floor))
  }

  func printFooter() {
    print(
      """

      ns, bytes or s for one object, call or transaction; medians, ratios round by round.
      raw: SQLite through C, in its default configuration; raw*: with the pragmas that our engine sets.
      least: what the same work takes with plain objects, one found through another, in the same order.
      by raw's speed: the target in ns, times what raw takes here over what it took where the target was set.
      """)
  }

  private func verdict(_ result: RowResult) -> String {
    guard let isMet = result.isMet else { return "-" }
    // Small runs show that everything works; their figures say nothing about speed.
    if isSmoke { return "ran" }
    if isMet { return "met" }
    return result.row.isRequired ? "MISSED" : "missed"
  }

  private static func line(_ cells: String...) -> String {
    let widths = [17, 9, 9, 9, 9, 7, 7, 7, 9, 7, 0]
    return zip(cells, widths).map { cell, width in
      cell + String(repeating: " ", count: max(width - cell.count, 0))
    }.joined(separator: " ")
  }

  private static func figure(_ value: Double?) -> String {
    guard let value else { return "" }
    return String(format: abs(value) >= 100 ? "%.0f" : "%.1f", value)
  }

  private static func ratio(_ value: Double?) -> String {
    guard let value else { return "" }
    return String(format: value < 0.1 ? "%.3f" : "%.2f", value)
  }
}
