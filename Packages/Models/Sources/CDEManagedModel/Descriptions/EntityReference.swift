@_spi(CDE) public import CDEPredicates

/// An entity as a value in predicates: `entity == %@`. Entities of one name are equal, whichever model they are of.
@_spi(CDE) public struct EntityReference: PredicateObjectReference {
  public let name: String

  public init(name: String) { self.name = name }

  public var predicateDescription: String { name }
}

@_spi(CDE) extension EntityReference: PredicateValueProviding {
  public var predicateReference: PredicateObject? { PredicateObject(self) }

  /// The name of the entity, under the key `name`.
  public func predicateValue(forKey key: String) throws -> PredicateValue {
    guard key == "name" else {
      throw PredicateTreeError(
        .unknownKey, construct: key, "\(key) can't be read from an entity; compare the entity, or its name")
    }
    return .constant(.string(name))
  }
}

extension NSEntityDescription: PredicateObjectConvertible {
  /// What predicates compare: the entity by its name.
  public var predicateObjectReference: any PredicateObjectReference { EntityReference(name: name ?? "") }
}
