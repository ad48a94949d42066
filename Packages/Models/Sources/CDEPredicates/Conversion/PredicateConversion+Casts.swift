internal import Foundation

// Casts between the classes of a model. An object is of a class if its entity is one of that class's, so nil is of none.

extension PredicateConversion {
  /// Whether an object is of a class.
  mutating func isKind(
    _ base: ExpressionTree, _ type: Any.Type, _ construct: String
  ) throws(PredicateTreeError) -> PredicateTree {
    let names = try entityNames(of: type, construct)
    return .compare(
      try Self.appending(["entity", "name"], to: base), .in, .constant(.list(names.map { .string($0) })))
  }

  func entityNames(of type: Any.Type, _ construct: String) throws(PredicateTreeError) -> [String] {
    guard let naming else {
      throw Self.unsupported(
        construct,
        "only a fetch knows the classes of its model; give the #Predicate to a FetchDescriptor, or compare the name of the "
          + "entity by NSPredicate(format: \"entity.name == %@\", name)")
    }
    guard let names = naming.entityNames(of: type) else {
      throw Self.unsupported(construct, "\(type) is no class of the model, and casts are between those alone")
    }
    return names
  }

  /// A value that says whether a condition is true: true, or nil.
  static func flag(_ condition: PredicateTree) -> ExpressionTree {
    .conditional(condition, then: .constant(.bool(true)), else: .constant(.null))
  }

  /// Whether a value is not nil.
  static func isPresent(_ base: ExpressionTree) -> PredicateTree {
    if case .conditional(let condition, .constant(.bool(true)), .constant(.null)) = base { return condition }
    return .compare(base, .notEqual, .constant(.null))
  }
}

extension PredicateExpressions.TypeCheck: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws(PredicateTreeError) -> Node {
    .predicate(try conversion.isKind(try conversion.expression(input), Desired.self, "TypeCheck"))
  }
}

extension PredicateExpressions.ConditionalCast: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws(PredicateTreeError) -> Node {
    let base = try conversion.expression(input)
    return .cast(base, try conversion.isKind(base, Desired.self, "ConditionalCast"))
  }
}

extension PredicateExpressions.ForceCast: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws(PredicateTreeError) -> Node {
    // A query can't end the program for an object of another class, which has none of the keys instead.
    let base = try conversion.expression(input)
    _ = try conversion.entityNames(of: Desired.self, "ForceCast")
    return .expression(base)
  }
}
