/// The schema of a store, as values: what a model tells the store layer.
///
/// Entities name each other; ``ResolvedSchema`` checks the names and numbers everything.
public struct StoreSchema: Hashable, Sendable {
  /// The entities, in any order.
  public var entities: [StoreEntity]
  /// Names of the model's version, kept in the store's metadata.
  public var versionIdentifiers: [String]

  /// Makes a schema of entities. Nothing is checked before ``ResolvedSchema`` does.
  public init(entities: [StoreEntity], versionIdentifiers: [String] = []) {
    self.entities = entities
    self.versionIdentifiers = versionIdentifiers
  }
}

/// An entity: its own attributes and relationships; inherited ones belong to the parent.
public struct StoreEntity: Hashable, Sendable {
  /// The entity's name, unique in the schema. The table of a root entity is named after it.
  public var name: String
  /// The name of the entity that this one inherits from; `nil` for a root.
  public var parent: String?
  /// Whether the entity has no rows of its own, only sub-entities.
  public var isAbstract: Bool
  /// The attributes that the entity declares itself.
  public var attributes: [StoreAttribute]
  /// The relationships that the entity declares itself.
  public var relationships: [StoreRelationship]
  /// Each constraint lists the names of properties that must be unique together.
  public var uniquenessConstraints: [[String]]
  /// The indexes that the entity declares itself.
  public var indexes: [StoreIndex]
  /// Core Data's 32-byte version hash; empty when the schema was made without a model.
  public var versionHash: [UInt8]

  /// Makes an entity; see the properties.
  public init(
    name: String, parent: String? = nil, isAbstract: Bool = false,
    attributes: [StoreAttribute] = [], relationships: [StoreRelationship] = [],
    uniquenessConstraints: [[String]] = [], indexes: [StoreIndex] = [], versionHash: [UInt8] = []
  ) {
    self.name = name
    self.parent = parent
    self.isAbstract = isAbstract
    self.attributes = attributes
    self.relationships = relationships
    self.uniquenessConstraints = uniquenessConstraints
    self.indexes = indexes
    self.versionHash = versionHash
  }
}

/// What an attribute holds. The cases are Core Data's attribute types.
public enum StoreAttributeType: String, Hashable, Sendable, CaseIterable {
  case undefined, integer16, integer32, integer64, decimal, double, float, string, boolean, date
  case binary, uuid, uri, transformable, objectID, composite
}

/// An attribute of an entity, or one element of a composite attribute.
public struct StoreAttribute: Hashable, Sendable {
  /// The attribute's name, unique among the properties of the entity.
  public var name: String
  /// What the attribute holds.
  public var type: StoreAttributeType
  /// Whether the attribute may be nil. The object layer validates it; the store checks only what a batch computes.
  public var isOptional: Bool
  /// Transient attributes have a slot but no column.
  public var isTransient: Bool
  /// Large values may be kept in files beside the store.
  public var allowsExternalStorage: Bool
  /// Whether the history keeps the value of a deleted row. Part of the model; this engine writes no history.
  public var preservesValueOnDeletion: Bool
  /// The leaves of a composite, in declared order; empty otherwise.
  public var elements: [StoreAttribute]
  /// What the value follows from; `nil` for an attribute that holds what it was given.
  public var derivation: StoreDerivation?

  /// Makes an attribute; see the properties.
  public init(
    name: String, type: StoreAttributeType, isOptional: Bool = true, isTransient: Bool = false,
    allowsExternalStorage: Bool = false, preservesValueOnDeletion: Bool = false,
    elements: [StoreAttribute] = [], derivation: StoreDerivation? = nil
  ) {
    self.name = name
    self.type = type
    self.isOptional = isOptional
    self.isTransient = isTransient
    self.allowsExternalStorage = allowsExternalStorage
    self.preservesValueOnDeletion = preservesValueOnDeletion
    self.elements = elements
    self.derivation = derivation
  }
}

/// What the value of a derived attribute follows from.
///
/// The maker of a row fills in a value that follows from the row itself or from the time. A value that depends on
/// other rows is kept by the store, which alone has all of them.
public enum StoreDerivation: Hashable, Sendable {
  /// The moment at which the row was last written.
  case now
  /// Another attribute of the row, its case and diacritics folded.
  case canonical(String)
  case lowercase(String)
  case uppercase(String)
  /// An attribute of the object that a to-one relationship leads to.
  case copy(relationship: String, attribute: String)
  /// The number of objects in a to-many relationship.
  case count(relationship: String)
  /// The sum of an attribute over a to-many relationship; 0 without objects.
  case sum(relationship: String, attribute: String)

  /// Whether the value depends on other rows, so that the store keeps it.
  public var isKeptByStore: Bool {
    switch self {
    case .now, .canonical, .lowercase, .uppercase: false
    case .copy, .count, .sum: true
    }
  }
}

/// A relationship between the rows of two entities.
public struct StoreRelationship: Hashable, Sendable {
  /// The relationship's name, unique among the properties of the entity.
  public var name: String
  /// The name of the entity that the relationship leads to.
  public var destination: String
  /// Name of the relationship of `destination` that points back; `nil` for a one-way relationship.
  public var inverse: String?
  /// Whether the relationship leads to any number of rows instead of at most one.
  public var isToMany: Bool
  /// Whether the rows of a to-many relationship have an order that the store keeps.
  public var isOrdered: Bool
  /// Whether the relationship is not stored. A transient one has a slot and neither column nor table.
  public var isTransient: Bool
  /// Whether the relationship may be empty. The object layer validates it, batch deletions in the store do.
  public var isOptional: Bool

  /// Makes a relationship; see the properties.
  public init(
    name: String, destination: String, inverse: String?, isToMany: Bool, isOrdered: Bool = false,
    isTransient: Bool = false, isOptional: Bool = true
  ) {
    self.name = name
    self.destination = destination
    self.inverse = inverse
    self.isToMany = isToMany
    self.isOrdered = isOrdered
    self.isTransient = isTransient
    self.isOptional = isOptional
  }
}

/// A fetch index over an entity's properties.
public struct StoreIndex: Hashable, Sendable {
  /// One property of an index.
  public struct Element: Hashable, Sendable {
    /// The property's name; a leaf of a composite is named by a path with dots.
    public var property: String
    /// Whether the index sorts lower values first.
    public var isAscending: Bool
    /// A spatial (R-tree) element instead of a binary one.
    public var isSpatial: Bool

    /// Makes an element; see the properties.
    public init(property: String, isAscending: Bool = true, isSpatial: Bool = false) {
      self.property = property
      self.isAscending = isAscending
      self.isSpatial = isSpatial
    }
  }

  /// Which of Core Data's ways to declare an index this is: they name and define it differently.
  public enum Kind: String, Hashable, Sendable {
    /// A named fetch index (`Z_<Entity>_<name>`).
    case fetchIndex
    /// The older "indexed" flag of one attribute (`<TABLE>_<COLUMN>_INDEX`).
    case indexedAttribute
    /// The older list of compound indexes (`Z_<Entity>_<a>_<b>`).
    case compound
  }

  /// The index's name, part of its name in the file.
  public var name: String
  /// How the index was declared.
  public var kind: Kind
  /// The properties of the index, the most significant first.
  public var elements: [Element]
  /// Names of properties that must not be nil for a row to be indexed; empty for a full index.
  public var partialNotNil: [String]

  /// Makes an index; see the properties.
  public init(
    name: String, kind: Kind = .fetchIndex, elements: [Element], partialNotNil: [String] = []
  ) {
    self.name = name
    self.kind = kind
    self.elements = elements
    self.partialNotNil = partialNotNil
  }
}
