import Foundation

/// A line for each operation: its time in larger contexts over its time in the smallest one.
package struct GrowthPlot {
  let results: [GrowthResult]

  package init(results: [GrowthResult]) { self.results = results }

  private static let left = 60.0
  private static let top = 40.0
  private static let width = 420.0
  private static let height = 260.0
  private static let colors = ["#3b7dd8", "#d8703b", "#3a9a5b", "#8a5bc0"]

  private var sizes: [GrowthSize] {
    GrowthSize.allCases.filter { size in results.contains { $0.figures[size] != nil } }
  }

  /// The highest ratio that the plot has room for.
  private var limit: Double { max(2, results.compactMap(\.growth).max() ?? 0).rounded(.up) }

  package var svg: String {
    let bottom = Self.top + Self.height
    var lines = [
      """
      <svg xmlns="http://www.w3.org/2000/svg" width="900" height="360" font-family="sans-serif" font-size="12">
      """,
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>",
      """
      <text x="\(Self.left)" y="20" font-size="14">Time of an operation, as a multiple of its time in the \
      smallest context</text>
      """,
      line(from: (Self.left, Self.top), to: (Self.left, bottom)),
      line(from: (Self.left, bottom), to: (Self.left + Self.width, bottom)),
      line(
        from: (Self.left, y(GrowthOperation.target)), to: (Self.left + Self.width, y(GrowthOperation.target)),
        "stroke-dasharray=\"4 3\""),
    ]
    for ratio in stride(from: 0, through: limit, by: limit / 4) {
      lines.append(text(String(format: "%.1f", ratio), Self.left - 8, y(ratio) + 4, "end"))
    }
    for (index, size) in sizes.enumerated() {
      lines.append(text("\(size.text) objects", x(index), bottom + 20, "middle"))
    }
    for (index, result) in results.enumerated() {
      lines += curve(result, Self.colors[index % Self.colors.count])
    }
    lines += labels
    lines.append("</svg>")
    return lines.joined(separator: "\n") + "\n"
  }

  private func curve(_ result: GrowthResult, _ color: String) -> [String] {
    let points = sizes.enumerated().compactMap { index, size -> (Double, Double)? in
      guard result.figures[size] != nil else { return nil }
      return (x(index), y(result.ratio(at: size) ?? 1))
    }
    let path = points.map { "\(number($0.0)),\(number($0.1))" }.joined(separator: " ")
    return ["<polyline points=\"\(path)\" fill=\"none\" stroke=\"\(color)\" stroke-width=\"2\"/>"]
      + points.map {
        "<circle cx=\"\(number($0.0))\" cy=\"\(number($0.1))\" r=\"3\" fill=\"\(color)\"/>"
      }
  }

  /// Beside the lines' ends, moved apart where these lie close together.
  private var labels: [String] {
    let ends = results.enumerated().compactMap { index, result in
      result.growth.map { (color: Self.colors[index % Self.colors.count], growth: $0, result: result) }
    }.sorted { $0.growth > $1.growth }
    var lowest = 0.0
    return ends.map { end in
      let height = max(y(end.growth) + 4, lowest + 16)
      lowest = height
      let label = String(format: "%.2f  \(end.result.operation.name)", end.growth)
      return text(label, Self.left + Self.width + 14, height, "start", end.color)
    } + [text("target", Self.left + 6, y(GrowthOperation.target) - 5, "start")]
  }

  /// The sizes grow tenfold and stand at equal distances.
  private func x(_ index: Int) -> Double {
    let step = Self.width / Double(max(sizes.count - 1, 1))
    return Self.left + step * Double(index)
  }

  private func y(_ ratio: Double) -> Double { Self.top + Self.height * (1 - ratio / limit) }

  private func line(from: (Double, Double), to: (Double, Double), _ style: String = "") -> String {
    """
    <line x1="\(number(from.0))" y1="\(number(from.1))" x2="\(number(to.0))" y2="\(number(to.1))" stroke="#333" \(style)/>
    """
  }

  private func text(
    _ text: String, _ x: Double, _ y: Double, _ anchor: String, _ color: String = "#333"
  ) -> String {
    "<text x=\"\(number(x))\" y=\"\(number(y))\" text-anchor=\"\(anchor)\" fill=\"\(color)\">\(text)</text>"
  }

  private func number(_ value: Double) -> String { String(format: "%.1f", value) }

  func write(to path: String) throws {
    try Data(svg.utf8).write(to: URL(fileURLWithPath: path))
  }
}
