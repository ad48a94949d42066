import CDEManagedModel
import Foundation

/// A diagram of a model: entities with attributes, inheritance, relationships with cardinality and delete rules.
public struct Diagram {
  /// The forms of a diagram.
  public enum Form: String, CaseIterable, Sendable {
    case svg, dot, mermaid
  }

  /// The colours of a picture.
  public enum Theme: String, CaseIterable, Sendable {
    /// Those of the reader's system.
    case auto
    case light, dark
  }

  let graph: DiagramGraph

  public init(_ model: NSManagedObjectModel, showsAttributes: Bool = true) {
    graph = DiagramGraph(model, showsAttributes: showsAttributes)
  }

  /// The diagram as text; the same for the same model.
  public func text(_ form: Form, theme: Theme = .auto) -> String {
    switch form {
    case .svg: SVGDiagram(graph, DiagramLayout(graph)).text(theme)
    case .dot: dot()
    case .mermaid: mermaid()
    }
  }

  // MARK: DOT

  private func dot() -> String {
    func escaped(_ text: String) -> String { SVGDiagram.escaped(text) }
    var result =
      "digraph Model {\n  rankdir=LR;\n  node [shape=plain, fontname=\"monospace\", fontsize=11];\n  edge [dir=both];\n"
    for (number, box) in graph.boxes.enumerated() {
      let title =
        "<tr><td port=\"title\"><b>\(escaped(box.name))</b>\(box.isAbstract ? " abstract" : "")</td></tr>"
      let rows = box.rows.enumerated().map { row, line in
        "<tr><td port=\"r\(row)\" align=\"left\">\(escaped(line.name))  \(escaped(line.detail))</td></tr>"
      }
      result +=
        "  e\(number) [label=<<table border=\"0\" cellborder=\"1\" cellspacing=\"0\">\(title)\(rows.joined())</table>>];\n"
    }
    func shape(_ end: DiagramGraph.End) -> String { end.isMany.map { $0 ? "crow" : "tee" } ?? "none" }
    func port(_ end: DiagramGraph.End) -> String { "e\(end.box):\(end.row.map { "r\($0)" } ?? "title")" }
    for line in graph.lines {
      result +=
        line.isInheritance
        ? "  e\(line.from.box):title -> e\(line.to.box):title [arrowtail=none, arrowhead=empty, style=dashed];\n"
        : "  \(port(line.from)) -> \(port(line.to)) [arrowtail=\(shape(line.from)), arrowhead=\(shape(line.to))];\n"
    }
    return result + "}\n"
  }

  // MARK: Mermaid

  private func mermaid() -> String {
    func word(_ text: String) -> String {
      let safe = text.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" }
      return String(safe).isEmpty ? "_" : String(safe)
    }
    func quoted(_ text: String) -> String {
      "\"" + text.replacingOccurrences(of: "\"", with: "'").replacingOccurrences(of: "\n", with: " ") + "\""
    }
    var result = "erDiagram\n"
    for (number, box) in graph.boxes.enumerated() {
      result += "  e\(number)[\(quoted(box.name))] {\n"
      for row in box.rows where !row.isRelationship {
        result += "    \(word(row.detail.replacingOccurrences(of: "?", with: ""))) \(word(row.name))\n"
      }
      result += "  }\n"
    }
    for line in graph.lines {
      if line.isInheritance {
        result += "  e\(line.to.box) ||..|| e\(line.from.box) : inherits\n"
        continue
      }
      let left = line.from.isMany.map { $0 ? "}o" : "|o" } ?? "|o"
      let right = line.to.isMany == true ? "o{" : "o|"
      let names = [line.from, line.to].compactMap { end in end.row.map { graph.boxes[end.box].rows[$0].name }
      }
      result +=
        "  e\(line.from.box) \(left)--\(right) e\(line.to.box) : \(quoted(names.joined(separator: " / ")))\n"
    }
    return result
  }
}
