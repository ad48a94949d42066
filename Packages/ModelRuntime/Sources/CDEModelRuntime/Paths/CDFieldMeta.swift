/// What a field of a model is.
public enum CDFieldKind: Equatable, Sendable {
  /// An attribute, or one field of a composition.
  case attribute
  /// A relationship, or a field behind one.
  case relationship
  /// A composition as a whole.
  case composition
}

/// What is known about one field of a model: its names on both sides, and what may be done with it.
public struct CDFieldMeta: Equatable, Sendable {
  /// What the field is: an attribute, a relationship or a composition.
  public let kind: CDFieldKind
  /// Names as the code spells them.
  public let swiftPath: [String]
  /// Names as the store and predicates have them.
  public let persistentPath: [String]
  /// How the field's value is kept in the store; `.default` for relationships.
  public let storageMethod: StorageMethod
  /// Whether a store can sort by the field.
  public let supportsStoreSort: Bool
  /// Whether the field is a to-many relationship or lies behind one.
  public let isToManyRelationship: Bool

  /// Makes an entry of a field table; see the properties. Expansions of the macros call it.
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

  /// The same field as it looks from the other side of a relationship.
  func behind(_ swiftPrefix: [String], _ persistentPrefix: [String], isToMany: Bool) -> CDFieldMeta {
    CDFieldMeta(
      kind: .relationship, swiftPath: swiftPrefix + swiftPath,
      persistentPath: persistentPrefix + persistentPath, storageMethod: storageMethod,
      supportsStoreSort: supportsStoreSort && !isToMany, isToManyRelationship: isToMany)
  }
}
