/// The schema of a store, as values that a model provides.
///
/// Entities refer to each other by name. ``ResolvedSchema`` checks the names and numbers the parts.
public struct StoreSchema: Hashable, Sendable {
  /// The entities, in any order.
  public var entities: [StoreEntity]
  /// Names of the model's version, stored in the store's metadata.
  public var versionIdentifiers: [String]

  /// Makes a schema of entities. ``ResolvedSchema`` checks it.
  public init(entities: [StoreEntity], versionIdentifiers: [String] = []) {
    self.entities = entities
    self.versionIdentifiers = versionIdentifiers
  }
}

/// An entity with its own attributes and relationships. Inherited ones belong to the parent.
public struct StoreEntity: Hashable, Sendable {
  /// The entity's name, unique in the schema. The table of a root entity is named after it.
  public var name: String
  /// The name of the entity that this one inherits from; `nil` for a root.
  public var parent: String?
  /// Whether the entity has no rows of its own, only sub-entities.
  public var isAbstract: Bool
  /// The attributes that the entity itself declares.
  public var attributes: [StoreAttribute]
  /// The relationships that the entity itself declares.
  public var relationships: [StoreRelationship]
  /// Each constraint contains the names of properties whose combined values must be unique.
  public var uniquenessConstraints: [[String]]
  /// The indexes that the entity itself declares.
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

/// The type of an attribute's values. The cases are Core Data's attribute types.
public enum StoreAttributeType: String, Hashable, Sendable, CaseIterable {
  case undefined, integer16, integer32, integer64, decimal, double, float, string, boolean, date
  case binary, uuid, uri, transformable, objectID, composite
}

extension StoreAttributeType {
  /// How values of the type are stored in a row's cell.
  public var cellKind: RowLayout.CellKind {
    switch self {
    case .integer16, .integer32, .integer64, .boolean: .integer
    case .double, .float, .date: .real
    case .string, .uri, .decimal, .objectID, .undefined: .text
    case .binary, .uuid, .transformable, .composite: .blob
    }
  }
}

/// An attribute of an entity, or one element of a composite attribute.
public struct StoreAttribute: Hashable, Sendable {
  /// The attribute's name, unique among the properties of the entity.
  public var name: String
  /// The type of the attribute's values.
  public var type: StoreAttributeType
  /// Whether the attribute may be nil. The object layer validates it. The store checks only values computed
  /// by a batch.
  public var isOptional: Bool
  /// Transient attributes have a slot but no column.
  public var isTransient: Bool
  /// Whether large values may be stored in files outside the database.
  public var allowsExternalStorage: Bool
  /// Whether the history contains the value of a deleted row.
  public var preservesValueOnDeletion: Bool
  /// The leaves of a composite, in declared order; empty otherwise.
  public var elements: [StoreAttribute]
  /// The derivation of the value; `nil` for an attribute that is not derived.
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

/// The derivation of a derived attribute.
///
/// The code that makes a row computes a value that depends only on the row itself or the time. The store
/// computes a value that depends on other rows, because only the store has all rows.
public enum StoreDerivation: Hashable, Sendable {
  /// The time at which the row was last written.
  case now
  /// Another attribute of the row, as it is.
  case attribute(String)
  /// Another attribute of the row, with case and diacritics folded.
  case canonical(String)
  case lowercase(String)
  case uppercase(String)
  /// An attribute of the object that a to-one relationship leads to.
  case copy(relationship: String, attribute: String)
  /// The number of objects in a to-many relationship.
  case count(relationship: String)
  /// The sum of an attribute over a to-many relationship; 0 without objects.
  case sum(relationship: String, attribute: String)
  /// An expression that only the program understands that made the store; empty if not even its text is known. Rows with such an
  /// attribute are read. A write is refused if it may change the value and no trigger of the store's file does that.
  case foreign(String)

  /// Whether the value depends on other rows, so that the store computes it.
  public var isKeptByStore: Bool {
    switch self {
    case .now, .attribute, .canonical, .lowercase, .uppercase: false
    case .copy, .count, .sum, .foreign: true
    }
  }
}

/// A relationship between the rows of two entities.
public struct StoreRelationship: Hashable, Sendable {
  /// The relationship's name, unique among the properties of the entity.
  public var name: String
  /// The name of the entity that the relationship leads to.
  public var destination: String
  /// Name of the relationship of `destination` that refers back; `nil` for a one-way relationship.
  public var inverse: String?
  /// Whether the relationship leads to any number of rows. Otherwise it leads to at most one.
  public var isToMany: Bool
  /// Whether the rows of a to-many relationship have a stored order.
  public var isOrdered: Bool
  /// Whether the relationship is not stored. A transient relationship has a slot, but neither column nor
  /// table.
  public var isTransient: Bool
  /// Whether the relationship may be empty. The object layer validates it. The store checks it in batch
  /// deletions.
  public var isOptional: Bool
  /// The least number of members of a to-many relationship; 0 for none. The object layer validates it, and a migration checks it.
  public var minCount: Int
  /// The greatest number of members of a to-many relationship; 0 for none. The object layer validates it, and a migration checks
  /// it.
  public var maxCount: Int

  /// Makes a relationship; see the properties.
  public init(
    name: String, destination: String, inverse: String?, isToMany: Bool, isOrdered: Bool = false,
    isTransient: Bool = false, isOptional: Bool = true, minCount: Int = 0, maxCount: Int = 0
  ) {
    self.name = name
    self.destination = destination
    self.inverse = inverse
    self.isToMany = isToMany
    self.isOrdered = isOrdered
    self.isTransient = isTransient
    self.isOptional = isOptional
    self.minCount = minCount
    self.maxCount = maxCount
  }
}

/// A fetch index over an entity's properties.
public struct StoreIndex: Hashable, Sendable {
  /// One property of an index.
  public struct Element: Hashable, Sendable {
    /// The name that stands for the entity of a row, where the entity has no property of this name.
    public static let entity = "entity"

    /// The property's name, or ``entity``. A path with dots names a leaf of a composite.
    public var property: String
    /// Whether the index sorts lower values first.
    public var isAscending: Bool
    /// Whether the element is spatial (R-tree) and not binary.
    public var isSpatial: Bool

    /// Makes an element; see the properties.
    public init(property: String, isAscending: Bool = true, isSpatial: Bool = false) {
      self.property = property
      self.isAscending = isAscending
      self.isSpatial = isSpatial
    }
  }

  /// The way in which Core Data declares the index. Names and definitions differ.
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
  /// The properties of the index, the most significant one first.
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
