public import CDEStore

/// The places of a schema's parts in a database: tables, columns and join tables by name.
///
/// The layout is Core Data's. For a new store all names follow from the schema. For an existing store they
/// are derived with the store's own entity numbers and then checked against the database.
///
@_spi(CDE) public struct PhysicalSchema: Sendable {
  /// A column of a table, except those for key, entity and version.
  public struct Column: Sendable, Hashable {
    /// What a column is for.
    public enum Source: Sendable, Hashable {
      /// A cell of the declaring entity's property.
      case property(leaf: Int, role: RowLayout.Cell.Role)
      /// The owner's key, for a to-many relationship without an inverse.
      case impliedKey
      /// The position in the owner's order, for such a relationship.
      case impliedOrder
    }

    /// The column's name, unquoted.
    public var name: String
    /// The type of an attribute's values; nil for keys, entity numbers and positions, which are integers of 64 bits.
    public var type: StoreAttributeType?
    /// The entity that determines the position in the column order.
    public var entity: EntityIndex
    /// The entity that declares the property.
    public var declaringEntity: EntityIndex
    /// The property that the column belongs to.
    public var property: String
    /// What the column is for.
    public var source: Source
  }

  /// The table of an inheritance tree.
  public struct Table: Sendable {
    /// The table's name, unquoted.
    public var name: String
    /// The root of the tree.
    public var root: RootIndex
    /// The columns in their order, without those for key, entity and version.
    public var columns: [Column]
  }

  /// The columns that every table of rows has, as statements write them.
  public struct FixedColumns: Sendable {
    /// The row's key.
    public let key: String
    /// The number of the row's entity.
    public let entity: String
    /// The row's version.
    public let version: String

    /// Without quotes, as in Core Data's statements.
    public static let bare = FixedColumns(key: "Z_PK", entity: "Z_ENT", version: "Z_OPT")
    /// In quotes, for a database that changes the case of other names.
    public static let quoted = FixedColumns(key: "\"Z_PK\"", entity: "\"Z_ENT\"", version: "\"Z_OPT\"")
  }

  /// A property by the entity that declares it, and its name.
  public struct PropertyKey: Hashable, Sendable {
    /// The entity that declares the property.
    public var entity: EntityIndex
    /// The property's name.
    public var property: String

    /// Makes a key; see the properties.
    public init(entity: EntityIndex, property: String) {
      self.entity = entity
      self.property = property
    }
  }

  /// The schema whose parts have places.
  public let schema: ResolvedSchema
  /// Indexes of the database's entities: all, or those of a configuration and their ancestors.
  public let held: Set<EntityIndex>
  /// For each entity index its `Z_ENT`; below zero for entities that are not in the database.
  public let numbers: IndexedArray<EntityIndex, Int64>
  /// For each `Z_ENT` its entity.
  public let indexes: [Int64: EntityIndex]
  /// The columns that every table has, as statements write them.
  public let fixed: FixedColumns
  /// The longest name in bytes that the database accepts; nil without a limit.
  public let nameLimit: Int?
  /// For each root in the database its table.
  public var tables: [RootIndex: Table]
  /// The tables of many-to-many relationships.
  public var joinTables: [JoinTable]
  /// For each entity index the column names of its layout's cells.
  public private(set) var cellColumns: IndexedArray<EntityIndex, IndexedArray<CellIndex, String>>
  /// The columns of to-many relationships without an inverse.
  public private(set) var impliedColumns: [PropertyKey: ImpliedColumns]
  /// The sides of join tables, by the relationships that they belong to.
  public private(set) var joinSides: [PropertyKey: JoinTable.Side]
  /// Entities with attributes that the store derives, including inherited ones.
  public let derivedEntities: Set<EntityIndex>
  /// Derived attributes that neither the store nor a trigger of the database can update.
  public var foreign: [ForeignDerivation]
  /// Whether attributes of the store are derived from other rows.
  public var hasDerivedColumns: Bool { !derivedEntities.isEmpty }

  /// The columns of a to-many relationship without an inverse.
  public struct ImpliedColumns: Sendable {
    /// The table of the relationship's members.
    public var table: String
    /// The column with the owner's key.
    public var key: String
    /// The column with the position in the owner's order; nil without an order.
    public var order: String?
  }

