import CDEDiagrams
import Foundation

/// The forms of an answer.
public enum OutputMode: String, CaseIterable, Sendable {
  case table, json, csv, markdown
}

/// Turns an answer into text.
public struct Renderer: Sendable {
  public var mode: OutputMode
  /// Whether the text may contain codes for colours.
  public var hasColors: Bool
  /// The width of the terminal, to which tables are cut; nil for none.
  public var width: Int?

  public init(mode: OutputMode = .table, hasColors: Bool = false, width: Int? = nil) {
    self.mode = mode
    self.hasColors = hasColors
    self.width = width
  }

  /// The answer as text that ends with a line break.
  public func text(of answer: Answer) -> String {
    if mode == .json { return answer.jsonValue.text() + "\n" }
    let parts = answer.blocks.map { block -> String in
      switch (block, mode) {
      case (.table(let table), .csv):
        return csv([table.columns.map(\.name)] + table.rows.map { $0.map(\.text) })
      case (.table(let table), .markdown): return markdown(table)
      case (.table(let table), _): return aligned(table)
      case (.facts(let facts), .csv): return csv(facts.map { [$0.name, $0.cell.text] })
      case (.facts(let facts), .markdown):
        return markdown(
          Table([.init("name"), .init("value")], rows: facts.map { [Cell($0.name), $0.cell] }))
      case (.facts(let facts), _): return lines(of: facts)
      case (.text(let text), _): return text.hasSuffix("\n") || text.isEmpty ? text : text + "\n"
      }
    }
    return parts.filter { !$0.isEmpty }.joined(separator: "\n")
  }

  // MARK: Tables

  private func aligned(_ table: Table) -> String {
    var result = ""
    if let title = table.title { result += strong(ShownText.visible(title)) + "\n" }
    let rows = table.rows.map { $0.map { ShownText.visible($0.text) } }
    let names = table.columns.map { ShownText.visible($0.name) }
    var widths = names.map(ShownText.columns(of:))
    for row in rows {
      for (column, text) in row.enumerated() {
        widths[column] = max(widths[column], ShownText.columns(of: text))
      }
    }
    widths = fitted(widths, names)
    func line(_ cells: [String], _ style: (String) -> String) -> String {
      var parts: [String] = []
      for (column, text) in cells.enumerated() {
        let cut = ShownText.cut(text, to: widths[column])
        let space = String(repeating: " ", count: widths[column] - ShownText.columns(of: cut))
        let isLast = column == cells.count - 1
        parts.append(
          table.columns[column].isNumber ? space + style(cut) : style(cut) + (isLast ? "" : space))
      }
      return parts.joined(separator: "  ") + "\n"
    }
    result += line(names, strong)
    for row in rows { result += line(row) { $0 } }
    return result
  }

  /// Takes from the widest columns what a line is too long.
  private func fitted(_ widths: [Int], _ names: [String]) -> [Int] {
    var widths = widths.map { min($0, width == nil ? 120 : $0) }
    guard let width else { return widths }
    while widths.reduce(2 * (widths.count - 1), +) > width {
      guard let widest = widths.indices.max(by: { widths[$0] < widths[$1] }), widths[widest] > 8 else {
        break
      }
      widths[widest] -= 1
    }
    return widths
  }

  private func lines(of facts: [Answer.Fact]) -> String {
    let longest = facts.map { ShownText.columns(of: $0.name) }.max() ?? 0
    return facts.map { fact in
      let space = String(repeating: " ", count: longest - ShownText.columns(of: fact.name) + 2)
      return strong(fact.name) + space + ShownText.visible(fact.cell.text) + "\n"
    }.joined()
  }

  private func markdown(_ table: Table) -> String {
    let rule = table.columns.map { $0.isNumber ? "---:" : "---" }
    let title = table.title.map { "## \(ShownText.visible($0))\n\n" } ?? ""
    return title + Self.markdownRow(table.columns.map(\.name)) + "| " + rule.joined(separator: " | ") + " |\n"
      + table.rows.map { Self.markdownRow($0.map(\.text)) }.joined()
  }

  static func markdownRow(_ cells: [String]) -> String {
    let parts = cells.map { ShownText.visible($0).replacingOccurrences(of: "|", with: "\\|") }
    return "| " + parts.joined(separator: " | ") + " |\n"
  }

  private func csv(_ rows: [[String]]) -> String {
    rows.map { $0.map(Self.csvField).joined(separator: ",") + "\r\n" }.joined()
  }

  /// A field in the form of RFC 4180.
  static func csvField(_ text: String) -> String {
    let needsQuotes = text.utf8.contains { $0 == 0x22 || $0 == 0x2C || $0 == 0x0A || $0 == 0x0D }
    return needsQuotes ? "\"" + text.replacingOccurrences(of: "\"", with: "\"\"") + "\"" : text
  }

  private func strong(_ text: String) -> String { hasColors ? "\u{1B}[1m\(text)\u{1B}[0m" : text }
}
