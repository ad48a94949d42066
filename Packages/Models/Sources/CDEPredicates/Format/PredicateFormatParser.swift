internal import Foundation

/// Parses the grammar of `NSPredicate(format:)` into a tree.
///
/// A parenthesis may open a predicate or an expression, and only the text after it determines which.
/// Therefore each level returns a ``Node`` of either kind, and each operator requires the kind that it needs.
/// The work stays linear in the length. Parentheses, AND, OR and NOT are kept in a list and nest without a limit; calls,
/// lists and indexes are parsed by recursion.
struct PredicateFormatParser {
  enum Node {
    case predicate(PredicateTree)
    case expression(ExpressionTree)
  }

  /// The maximum number of levels of an expression, and of calls, lists and indexes in each other. Expressions are processed
  /// by recursion, and a small stack has to be enough.
  static let depthLimit = 64

  let tokens: [PredicateFormatLexer.Token]
  let arguments: [Any?]
  var index = 0
  var nextArgument = 0
  var depth = 0

  init(format: String, arguments: [Any?]) throws(PredicateTreeError) {
    tokens = try PredicateFormatLexer.tokens(of: format)
    self.arguments = arguments
  }

  /// Parses a whole predicate.
  mutating func predicate() throws(PredicateTreeError) -> PredicateTree {
    let tree = try requirePredicate(try condition(), at: 0)
    try requireEnd()
    return tree
  }

  /// Parses a whole expression, such as a derived attribute's `articles.@count`.
  mutating func expression() throws(PredicateTreeError) -> ExpressionTree {
    let tree = try value()
    try requireEnd()
    return tree
  }

  // MARK: Tokens

  var token: PredicateFormatLexer.Token { tokens[index] }
  var position: Int { token.position }

  mutating func advance() {
    if index < tokens.count - 1 { index += 1 }
  }

  mutating func skip(_ symbol: String) -> Bool {
    guard tokens[index].symbol == symbol else { return false }
    advance()
    return true
  }

  /// Skips the keyword if it is next, in upper or lower case. A name escaped with `#` is no keyword.
  mutating func skipWord(_ word: String) -> Bool {
    guard isWord(word) else { return false }
    advance()
    return true
  }

  func isWord(_ word: String, ahead: Int = 0) -> Bool {
    index + ahead < tokens.count && tokens[index + ahead].keyword == word
  }

  mutating func expect(_ symbol: String, after construct: String) throws(PredicateTreeError) {
    guard skip(symbol) else {
      throw malformed(construct, "\"\(symbol)\" is missing in \(construct)")
    }
  }

  func malformed(_ construct: String, _ message: String, at position: Int? = nil) -> PredicateTreeError {
    PredicateTreeError(.malformedFormat, construct: construct, position: position ?? self.position, message)
  }

  func unsupported(_ construct: String, _ message: String, at position: Int? = nil) -> PredicateTreeError {
    PredicateTreeError(.unsupported, construct: construct, position: position ?? self.position, message)
  }

  private func requireEnd() throws(PredicateTreeError) {
    guard token.kind != .end else { return }
    throw malformed("end", "the predicate is complete here, but the format goes on")
  }

  /// Enters a call, a list or an index. After an error the depth does not matter.
  mutating func descend() throws(PredicateTreeError) {
    guard depth < Self.depthLimit else {
      throw unsupported(
        "nesting", "the format nests calls, lists or indexes deeper than \(Self.depthLimit) levels")
    }
    depth += 1
  }

  func requirePredicate(_ node: Node, at position: Int) throws(PredicateTreeError) -> PredicateTree {
    switch node {
    case .predicate(let tree): return tree
    case .expression:
      throw malformed(
        "comparison", "an expression alone is no predicate; compare it, as in \"flag == YES\"", at: position)
    }
  }

  func requireExpression(_ node: Node, at position: Int) throws(PredicateTreeError) -> ExpressionTree {
    switch node {
    case .expression(let tree): return tree
    case .predicate:
      throw malformed("expression", "a predicate is used where a value is expected", at: position)
    }
  }

  // MARK: Comparison

  mutating func quantifier() -> (modifier: PredicateModifier, negated: Bool)? {
    // A key may have the name "any". An operand follows a quantifier, and an operator follows a key.
    guard index + 1 < tokens.count else { return nil }
    if tokens[index].keyword.isEmpty || tokens[index + 1].symbol == "." || tokens[index + 1].kind == .end {
      return nil
    }
    if operatorAhead(1) { return nil }
    if skipWord("ANY") || skipWord("SOME") { return (.any, false) }
    if skipWord("ALL") { return (.all, false) }
    if skipWord("NONE") { return (.any, true) }
    return nil
  }

  private static let symbolOperators: [String: PredicateOperator] = [
    "==": .equal, "=": .equal, "===": .equal, "!=": .notEqual, "<>": .notEqual,
    "<": .less, "<=": .lessOrEqual, "=<": .lessOrEqual,
    ">": .greater, ">=": .greaterOrEqual, "=>": .greaterOrEqual,
  ]

  func operatorAhead(_ ahead: Int) -> Bool {
    guard index + ahead < tokens.count else { return false }
    return operation(tokens[index + ahead]) != nil
  }

  private func operation(_ token: PredicateFormatLexer.Token) -> PredicateOperator? {
    if !token.symbol.isEmpty { return Self.symbolOperators[token.symbol] }
    return token.keyword.isEmpty ? nil : PredicateOperator(rawValue: token.keyword)
  }

  mutating func comparisonOperator() throws(PredicateTreeError) -> PredicateOperator? {
    if let op = operation(tokens[index]) {
      advance()
      return op
    }
    if tokens[index].symbol == ":=" {
      throw unsupported(":=", "assignments have no meaning in a query")
    }
    return nil
  }

  mutating func options() throws(PredicateTreeError) -> PredicateTextOptions {
    guard tokens[index].symbol == "[" else { return [] }
    let start = position
    advance()
    guard case .word(let letters, escaped: false) = token.kind else {
      throw malformed("options", "the options of an operator are letters out of c, d, n and l")
    }
    var options: PredicateTextOptions = []
    for letter in letters.lowercased() {
      switch letter {
      case "c": options.insert(.caseInsensitive)
      case "d": options.insert(.diacriticInsensitive)
      case "n": options.insert(.normalized)
      case "l": options.insert(.localized)
      default:
        throw malformed("options", "the options of an operator are letters out of c, d, n and l", at: start)
      }
    }
    advance()
    try expect("]", after: "the operator's options")
    return options
  }

  func requireBounds(_ right: ExpressionTree, at position: Int) throws(PredicateTreeError) {
    switch right {
    case .constant(.list(let bounds)) where bounds.count == 2: return
    case .list(let bounds) where bounds.count == 2: return
    case .variable: return
    default:
      throw malformed(
        "BETWEEN", "BETWEEN needs a list of a lower and an upper bound, as in {1, 5}", at: position)
    }
  }
}
