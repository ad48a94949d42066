extension PredicateTree {
  /// Parses a format string in the grammar of `NSPredicate(format:)`.
  ///
  /// Text in quotes is literal: placeholders in it are not replaced, and a backslash escapes the next
  /// character. A key with the name of a keyword is written `#key`, as in Core Data.
  ///
  /// - Parameters:
  ///   - format: The condition, with a placeholder for each argument.
  ///   - arguments: The values of `%@`, `%K` and the C conversions, in order. Surplus ones are ignored.
  /// - Throws: ``PredicateTreeError`` that names the construct and its offset.
  public init(format: String, arguments: [Any?] = []) throws(PredicateTreeError) {
    var parser = try PredicateFormatParser(format: format, arguments: arguments)
    self = try parser.predicate()
  }
}

extension ExpressionTree {
  /// Parses an expression, such as the derivation `articles.@count` or `canonical:(name)` of a derived
  /// attribute.
  ///
  /// - Throws: ``PredicateTreeError`` that names the construct and its offset.
  public init(format: String, arguments: [Any?] = []) throws(PredicateTreeError) {
    var parser = try PredicateFormatParser(format: format, arguments: arguments)
    self = try parser.expression()
  }
}
