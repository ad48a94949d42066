import Foundation

/// A bar for each row: how much of its target it uses. A bar that ends left of the line keeps it.
package struct Plot {
  let results: [RowResult]

  package init(results: [RowResult]) { self.results = results }

  private static let left = 300.0
  private static let unit = 320.0
  private static let step = 24.0
  /// Longer bars are cut off here.
  private static let limit = 2.0
  /// About what a character takes at this font size.
  private static let letter = 6.6

  package var svg: String {
    let shown = results.filter { $0.measured != nil }
    let height = Self.step * Double(shown.count) + 70
    let longest = shown.map { Self.letter * Double(label($0).count) + length($0) }.max() ?? 0
    let width = Self.left + max(longest, Self.unit * Self.limit) + 20
    var lines = [
      """
      <svg xmlns="http://www.w3.org/2000/svg" width="\(Int(width))" height="\(Int(height))" \
      font-family="sans-serif" font-size="12">
      """,
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>",
      "<text x=\"\(Self.left)\" y=\"20\" font-size=\"14\">Measured, as a part of each row's target</text>",
    ]
    for (index, result) in shown.enumerated() { lines += bar(result, top: 36 + Self.step * Double(index)) }
    let target = Self.left + Self.unit
    let bottom = height - 26
    lines.append(
      "<line x1=\"\(target)\" y1=\"30\" x2=\"\(target)\" y2=\"\(bottom)\" stroke=\"#333\" stroke-dasharray=\"4 3\"/>"
    )
    lines.append("<text x=\"\(target)\" y=\"\(bottom + 16)\" text-anchor=\"middle\">target</text>")
    lines.append("</svg>")
    return lines.joined(separator: "\n") + "\n"
  }

  private func bar(_ result: RowResult, top: Double) -> [String] {
    let length = length(result)
    return [
      "<text x=\"\(Self.left - 8)\" y=\"\(top + 13)\" text-anchor=\"end\">\(result.row.name)</text>",
      """
      <rect x="\(Self.left)" y="\(top)" width="\(number(length))" height="16" fill="\(color(result.verdict))"/>
      """,
      "<text x=\"\(number(Self.left + length + 6))\" y=\"\(top + 13)\">\(label(result))</text>",
    ]
  }

  private func length(_ result: RowResult) -> Double {
    let share = max(result.measured ?? 0, 0) / result.row.target.number
    return max(min(share, Self.limit) * Self.unit, 1)
  }

  private func label(_ result: RowResult) -> String {
    guard let measured = result.measured else { return "" }
    let label: String
    switch result.row.target {
    case .ratioToRaw(let target): label = String(format: "%.2f of %.2f × raw*", measured, target)
    case .ratioToGRDB(let target): label = String(format: "%.2f of %.2f × GRDB", measured, target)
    case .ratioToReference(let target):
      label = String(format: "%.2f of %.2f × \(result.row.reference ?? "")", measured, target)
    case .value(let target): label = String(format: "%.0f of %.0f \(result.row.unit)", measured, target)
    }
    return result.verdict == .unsettled ? label + ", unsettled" : label
  }

  private func color(_ verdict: Verdict?) -> String {
    switch verdict {
    case .met: "#3b7dd8"
    case .missed: "#d8703b"
    case .unsettled, nil: "#9a9a9a"
    }
  }

  private func number(_ value: Double) -> String { String(format: "%.1f", value) }

  func write(to path: String) throws {
    try Data(svg.utf8).write(to: URL(fileURLWithPath: path))
  }
}
