import Foundation

/// The results over a server as text and for programs.
package enum ServerReport {
  private static let widths = [46, 10, 10, 9, 9, 9]

  package static var header: String {
    line(["over PostgreSQL", "ours", "by hand", "÷ hand", "target", "verdict"]) + "\n"
      + String(repeating: "-", count: 99)
  }

  package static func line(_ result: ServerResult, isSmoke: Bool) -> String {
    let target = result.row.target.map { result.row.isRatio ? ratio($0) : "\(Int($0 / 1e6)) ms" }
    let name = result.row.name + (result.writers.map { ": \($0)" } ?? "")
    let verdict = result.verdict.map { isSmoke ? "ran" : $0.rawValue } ?? "-"
    return line([
      name, time(result.ours), time(result.byHand), result.ratio.map(ratio) ?? "", target ?? "", verdict,
    ])
  }

  package static let legend = """

    ns for one object, call or save; medians, ratios round by round. by hand: libpq's C functions, with prepared statements,
    binary values, and arrays of 5,000 rows; it takes no keys, locks nothing, checks no references, and its commits have no
    token. unsettled: the figures by hand spread by more than 10 % over the rounds.
    """

  private static func line(_ cells: [String]) -> String {
    zip(cells, widths).map { $0 + String(repeating: " ", count: max($1 - $0.count, 0)) }.joined(
      separator: " ")
  }

  private static func time(_ value: Double?) -> String { value.map { String(format: "%.0f", $0) } ?? "" }

  private static func ratio(_ value: Double) -> String { String(format: "%.2f", value) }

  private struct Entry: Encodable {
    let row: String
    let name: String
    let writers: Int?
    let ours: Double?
    let byHand: Double?
    let ratio: Double?
    let target: Double?
    let verdict: String?
  }

  package static func json(_ results: [ServerResult], isSmoke: Bool) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    return try encoder.encode(
      results.map {
        Entry(
          row: $0.row.rawValue, name: $0.row.name, writers: $0.writers, ours: $0.ours, byHand: $0.byHand,
          ratio: $0.ratio, target: $0.row.target, verdict: isSmoke ? nil : $0.verdict?.rawValue)
      })
  }
}
