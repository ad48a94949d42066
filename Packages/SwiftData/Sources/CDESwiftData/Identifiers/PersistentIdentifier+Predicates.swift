@_spi(CDE) internal import CDEModelRuntime
public import CDEPredicates

/// An identifier in predicates that no context gave, such as one that was decoded.
struct IdentifierReference: RowReferring {
  let identifier: PersistentIdentifier
  var predicateDescription: String { identifier.uri?.absoluteString ?? identifier.entityName }
  var storeIdentifier: String? { identifier.storeIdentifier }
  var entityName: String { identifier.entityName }
  var rowKey: Int64? { identifier.decodedKey }
}

extension PersistentIdentifier: PredicateObjectConvertible {
  /// What predicates compare: the managed object's ID.
  public var predicateObjectReference: any PredicateObjectReference {
    objectID ?? StoreScope.core?.objectID(for: self) ?? IdentifierReference(identifier: self)
  }
}
