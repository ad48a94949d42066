@_spi(CDE) internal import CDEExecutors

/// A value that holds several models: the value of a to-many relationship.
nonisolated public protocol RelationshipCollection {
  /// The class of the models.
  associatedtype PersistentElement: PersistentModel
}

extension Array: RelationshipCollection where Element: PersistentModel {
  public typealias PersistentElement = Element
}

extension Optional: RelationshipCollection where Wrapped: RelationshipCollection & Sequence {
  public typealias PersistentElement = Wrapped.PersistentElement
}

extension RelationshipCollection {
  /// The collection of an object's relationship.
  static func read(_ ordinal: Int, of object: _ModelObject) -> Self {
    let models = object.many(ordinal, as: PersistentElement.self)
    guard let value = models as? Self else {
      failPrecondition(
        "\(Self.self) can't be read of a relationship. Declare the property as [\(PersistentElement.self)] or an optional of it."
      )
    }
    return value
  }

  /// The objects of the collection's models.
  var objects: [_ModelObject] {
    // An optional collection without a value holds none.
    ((self as? [PersistentElement]) ?? []).map(\._$object)
  }
}
