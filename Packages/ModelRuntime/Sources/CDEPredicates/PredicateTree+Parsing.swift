extension PredicateTree {
  /// Reads a format string in the grammar of `NSPredicate(format:)`.
  ///
  /// Text in quotes is literal: placeholders are not looked for in it, and a backslash escapes. A key named
  /// like a keyword is written `#key`, as in Core Data.
  ///
  /// - Parameters:
  ///   - format: The condition, with a placeholder for each argument.
  ///   - arguments: What `%@`, `%K` and the C conversions stand for, in order; surplus ones are ignored.
  /// - Throws: ``PredicateTreeError`` that names the construct and its offset.
  public init(format: String, arguments: [Any?] = []) throws(PredicateTreeError) {
    var parser = try PredicateFormatParser(format: format, arguments: arguments)
    self = try parser.predicate()
  }
}

extension ExpressionTree {
  /// Reads an expression alone, such as the derivation `articles.@count` or `canonical:(name)` of a derived
  /// attribute.
  ///
  /// - Throws: ``PredicateTreeError`` that names the construct and its offset.
  public init(format: String, arguments: [Any?] = []) throws(PredicateTreeError) {
    var parser = try PredicateFormatParser(format: format, arguments: arguments)
    self = try parser.expression()
  }
}
