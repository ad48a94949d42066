import CDEStore

/// The places of a schema's parts in the file: tables, columns and join tables by name.
///
/// The layout is Core Data's. For a new store all names follow from the schema. For an existing store they
/// are derived with the store's own entity numbers and then checked against the file.
struct PhysicalSchema: Sendable {
  struct Column: Sendable, Hashable {
    enum Source: Sendable, Hashable {
      /// A cell of the declaring entity's property.
      case property(leaf: Int, role: RowLayout.Cell.Role)
      /// The owner's key, for a to-many relationship without an inverse.
      case impliedKey
      case impliedOrder
    }

    var name: String
    var declaration: String
    /// The entity that determines the position in the column order.
    var entity: EntityIndex
    /// The entity and property that the column belongs to.
    var declaringEntity: EntityIndex
    var property: String
    var source: Source
  }

  struct Table: Sendable {
    var name: String
    var root: RootIndex
    var columns: [Column]
  }

  struct PropertyKey: Hashable, Sendable {
    var entity: EntityIndex
    var property: String
  }

  let schema: ResolvedSchema
  /// Indexes of the file's entities: all, or those of a configuration and their ancestors.
  let held: Set<EntityIndex>
  /// For each entity index its `Z_ENT`; below zero for entities that are not in the file.
  let numbers: IndexedArray<EntityIndex, Int64>
  let indexes: [Int64: EntityIndex]
  /// For each root in the file its table.
  var tables: [RootIndex: Table]
  var joinTables: [JoinTable]
  /// For each entity index the column names of its layout's cells.
  private(set) var cellColumns: IndexedArray<EntityIndex, IndexedArray<CellIndex, String>>
  private(set) var impliedColumns: [PropertyKey: ImpliedColumns]
  private(set) var joinSides: [PropertyKey: JoinTable.Side]
  /// Entities with attributes that the store derives, including inherited ones.
  let derivedEntities: Set<EntityIndex>
  /// Derived attributes that neither the store nor a trigger of the file can update.
  var foreign: [ForeignDerivation]
  /// Whether triggers update attributes.
  var hasDerivedColumns: Bool { !derivedEntities.isEmpty }

  struct ImpliedColumns: Sendable {
    var table: String
    var key: String
    var order: String?
  }

  /// - Parameter numbers: `Z_ENT` for each entity of the file.
  init(_ schema: ResolvedSchema, numbers: [EntityIndex: Int64]) {
    self.schema = schema
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
        of: entity, schema: schema, held: held, numbers: self.numbers, implied: implied)
    }
    joinTables = JoinTable.all(of: schema, held: held, numbers: self.numbers)
    cellColumns = []
    impliedColumns = [:]
    joinSides = [:]
    index()
  }

  /// The table of an entity's rows; empty for an entity that is not in the file. No statement may use it.
  func tableName(of entity: EntityIndex) -> String { tableName(of: schema.entities[entity].root) }

  /// The table of a tree's rows; empty for a tree that is not in the file.
  func tableName(of root: RootIndex) -> String { tables[root]?.name ?? "" }

  /// Core Data's numbers for a new store: the file's entities, in order.
  static func newNumbers(of entities: Set<EntityIndex>) -> [EntityIndex: Int64] {
    Dictionary(uniqueKeysWithValues: entities.sorted().enumerated().map { ($1, Int64($0 + 1)) })
  }

  /// Rebuilds the look-up tables after tables or join tables changed.
  mutating func index() {
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
    for table in joinTables {
      joinSides[table.naming] = JoinTable.Side(
        table: table.name, owner: table.first, member: table.second, order: table.secondOrder,
        isReflexive: table.isReflexive)
      if !table.isReflexive {
        joinSides[table.other] = JoinTable.Side(
          table: table.name, owner: table.second, member: table.first, order: table.firstOrder,
          isReflexive: false)
      }
    }
  }

  /// The columns of a property of `entity`, by role. A composite has one for each leaf.
  func columns(of name: String, in entity: EntityIndex) -> [String]? {
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

/// A quoted identifier. Names come from models and files, so they may contain any character.
func quoted(_ name: String) -> String {
  // Very few names contain a quote, and each query quotes its names.
  guard name.utf8.contains(UInt8(ascii: "\"")) else { return "\"\(name)\"" }
  return "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
}

/// An identifier in Core Data's form: without quotes if possible.
func bare(_ name: String) -> String {
  let isPlain =
    !name.isEmpty
    && name.utf8.allSatisfy {
      ($0 >= 0x30 && $0 <= 0x39) || ($0 >= 0x41 && $0 <= 0x5A) || ($0 >= 0x61 && $0 <= 0x7A)
        || $0 == 0x5F
    }
  return isPlain && name.first.map { !$0.isNumber } == true ? name : quoted(name)
}
