/// A property of an entity in a ``Schema``: an attribute or a relationship.
public protocol SchemaProperty: Codable, Hashable {
  /// The name of the class's property.
  var name: String { get }
  /// The name in the schema's earlier version, for migrations; the same name if it was not renamed.
  var originalName: String { get }
  /// The type of the class's property.
  var valueType: any Any.Type { get }
  /// Whether the property has a value, and no models.
  var isAttribute: Bool { get }
  /// Whether the property has models.
  var isRelationship: Bool { get }
  /// Whether stores leave the property out.
  var isTransient: Bool { get }
  /// Whether the property may be nil.
  var isOptional: Bool { get }
  /// Whether two models of the entity can't have the same value.
  var isUnique: Bool { get }
}

extension SchemaProperty {
  func isSame(as other: any SchemaProperty) -> Bool { AnyHashable(self) == AnyHashable(other) }
}
