import Foundation

/// Two lines: the saves a second of 1, 2, 4, 8 and 16 writers, ours and by hand.
package struct WritersPlot {
  let results: [ServerResult]

  package init(results: [ServerResult]) { self.results = results.filter { $0.row == .writers } }

  private static let left = 70.0
  private static let top = 40.0
  private static let width = 420.0
  private static let height = 260.0

  private var limit: Double {
    let most = results.flatMap { [$0.ours, $0.byHand] }.compactMap { $0 }.map { 1e9 / $0 }.max() ?? 1
    let step = pow(10, floor(log10(most)))
    return (most / step).rounded(.up) * step
  }

  package var svg: String {
    let bottom = Self.top + Self.height
    var lines = [
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"620\" height=\"360\" font-family=\"sans-serif\" font-size=\"12\">",
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>",
      "<text x=\"\(Self.left)\" y=\"20\" font-size=\"14\">Saves a second over one server, by the number of writers</text>",
      "<path d=\"M\(Self.left) \(Self.top)V\(bottom)H\(Self.left + Self.width)\" fill=\"none\" stroke=\"#333\"/>",
    ]
    for part in 0...4 {
      let value = limit * Double(part) / 4
      lines.append(text(String(format: "%.0f", value), Self.left - 8, y(value) + 4, "end", "#333"))
    }
    for (index, result) in results.enumerated() {
      lines.append(text("\(result.writers ?? 1)", x(index), bottom + 20, "middle", "#333"))
    }
    lines += curve("by hand", "#d8703b") { $0.byHand } + curve("ours", "#3b7dd8") { $0.ours }
    lines.append("</svg>")
    return lines.joined(separator: "\n") + "\n"
  }

  private func curve(_ name: String, _ color: String, _ figure: (ServerResult) -> Double?) -> [String] {
    let points = results.enumerated().compactMap { index, result in
      figure(result).map { (x(index), y(1e9 / $0)) }
    }
    guard let last = points.last else { return [] }
    let path = points.map { String(format: "%.1f,%.1f", $0.0, $0.1) }.joined(separator: " ")
    return [
      "<polyline points=\"\(path)\" fill=\"none\" stroke=\"\(color)\" stroke-width=\"2\"/>",
      text(name, last.0 + 10, last.1 + 4, "start", color),
    ]
  }

  private func x(_ index: Int) -> Double {
    Self.left + Self.width * Double(index) / Double(max(results.count - 1, 1))
  }

  private func y(_ value: Double) -> Double { Self.top + Self.height * (1 - value / limit) }

  private func text(_ text: String, _ x: Double, _ y: Double, _ anchor: String, _ color: String) -> String {
    String(format: "<text x=\"%.1f\" y=\"%.1f\" ", x, y)
      + "text-anchor=\"\(anchor)\" fill=\"\(color)\">\(text)</text>"
  }
}
