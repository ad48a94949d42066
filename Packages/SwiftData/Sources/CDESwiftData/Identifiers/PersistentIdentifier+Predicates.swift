public import CDEPredicates

/// An identifier in predicates that no context gave, such as one that was decoded.
struct IdentifierReference: PredicateObjectReference {
  let identifier: PersistentIdentifier
  var predicateDescription: String { identifier.uri?.absoluteString ?? identifier.entityName }
}

extension PersistentIdentifier: PredicateObjectConvertible {
  /// What predicates compare: the managed object's ID.
  public var predicateObjectReference: any PredicateObjectReference {
    objectID ?? StoreScope.core?.objectID(for: self) ?? IdentifierReference(identifier: self)
  }
}
