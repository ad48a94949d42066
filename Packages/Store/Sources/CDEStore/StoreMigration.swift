/// What becomes of the entities and properties of a store when it is migrated to another schema, by name.
///
/// The object layer compares two versions of a model and makes this value. An engine carries it out. Entities without a place here are
/// new, or are removed with their rows.
public struct StoreMigration: Hashable, Sendable {
  /// Where the value of a property comes from.
  public struct Property: Hashable, Sendable {
    /// The property of the old entity; `nil` for a new one.
    public var source: String?
    /// The value of each leaf of an attribute where the old row has none: of a new attribute, and of one that must have a value.
    /// Empty for a relationship.
    public var defaults: [StoreValue]
    /// Of a composite attribute the leaves that have values of old ones: the names on the way to a leaf, and those on the way to the
    /// old one. If empty, leaves of the same names are the same.
    public var elements: [[String]: [String]]

    /// Makes a property; see the properties.
    public init(source: String?, defaults: [StoreValue] = [], elements: [[String]: [String]] = [:]) {
      self.source = source
      self.defaults = defaults
      self.elements = elements
    }
  }

  /// An old entity and what it becomes.
  public struct Entity: Hashable, Sendable {
    /// The entity in the old schema.
    public var source: String
    /// The entity in the new schema.
    public var destination: String
    /// All stored properties of the new entity by name, inherited ones included.
    public var properties: [String: Property]

    /// Makes an entity; see the properties.
    public init(source: String, destination: String, properties: [String: Property]) {
      self.source = source
      self.destination = destination
      self.properties = properties
    }
  }

  /// The entities that stay, perhaps under another name. Each old and each new entity occurs at most once.
  public var entities: [Entity]

  /// Makes a migration of entities.
  public init(entities: [Entity]) { self.entities = entities }
}

/// A reason why the rows of a store can't be migrated. Nothing was changed.
public struct MigrationObstacle: Hashable, Sendable, CustomStringConvertible {
  /// The kinds of reasons.
  public enum Kind: String, Hashable, Sendable {
    /// Rows have no value for an attribute that must have one and has no default.
    case missingValues
    /// Rows have numbers that the attribute's new type has no place for: whole numbers beyond its range, infinite ones.
    case unfitValues
    /// Rows have the same values of a new uniqueness constraint.
    case duplicateValues
    /// Rows have several objects in a relationship that becomes to-one.
    case severalObjects
    /// Rows have fewer objects in a relationship than it must have now: none where one is required, or fewer than the least
    /// number of members.
    case missingObjects
    /// Rows have more members in a to-many relationship than it may have now.
    case surplusObjects
    /// Rows belong to an entity that becomes abstract.
    case abstractObjects
    /// Rows of a table of several entities belong to none of them, by their number. Fetches do not find them, and a new table
    /// would not have them.
    case unknownEntities
  }

  /// The kind of reason.
  public var kind: Kind
  /// The entity in the new schema; for unknown entities the root of the old one.
  public var entity: String
  /// The properties in the new schema; empty where whole objects are concerned.
  public var properties: [String]
  /// The number of rows concerned; for duplicates the number of values that several rows share.
  public var count: Int

  /// Makes an obstacle; see the properties.
  public init(_ kind: Kind, entity: String, properties: [String], count: Int) {
    self.kind = kind
    self.entity = entity
    self.properties = properties
    self.count = count
  }

  /// The reason and the remedy in sentences. Contains no values of rows.
  public var description: String {
    let names = properties.map { "\(entity).\($0)" }.joined(separator: ", ")
    let objects = count == 1 ? "1 object" : "\(count) objects"
    switch kind {
    case .missingValues:
      return
        "\(names) must have a value now, and \(objects) of the store \(count == 1 ? "has" : "have") none. Give the "
        + "attribute a default value, make it optional, or set the values with the old model first."
    case .unfitValues:
      return
        "\(names) has a type now that has no place for the \(count == 1 ? "number" : "numbers") of \(objects) of the store. "
        + "Set other values with the old model first, choose a type that has them, or give the attribute a new name, a renaming "
        + "identifier of its own and its values in a migration step."
    case .duplicateValues:
      return
        "\(names) must be unique now, and \(count == 1 ? "1 value is" : "\(count) values are") shared by several "
        + "objects of the store. Make the values different with the old model first, or leave the constraint out."
    case .severalObjects:
      return
        "\(names) leads to one object now, and \(objects) of the store \(count == 1 ? "has" : "have") several there. "
        + "Keep the relationship to-many, or remove the surplus with the old model first."
    case .missingObjects:
      return
        "\(names) must lead to more objects now than \(objects) of the store \(count == 1 ? "has" : "have") there. Relate the objects "
        + "with the old model or in a migration step, make the relationship optional, or lower its minimum count."
    case .surplusObjects:
      return
        "\(names) may lead to fewer objects now than \(objects) of the store \(count == 1 ? "has" : "have") there. Remove the surplus "
        + "with the old model or in a migration step, or raise the maximum count of the relationship."
    case .abstractObjects:
      return
        "\(entity) is abstract now, and the store has \(objects) of it. Keep the entity concrete, or delete the objects "
        + "with the old model first."
    case .unknownEntities:
      return
        "The table of \(entity) has \(count == 1 ? "1 row" : "\(count) rows") whose Z_ENT is the number of no entity in it, which "
        + "would be lost. Set Z_ENT to a number in Z_PRIMARYKEY, or delete the rows, with sqlite3, or psql on a server."
    }
  }
}

/// Numbers that a migration rounds, because their attribute has another type in the new schema.
public struct MigrationRounding: Hashable, Sendable, CustomStringConvertible {
  /// The entity in the new schema.
  public var entity: String
  /// The attribute in the new schema; an element of a composite by its path.
  public var attribute: String
  /// The number of objects whose value becomes another number: with fewer digits, or without a fraction.
  public var count: Int

  /// Makes a note; see the properties.
  public init(entity: String, attribute: String, count: Int) {
    self.entity = entity
    self.attribute = attribute
    self.count = count
  }

  /// The attribute and the number of objects. Contains no values of rows.
  public var description: String {
    "\(entity).\(attribute) (\(count == 1 ? "1 object" : "\(count) objects"))"
  }
}

/// What a migration would do to the rows of a store. Nothing was changed to find it out.
public struct MigrationSurvey: Hashable, Sendable {
  /// The number of rows of each old entity by name, without those of its sub-entities.
  public var rows: [String: Int]
  /// The reasons why the migration would fail.
  public var obstacles: [MigrationObstacle]
  /// The tables that would be written anew, by their new names. Other tables stay as they are.
  public var rewrittenTables: [String]
  /// What is added to the keys of the rows of old entities by name, where that is not 0.
  public var keyOffsets: [String: Int64]
  /// The size of the store's file in bytes, without its log and without values in files of their own.
  public var fileBytes: Int
  /// The bytes that the tables that are written anew or removed take now, with their indexes. Where they can't be measured, the
  /// size of the file.
  public var rewrittenBytes: Int
  /// The attributes with another type in which some of their numbers are rounded.
  public var roundings: [MigrationRounding] = []

  /// Makes a survey; see the properties.
  public init(
    rows: [String: Int], obstacles: [MigrationObstacle], rewrittenTables: [String],
    keyOffsets: [String: Int64] = [:], fileBytes: Int, rewrittenBytes: Int
  ) {
    self.rows = rows
    self.fileBytes = fileBytes
    self.rewrittenBytes = rewrittenBytes
    self.obstacles = obstacles
    self.rewrittenTables = rewrittenTables
    self.keyOffsets = keyOffsets
  }
}
