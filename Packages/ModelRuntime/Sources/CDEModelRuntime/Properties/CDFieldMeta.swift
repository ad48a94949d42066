/// The kind of a model's field.
public enum CDFieldKind: Equatable, Sendable {
  /// An attribute, or one field of a composition.
  case attribute
  /// A relationship, or a field of its destination.
  case relationship
  /// A whole composition.
  case composition
}

/// The facts about one field of a model: its names in code and in the store, and the operations that it
/// supports.
public struct CDFieldMeta: Equatable, Sendable {
  /// The kind of the field: an attribute, a relationship or a composition.
  public let kind: CDFieldKind
  /// The names in code.
  public let swiftPath: [String]
  /// The names in the store and in predicates.
  public let persistentPath: [String]
  /// How the field's value is stored; `.default` for relationships.
  public let storageMethod: StorageMethod
  /// Whether a store can sort by the field.
  public let supportsStoreSort: Bool
  /// Whether the field is a to-many relationship, or a field of its destination.
  public let isToManyRelationship: Bool

  /// Makes an entry of a field table; see the properties. Called by expansions of the macros.
  public init(
    kind: CDFieldKind, swiftPath: [String], persistentPath: [String], storageMethod: StorageMethod,
    supportsStoreSort: Bool, isToManyRelationship: Bool = false
  ) {
    self.kind = kind
    self.swiftPath = swiftPath
    self.persistentPath = persistentPath
    self.storageMethod = storageMethod
    self.supportsStoreSort = supportsStoreSort
    self.isToManyRelationship = isToManyRelationship
  }

  /// The same field, reached through a relationship.
  func behind(_ swiftPrefix: [String], _ persistentPrefix: [String], isToMany: Bool) -> CDFieldMeta {
    CDFieldMeta(
      kind: .relationship, swiftPath: swiftPrefix + swiftPath,
      persistentPath: persistentPrefix + persistentPath, storageMethod: storageMethod,
      supportsStoreSort: supportsStoreSort && !isToMany, isToManyRelationship: isToMany)
  }
}
