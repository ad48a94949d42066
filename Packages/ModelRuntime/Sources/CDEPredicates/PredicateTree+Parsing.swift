extension PredicateTree {
  /// Reads a format string in the grammar of `NSPredicate(format:)`.
  ///
  /// Text in quotes is literal: placeholders are not looked for in it, and a backslash escapes. A key named
  /// like a keyword is written `#key`, as in Core Data.
  ///
  /// - Parameter arguments: What `%@`, `%K` and the C conversions stand for, in order; surplus ones are
  ///   ignored.
  /// - Throws: ``PredicateTreeError`` that names the construct and its offset.
  public init(format: String, arguments: [Any?] = []) throws(PredicateTreeError) {
    var parser = try PredicateFormatParser(format: format, arguments: arguments)
    self = try parser.predicate()
  }

  /// The tree with every `$NAME` that `variables` has a value for replaced, except those a subquery binds.
  public func substituting(_ variables: [String: PredicateConstant]) -> PredicateTree {
    if variables.isEmpty { return self }
    return switch self {
    case .constant: self
    case .comparison(let comparison):
      .comparison(
        PredicateComparison(
          comparison.left.substituting(variables), comparison.op, comparison.right.substituting(variables),
          modifier: comparison.modifier, options: comparison.options))
    case .and(let parts): .and(parts.map { $0.substituting(variables) })
    case .or(let parts): .or(parts.map { $0.substituting(variables) })
    case .not(let tree): .not(tree.substituting(variables))
    }
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

  /// The expression with every `$NAME` that `variables` has a value for replaced.
  ///
  /// A `$NAME.key` stays: a constant has no keys, and a store resolves the name when it evaluates.
  public func substituting(_ variables: [String: PredicateConstant]) -> ExpressionTree {
    switch self {
    case .constant, .evaluatedObject, .keyPath, .variableKeyPath: return self
    case .variable(let name): return variables[name].map { .constant($0) } ?? self
    case .projection(let base, let path): return .projection(of: base.substituting(variables), path)
    case .aggregate(let aggregate, let base): return .aggregate(aggregate, of: base.substituting(variables))
    case .subquery(let collection, let variable, let predicate):
      var inner = variables
      inner[variable] = nil
      return .subquery(
        collection: collection.substituting(variables), variable: variable,
        where: predicate.substituting(inner))
    case .function(let function, let arguments):
      return .function(function, arguments.map { $0.substituting(variables) })
    case .list(let members): return PredicateFormatParser.list(members.map { $0.substituting(variables) })
    case .conditional(let condition, let first, let second):
      return .conditional(
        condition.substituting(variables), then: first.substituting(variables),
        else: second.substituting(variables))
    }
  }
}
