/// A line of `cde store query`, read into its parts.
///
/// The words `where`, `sort`, `limit`, `offset` and `columns` begin a part, whatever the case of their letters. Within text and brackets
/// they mean nothing, and an attribute of that name is written as NSPredicate's formats write it: `#limit`.
struct QueryLine: Equatable {
  enum Part: String, CaseIterable, Sendable {
    case condition = "where"
    case sort, limit, offset, columns
  }

  /// The first word: a command, or an entity.
  var head: String
  /// What stands between the head and the first part.
  var argument: String
  /// The texts of the parts.
  var parts: [Part: String]

  /// - Throws: ``ToolError`` for a part that comes twice or is empty.
  init(_ text: String) throws(ToolError) {
    var tokens = Self.tokens(of: text)[...]
    head = tokens.popFirst().map { String(text[$0.range]) } ?? ""
    argument = ""
    parts = [:]
    var current: Part?
    var start = tokens.first?.range.lowerBound ?? text.endIndex
    func finish(_ end: String.Index, _ argument: inout String, _ parts: inout [Part: String])
      throws(ToolError)
    {
      var value = String(text[start..<end])
      while value.last?.isWhitespace == true { value.removeLast() }
      guard let current else {
        argument = value
        return
      }
      if value.isEmpty { throw ToolError("Nothing stands behind \(current.rawValue).", .usage) }
      if parts.updateValue(value, forKey: current) != nil {
        throw ToolError(
          "\(current.rawValue) stands twice. Join conditions by AND, and keys by commas.", .usage)
      }
    }
    for (place, token) in tokens.enumerated() where token.isPlain {
      guard let part = Part(rawValue: text[token.range].lowercased()) else { continue }
      try finish(token.range.lowerBound, &argument, &parts)
      current = part
      let next = tokens.dropFirst(place + 1).first
      start = next?.range.lowerBound ?? text.endIndex
    }
    try finish(text.endIndex, &argument, &parts)
  }

  /// Whether a text goes on: a quotation mark or a bracket is open, or a backslash ends it.
  static func isOpen(_ text: String) -> Bool {
    if text.last == "\\" { return true }
    let state = scan(text) { _, _ in }
    return state.quote != nil || state.depth > 0
  }

  struct Token {
    var range: Range<String.Index>
    /// Whether it is outside of text and brackets, and not a name behind `#`.
    var isPlain: Bool
  }

  /// The words between blanks.
  static func tokens(of text: String) -> [Token] {
    var tokens: [Token] = []
    var start: String.Index?
    var isPlain = true
    scan(text) { index, isInside in
      if text[index].isWhitespace, !isInside {
        if let begun = start { tokens.append(Token(range: begun..<index, isPlain: isPlain)) }
        start = nil
        isPlain = true
        return
      }
      if start == nil { start = index }
      if isInside || "\"'#()[]{}".contains(text[index]) { isPlain = false }
    }
    if let start { tokens.append(Token(range: start..<text.endIndex, isPlain: isPlain)) }
    return tokens
  }

  private struct State {
    var quote: Character?
    var depth = 0
  }

  /// Calls a closure with each character, and whether it is inside text or brackets.
  @discardableResult private static func scan(_ text: String, _ body: (String.Index, Bool) -> Void) -> State {
    var state = State()
    var isEscaped = false
    for index in text.indices {
      let character = text[index]
      body(index, state.quote != nil || state.depth > 0)
      if let quote = state.quote {
        if isEscaped {
          isEscaped = false
        } else if character == "\\" {
          isEscaped = true
        } else if character == quote {
          state.quote = nil
        }
      } else if character == "\"" || character == "'" {
        state.quote = character
      } else if "([{".contains(character) {
        state.depth += 1
      } else if ")]}".contains(character) {
        state.depth = max(0, state.depth - 1)
      }
    }
    return state
  }
}