  /// Derives the places of a schema's parts. Linear in the size of the schema.
  ///
  /// - Parameters:
  ///   - schema: the schema.
  ///   - numbers: `Z_ENT` for each entity of the database.
  ///   - nameLimit: the longest name in bytes that the database accepts. Longer names are cut, and end in a hash.
  ///   - fixed: how statements write the columns that every table has.
  public init(
    _ schema: ResolvedSchema, numbers: [EntityIndex: Int64], nameLimit: Int? = nil,
    fixed: FixedColumns = .bare
  ) {
    self.schema = schema
    self.nameLimit = nameLimit
    self.fixed = fixed
    held = Set(numbers.keys)
    self.numbers = schema.entities.mapped { numbers[$0.index] ?? -1 - Int64($0.index.rawValue) }
    derivedEntities = Set(
      schema.entities.lazy.filter { entity in
        numbers[entity.index] != nil
          && entity.layout.properties.contains { property in
            if case .attribute(let attribute) = property.kind {
              return attribute.derivation?.isKeptByStore == true
            }
            return false
          }
      }.map(\.index))
    foreign = Self.foreignDerivations(schema, held)
    indexes = Dictionary(numbers.map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    tables = [:]
    let implied = Self.impliedRelationships(of: schema, held: held)
    for entity in schema.entities where entity.isRoot && held.contains(entity.index) {
      tables[entity.root] = Self.table(
        of: entity, schema: schema, held: held, numbers: self.numbers, implied: implied,
        nameLimit: nameLimit)
    }
    joinTables = JoinTable.all(of: schema, held: held, numbers: self.numbers, nameLimit: nameLimit)
    cellColumns = []
    impliedColumns = [:]
    joinSides = [:]
    index()
  }

  /// The table of an entity's rows; empty for an entity that is not in the database. No statement may use it.
  public func tableName(of entity: EntityIndex) -> String { tableName(of: schema.entities[entity].root) }

  /// The table of a tree's rows; empty for a tree that is not in the database.
  public func tableName(of root: RootIndex) -> String { tables[root]?.name ?? "" }

  /// Core Data's numbers for a new store: the store's entities, in order.
  public static func newNumbers(of entities: Set<EntityIndex>) -> [EntityIndex: Int64] {
    Dictionary(uniqueKeysWithValues: entities.sorted().enumerated().map { ($1, Int64($0 + 1)) })
  }

  /// Rebuilds the look-up tables after tables or join tables changed.
  public mutating func index() {
    impliedColumns = [:]
    struct Key: Hashable {
      var entity: EntityIndex
      var property: String
      var source: Column.Source
    }
    var names: [Key: String] = [:]
    for table in tables.values {
      for column in table.columns {
        let property = PropertyKey(entity: column.declaringEntity, property: column.property)
        switch column.source {
        case .property:
          names[
            Key(entity: column.declaringEntity, property: column.property, source: column.source)] =
            column.name
        case .impliedKey:
          let order = impliedColumns[property]?.order
          impliedColumns[property] = ImpliedColumns(table: table.name, key: column.name, order: order)
        case .impliedOrder:
          let key = impliedColumns[property]?.key ?? ""
          impliedColumns[property] = ImpliedColumns(table: table.name, key: key, order: column.name)
        }
      }
    }
    cellColumns = schema.entities.mapped { entity in
      var leaves: [SlotIndex: Int] = [:]
      guard held.contains(entity.index) else { return entity.layout.cells.mapped { _ in "" } }
      return entity.layout.cells.mapped { cell in
        let property = entity.layout.properties[cell.slot]
        var leaf = 0
        if cell.role == .value {
          leaf = leaves[cell.slot, default: 0]
          leaves[cell.slot] = leaf + 1
        }
        return names[
          Key(
            entity: property.declaringEntity, property: property.name,
            source: .property(leaf: leaf, role: cell.role))]!
      }
    }
    joinSides = [:]
    for (number, table) in joinTables.enumerated() {
      joinSides[table.naming] = JoinTable.Side(
        table: table.name, owner: table.first, member: table.second, order: table.secondOrder,
        isReflexive: table.isReflexive, number: 2 * number)
      if !table.isReflexive {
        joinSides[table.other] = JoinTable.Side(
          table: table.name, owner: table.second, member: table.first, order: table.firstOrder,
          isReflexive: false, number: 2 * number + 1)
      }
    }
  }

  /// The columns of a property of `entity`, by role. A composite has one for each leaf.
  public func columns(of name: String, in entity: EntityIndex) -> [String]? {
    let layout = schema.entities[entity].layout
    let path = name.split(separator: ".").map(String.init)
    guard let head = path.first, let property = layout.property(named: head) else { return nil }
    let cells = property.cells.filter {
      layout.cells[$0].role == .value || layout.cells[$0].role == .key
    }
    if path.count == 1 { return cells.map { cellColumns[entity][$0] } }
    guard case .composite(let attribute) = property.kind,
      let range = Self.leafRange(of: Array(path.dropFirst()), in: attribute)
    else { return nil }
    return range.map { cellColumns[entity][cells[$0]] }
  }

  /// The columns of an element of an index: those of a property, or the one of the entity's number.
  ///
  /// - Returns: nil for a name without a column.
  public func indexColumns(of name: String, in entity: EntityIndex) -> [String]? {
    if name == StoreIndex.Element.entity, schema.entities[entity].layout.property(named: name) == nil {
      return ["Z_ENT"]
    }
    return columns(of: name, in: entity).flatMap { $0.isEmpty ? nil : $0 }
  }

  private static func leafRange(of path: [String], in attribute: StoreAttribute) -> Range<Int>? {
    var start = 0
    for element in attribute.elements {
      let count = element.leaves.count
      if element.name == path[0] {
        if path.count == 1 { return start..<(start + count) }
        return leafRange(of: Array(path.dropFirst()), in: element).map {
          ($0.lowerBound + start)..<($0.upperBound + start)
        }
      }
      start += count
    }
    return nil
  }
}
