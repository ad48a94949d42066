/// Replaces the variables of trees.
///
/// A subquery's own variable hides an outer variable of the same name, so it is never replaced inside the
/// subquery.
struct PredicateSubstitution {
  /// The constant for `$name` (an empty path) or `$name.path`; nil leaves the variable unchanged.
  let lookup: (_ name: String, _ path: [String]) throws(PredicateTreeError) -> PredicateConstant?
  var hidden: Set<String> = []

  func apply(_ tree: PredicateTree) throws(PredicateTreeError) -> PredicateTree {
    try tree.mappingComparisons { comparison throws(PredicateTreeError) in
      var comparison = comparison
      comparison.left = try apply(comparison.left)
      comparison.right = try apply(comparison.right)
      return comparison
    }
  }

  func apply(_ tree: ExpressionTree) throws(PredicateTreeError) -> ExpressionTree {
    switch tree {
    case .constant, .evaluatedObject, .keyPath: return tree
    case .variable(let name): return try constant(name, []) ?? tree
    case .variableKeyPath(let name, let path): return try constant(name, path) ?? tree
    case .projection(let base, let path): return .projection(of: try apply(base), path)
    case .aggregate(let aggregate, let base): return .aggregate(aggregate, of: try apply(base))
    case .subquery(let collection, let variable, let predicate):
      var inner = self
      inner.hidden.insert(variable)
      return .subquery(
        collection: try apply(collection), variable: variable, where: try inner.apply(predicate))
    case .function(let function, let arguments): return .function(function, try arguments.map(apply))
    case .call(let target, let selector, let arguments):
      return .call(target: try apply(target), selector: selector, try arguments.map(apply))
    case .list(let members): return ExpressionTree.list(of: try members.map(apply))
    case .conditional(let condition, let first, let second):
      return .conditional(try apply(condition), then: try apply(first), else: try apply(second))
    }
  }

  private func constant(_ name: String, _ path: [String]) throws(PredicateTreeError) -> ExpressionTree? {
    if hidden.contains(name) { return nil }
    return try lookup(name, path).map { .constant($0) }
  }
}

extension PredicateTree {
  /// The tree in which each `$NAME` with a value in `variables` is replaced, except those that a subquery
  /// binds.
  ///
  /// The key path of `$NAME.key` is read from the value at once. The value may be an object, a dictionary or
  /// a collection of them.
  ///
  /// - Throws: ``PredicateTreeError`` if predicates do not support the kind of a value, or the value lacks
  ///   the key.
  public func substituting(_ variables: [String: Any]) throws(PredicateTreeError) -> PredicateTree {
    if variables.isEmpty { return self }
    let substitution = PredicateSubstitution { name, path throws(PredicateTreeError) in
      guard let value = variables[name] else { return nil }
      return try Self.constant(value, at: path, of: name)
    }
    return try substitution.apply(self)
  }

  private static func constant(
    _ value: Any, at path: [String], of name: String
  ) throws(PredicateTreeError) -> PredicateConstant {
    if path.isEmpty, let constant = PredicateConstant(value) { return constant }
    do {
      if !path.isEmpty, let constant = try PredicateValue(value).value(at: path).constant { return constant }
    } catch let error as PredicateTreeError {
      throw error
    } catch {
      throw PredicateTreeError(
        .unknownKey, construct: "$" + name, "the key path behind $\(name) cannot be read from its value")
    }
    throw PredicateTreeError(
      .argument, construct: "$" + name,
      "a value of type \(type(of: value)) has no meaning here; pass a number, text, date, UUID, URL or object"
    )
  }
}

extension PredicateValue {
  /// The value as a constant of a tree, objects by their references; nil if an object has no reference.
  var constant: PredicateConstant? {
    switch self {
    case .constant(let constant): return constant
    case .object(let object): return object.predicateReference.map { .object($0) }
    case .collection(let members):
      let constants = members.compactMap(\.constant)
      return constants.count == members.count ? .list(constants) : nil
    }
  }
}
