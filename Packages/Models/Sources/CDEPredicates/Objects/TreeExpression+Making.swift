public import Foundation

// The initialisers of Core Data's NSExpression.
extension TreeExpression {
  /// An expression from a format string, such as `price * 2`.
  ///
  /// - Parameters:
  ///   - expressionFormat: The expression, with a placeholder for each argument, as in a predicate.
  ///   - arguments: The values of the placeholders, in order.
  public convenience init(format expressionFormat: String, _ arguments: Any?...) {
    self.init(format: expressionFormat, values: arguments)
  }

  /// An expression from a format string with its arguments in an array.
  public convenience init(format expressionFormat: String, argumentArray arguments: [Any]) {
    self.init(format: expressionFormat, values: arguments)
  }

  /// An expression from a format string with a C argument list, from `getVaList` or `withVaList`.
  ///
  /// As on Apple's platforms, a placeholder that does not fit its argument is undefined behaviour.
  public convenience init(format expressionFormat: String, arguments: CVaListPointer) {
    self.init(
      Result { () throws(PredicateTreeError) in
        try ExpressionTree(
          format: expressionFormat,
          arguments: try PredicateArgumentList.values(of: arguments, in: expressionFormat))
      })
  }

  private convenience init(format: String, values: [Any?]) {
    self.init(
      Result { () throws(PredicateTreeError) in try ExpressionTree(format: format, arguments: values) })
  }

  /// A constant: a number, text, date, UUID, URL, data, object, nil, or a collection of these.
  public convenience init(forConstantValue value: Any?) {
    guard let constant = PredicateConstant(value) else {
      self.init(.failure(Self.meaningless(value)))
      return
    }
    if case .list = constant {
      self.init(.success(.constant(constant)), .listConstant)
    } else {
      self.init(.constant(constant))
    }
  }

  /// The value of a key path of the evaluated object. The path may have collection operators: `tags.@count`.
  public convenience init(forKeyPath keyPath: String) {
    self.init(Result { () throws(PredicateTreeError) in try Self.path(keyPath, of: .evaluatedObject) })
  }

  /// The value of a stored property. The root type names the key path (``PredicateKeyPathNaming``).
  public convenience init<Root, Value>(forKeyPath keyPath: KeyPath<Root, Value>) {
    self.init(
      Result { () throws(PredicateTreeError) in .keyPath(try PredicateKeyPath.names(of: keyPath)) })
  }

  /// The value of `$name`, which substitution or the context of the evaluation gives.
  public convenience init(forVariable name: String) {
    self.init(.variable(name))
  }

  /// A predefined function by its selector: `sum:`, `modulus:by:`, `now`.
  ///
  /// - Parameters:
  ///   - name: The selector. An unknown one is an error at each use, and the parts can be read.
  ///   - arguments: Expressions, or values as constants.
  public convenience init(forFunction name: String, arguments: [Any]) {
    let arguments = arguments.map(Self.expression)
    self.init(
      Self.trees(arguments).flatMap { ExpressionTree.function(named: name, $0) },
      .function(name, arguments))
  }

  /// A method of an object, which a ``PredicateCallable`` answers in memory. `valueForKeyPath:` on an
  /// expression is a key path of its value.
  public convenience init(forFunction target: TreeExpression, selectorName: String, arguments: [Any]?) {
    if target.result == .success(Self.predefined) {
      self.init(forFunction: selectorName, arguments: arguments ?? [])
      return
    }
    let arguments = (arguments ?? []).map(Self.expression)
    self.init(
      Self.trees([target] + arguments).flatMap { trees in
        if ["valueForKeyPath:", "valueForKey:"].contains(selectorName), trees.count == 2,
          case .constant(.string(let path)) = trees[1]
        {
          return Result { () throws(PredicateTreeError) in try Self.path(path, of: trees[0]) }
        }
        return .success(.call(target: trees[0], selector: selectorName, Array(trees.dropFirst())))
      })
  }

  /// A list of expressions: `{a, 1}`.
  public convenience init(forAggregate subexpressions: [Any]) {
    self.init(Self.trees(subexpressions.map(Self.expression)).map(ExpressionTree.list(of:)))
  }

  /// The members of a collection for which a predicate is true: `SUBQUERY(collection, $variable, predicate)`.
  ///
  /// - Parameters:
  ///   - collection: An expression for the collection.
  ///   - variable: The name of the member in the predicate, without `$`.
  ///   - predicate: A predicate with a tree, so no block.
  public convenience init(
    forSubquery collection: TreeExpression, usingIteratorVariable variable: String, predicate: NSPredicate
  ) {
    self.init(
      collection.result.flatMap { tree in
        Result { () throws(PredicateTreeError) in
          .subquery(collection: tree, variable: variable, where: try predicate.predicateTree())
        }
      })
  }

  /// The members of either collection, in memory only.
  public convenience init(forUnionSet left: TreeExpression, with right: TreeExpression) {
    self.init(Self.trees([left, right]).map { .function(.union, $0) })
  }

  /// The members of both collections, in memory only.
  public convenience init(forIntersectSet left: TreeExpression, with right: TreeExpression) {
    self.init(Self.trees([left, right]).map { .function(.intersect, $0) })
  }

  /// The members of the first collection that the second lacks, in memory only.
  public convenience init(forMinusSet left: TreeExpression, with right: TreeExpression) {
    self.init(Self.trees([left, right]).map { .function(.minus, $0) })
  }

  /// One of two values, depending on a predicate.
  public convenience init(
    forConditional predicate: NSPredicate, trueExpression: TreeExpression, falseExpression: TreeExpression
  ) {
    self.init(
      Self.trees([trueExpression, falseExpression]).flatMap { trees in
        Result { () throws(PredicateTreeError) in
          .conditional(try predicate.predicateTree(), then: trees[0], else: trees[1])
        }
      })
  }

  /// `SELF`: the object that is evaluated.
  public class func expressionForEvaluatedObject() -> TreeExpression { TreeExpression(.evaluatedObject) }

  // MARK: Parts

  /// A part that may be an expression or a plain value.
  private static func expression(_ part: Any) -> TreeExpression {
    part as? TreeExpression ?? TreeExpression(forConstantValue: part)
  }

  private static func trees(
    _ expressions: [TreeExpression]
  ) -> Result<[ExpressionTree], PredicateTreeError> {
    Result { () throws(PredicateTreeError) in
      var trees: [ExpressionTree] = []
      for expression in expressions { trees.append(try expression.result.get()) }
      return trees
    }
  }

  /// A key path as text. It is parsed as the argument of `%K`, so no key is a keyword.
  static func path(_ path: String, of base: ExpressionTree) throws(PredicateTreeError) -> ExpressionTree {
    try PredicateFormatParser.appending(path, to: base)
  }

  private static func meaningless(_ value: Any?) -> PredicateTreeError {
    let type = value.map { String(describing: Swift.type(of: $0)) } ?? "nil"
    return PredicateTreeError(
      .argument, construct: type,
      "a value of type \(type) has no meaning here; pass a number, text, date, UUID, URL or object")
  }
}
