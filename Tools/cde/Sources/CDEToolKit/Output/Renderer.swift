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
    if let title = table.title { result += strong(Self.visible(title)) + "\n" }
    let rows = table.rows.map { $0.map { Self.visible($0.text) } }
    let names = table.columns.map { Self.visible($0.name) }
    var widths = names.map(Self.columns(of:))
    for row in rows {
      for (column, text) in row.enumerated() { widths[column] = max(widths[column], Self.columns(of: text)) }
    }
    widths = fitted(widths, names)
    func line(_ cells: [String], _ style: (String) -> String) -> String {
      var parts: [String] = []
      for (column, text) in cells.enumerated() {
        let cut = Self.cut(text, to: widths[column])
        let space = String(repeating: " ", count: widths[column] - Self.columns(of: cut))
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
    let longest = facts.map { Self.columns(of: $0.name) }.max() ?? 0
    return facts.map { fact in
      let space = String(repeating: " ", count: longest - Self.columns(of: fact.name) + 2)
      return strong(fact.name) + space + Self.visible(fact.cell.text) + "\n"
    }.joined()
  }

  private func markdown(_ table: Table) -> String {
    let rule = table.columns.map { $0.isNumber ? "---:" : "---" }
    let title = table.title.map { "## \(Self.visible($0))\n\n" } ?? ""
    return title + Self.markdownRow(table.columns.map(\.name)) + "| " + rule.joined(separator: " | ") + " |\n"
      + table.rows.map { Self.markdownRow($0.map(\.text)) }.joined()
  }

  static func markdownRow(_ cells: [String]) -> String {
    let parts = cells.map { visible($0).replacingOccurrences(of: "|", with: "\\|") }
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

  // MARK: Text

  private func strong(_ text: String) -> String { hasColors ? "\u{1B}[1m\(text)\u{1B}[0m" : text }

  /// The text without what a terminal would obey: a value may contain codes that move the cursor.
  static func visible(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isControl) else { return text }
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\n": result.append("⏎")
      case "\t": result.append("→")
      case let control where isControl(control): result.append("\u{FFFD}")
      default: result.append(scalar)
      }
    }
    return String(result)
  }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
      // These turn the direction of the text around them.
      || (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
  }

  /// The number of a terminal's columns that a text takes.
  static func columns(of text: String) -> Int {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
    return text.reduce(0) { $0 + columns(of: $1) }
  }

  private static func columns(of character: Character) -> Int {
    let scalar = character.unicodeScalars.first!
    switch scalar.value {
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
      0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
      return 2
    default: return scalar.properties.isEmojiPresentation ? 2 : 1
    }
  }

  private static func cut(_ text: String, to width: Int) -> String {
    guard columns(of: text) > width else { return text }
    var result = ""
    var used = 0
    for character in text {
      let more = columns(of: character)
      if used + more > width - 1 { break }
      result.append(character)
      used += more
    }
    return result + "…"
  }
}
