import Foundation

/// A diagram as a picture. Names stand in the boxes, so no line crosses them.
struct SVGDiagram {
  private let graph: DiagramGraph
  private let layout: DiagramLayout

  init(_ graph: DiagramGraph, _ layout: DiagramLayout) {
    self.graph = graph
    self.layout = layout
  }

  private static let light =
    "--back:#ffffff;--box:#fbfcfe;--edge:#5b6b82;--title:#dde7f5;--text:#1c2530;--soft:#5d6875;--line:#6d7f99;--link:#1f5fa8"
  private static let dark =
    "--back:#14181d;--box:#1d232a;--edge:#7f8ea3;--title:#2b3a4f;--text:#e8edf3;--soft:#9aa7b5;--line:#8a9bb3;--link:#7fb4f5"

  func text(_ theme: Diagram.Theme) -> String {
    let (width, height) = (Self.number(layout.width), Self.number(layout.height))
    let base = theme == .dark ? Self.dark : Self.light
    let other = theme == .auto ? "@media (prefers-color-scheme:dark){svg{\(Self.dark)}}" : ""
    var result = """
      <svg xmlns="http://www.w3.org/2000/svg" width="\(width)" height="\(height)" viewBox="0 0 \(width) \(height)">
      <style>svg{\(base)}\(other)
      text{font:12px "DejaVu Sans Mono",Menlo,Consolas,monospace;fill:var(--text)}.t{font-weight:bold;font-size:13px}.d{fill:var(--soft)}
      .r{fill:var(--link)}.b{fill:var(--box);stroke:var(--edge)}.h{fill:var(--title);stroke:var(--edge)}
      .l{fill:none;stroke:var(--line);stroke-width:1.4}.i{stroke-dasharray:5 4}.a{fill:var(--back);stroke:var(--line);stroke-width:1.4}
      .k{fill:var(--back)}</style>
      <rect class="k" width="100%" height="100%"/>

      """
    result = Self.resolved(result, theme)
    for (index, line) in graph.lines.enumerated() { result += self.line(line, layout.paths[index]) }
    for (index, box) in graph.boxes.enumerated() { result += self.box(box, layout.boxes[index]) }
    return result + "</svg>\n"
  }

  /// Writes the colours instead of variables where no reader's choice is needed: some programs know no variables.
  private static func resolved(_ text: String, _ theme: Diagram.Theme) -> String {
    guard theme != .auto else { return text }
    var result = text
    for pair in (theme == .dark ? dark : light).split(separator: ";") {
      let parts = pair.split(separator: ":").map(String.init)
      result = result.replacingOccurrences(of: "var(\(parts[0]))", with: parts[1])
    }
    return result
  }

  private func box(_ box: DiagramGraph.Box, _ place: DiagramLayout.Rectangle) -> String {
    let (x, y) = (place.x, place.y)
    func number(_ value: Double) -> String { Self.number(value) }
    var result = """
      <g><rect class="b" x="\(number(x))" y="\(number(y))" width="\(number(place.width))" height="\(number(place.height))" rx="5"/>
      <path class="h" d="M\(number(x)) \(number(y + DiagramLayout.titleHeight))v\(number(5 - DiagramLayout.titleHeight))q0 -5 5 -5h\(number(place.width - 10))q5 0 5 5v\(number(DiagramLayout.titleHeight - 5))z"/>
      <text class="t" x="\(number(x + 10))" y="\(number(y + 18))">\(Self.escaped(box.name))</text>

      """
    if box.isAbstract {
      result +=
        "<text class=\"d\" text-anchor=\"end\" x=\"\(number(x + place.width - 10))\" y=\"\(number(y + 18))\">abstract</text>\n"
    }
    for (row, line) in box.rows.enumerated() {
      let base = number(y + DiagramLayout.offset(row) + 4)
      result +=
        "<text x=\"\(number(x + 10))\" y=\"\(base)\"\(line.isRelationship ? " class=\"r\"" : "")>\(Self.escaped(line.name))</text>"
      result +=
        "<text class=\"d\" text-anchor=\"end\" x=\"\(number(x + place.width - 10))\" y=\"\(base)\">\(Self.escaped(line.detail))</text>\n"
    }
    return result + "</g>\n"
  }

  private func line(_ line: DiagramGraph.Line, _ points: [DiagramLayout.Point]) -> String {
    let number = Self.number
    var path = "M\(number(points[0].x)) \(number(points[0].y))"
    for curve in Self.curves(points) {
      path += "C" + curve.dropFirst().map { "\(number($0.x)) \(number($0.y))" }.joined(separator: " ")
    }
    var result = "<path class=\"l\(line.isInheritance ? " i" : "")\" d=\"\(path)\"/>\n"
    result += mark(line.from, at: points[0], next: points[1], isParent: false)
    result += mark(
      line.to, at: points[points.count - 1], next: points[points.count - 2], isParent: line.isInheritance)
    return result
  }

  /// The pieces of a line, each with its four points. Every second piece is level and passes a column.
  static func curves(_ points: [DiagramLayout.Point]) -> [[DiagramLayout.Point]] {
    zip(points, points.dropFirst()).map { start, end in
      if start.x == end.x {
        // Both ends are at the right of one column.
        let reach = 22 + min(abs(end.y - start.y) / 12, 22)
        return [start, .init(x: start.x + reach, y: start.y), .init(x: end.x + reach, y: end.y), end]
      }
      let bend = (end.x - start.x) / 2
      return [start, .init(x: start.x + bend, y: start.y), .init(x: end.x - bend, y: end.y), end]
    }
  }

  /// A crow's foot for many, a bar for one, a triangle at a parent.
  private func mark(
    _ end: DiagramGraph.End, at point: DiagramLayout.Point, next: DiagramLayout.Point, isParent: Bool
  ) -> String {
    let way = next.x < point.x ? -1.0 : 1.0
    let number = Self.number
    let (x, y) = (point.x, point.y)
    if isParent {
      return
        "<path class=\"a\" d=\"M\(number(x)) \(number(y))L\(number(x + way * 11)) \(number(y - 6))V\(number(y + 6))Z\"/>\n"
    }
    guard let isMany = end.isMany else { return "" }
    let path =
      isMany
      ? "M\(number(x + way * 10)) \(number(y))L\(number(x)) \(number(y - 5))M\(number(x + way * 10)) \(number(y))L\(number(x)) \(number(y + 5))"
      : "M\(number(x + way * 7)) \(number(y - 5))V\(number(y + 5))"
    return "<path class=\"l\" d=\"\(path)\"/>\n"
  }

  /// A number with one digit behind the point, so that pictures are the same on every machine.
  private static func number(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return tenths % 10 == 0
      ? String(tenths / 10) : "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10)"
  }

  static func escaped(_ text: String) -> String {
    ShownText.visible(text).replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(
      of: "<", with: "&lt;"
    )
    .replacingOccurrences(of: ">", with: "&gt;").replacingOccurrences(of: "\"", with: "&quot;")
  }
}
