/// The schema of a store, as values: what a model tells the store layer.
///
/// Entities name each other; ``ResolvedSchema`` checks the names and numbers everything.
public struct StoreSchema: Hashable, Sendable {
  public var entities: [StoreEntity]
  /// Names of the model's version, kept in the store's metadata.
  public var versionIdentifiers: [String]

  public init(entities: [StoreEntity], versionIdentifiers: [String] = []) {
    self.entities = entities
    self.versionIdentifiers = versionIdentifiers
  }
}

/// An entity: its own attributes and relationships; inherited ones belong to the parent.
public struct StoreEntity: Hashable, Sendable {
  public var name: String
  public var parent: String?
  public var isAbstract: Bool
  public var attributes: [StoreAttribute]
  public var relationships: [StoreRelationship]
  /// Each constraint lists the names of properties that must be unique together.
  public var uniquenessConstraints: [[String]]
  public var indexes: [StoreIndex]
  /// Core Data's 32-byte version hash; empty when the schema was made without a model.
  public var versionHash: [UInt8]

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

public struct StoreAttribute: Hashable, Sendable {
  public var name: String
  public var type: StoreAttributeType
  public var isOptional: Bool
  /// Transient attributes have a slot but no column.
  public var isTransient: Bool
  /// Large values may be kept in files beside the store.
  public var allowsExternalStorage: Bool
  public var preservesValueOnDeletion: Bool
  /// The leaves of a composite, in declared order; empty otherwise.
  public var elements: [StoreAttribute]
  /// What the value follows from; `nil` for an attribute that holds what it was given.
  public var derivation: StoreDerivation?

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
/// Whoever makes a row fills in what follows from that row or from the time; what depends on other rows the
/// store keeps right by itself, as it is the only one to see them all.
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

public struct StoreRelationship: Hashable, Sendable {
  public var name: String
  public var destination: String
  /// Name of the relationship of `destination` that points back; `nil` for a one-way relationship.
  public var inverse: String?
  public var isToMany: Bool
  public var isOrdered: Bool
  public var isTransient: Bool
  public var isOptional: Bool

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
  public struct Element: Hashable, Sendable {
    public var property: String
    public var isAscending: Bool
    /// A spatial (R-tree) element instead of a binary one.
    public var isSpatial: Bool

    public init(property: String, isAscending: Bool = true, isSpatial: Bool = false) {
      self.property = property
      self.isAscending = isAscending
      self.isSpatial = isSpatial
    }
  }

  public enum Kind: String, Hashable, Sendable {
    /// A named fetch index (`Z_<Entity>_<name>`).
    case fetchIndex
    /// The older "indexed" flag of one attribute (`<TABLE>_<COLUMN>_INDEX`).
    case indexedAttribute
    /// The older list of compound indexes (`Z_<Entity>_<a>_<b>`).
    case compound
  }

  public var name: String
  public var kind: Kind
  public var elements: [Element]
  /// Names of properties that must not be nil for a row to be indexed; empty for a full index.
  public var partialNotNil: [String]

  public init(
    name: String, kind: Kind = .fetchIndex, elements: [Element], partialNotNil: [String] = []
  ) {
    self.name = name
    self.kind = kind
    self.elements = elements
    self.partialNotNil = partialNotNil
  }
}
