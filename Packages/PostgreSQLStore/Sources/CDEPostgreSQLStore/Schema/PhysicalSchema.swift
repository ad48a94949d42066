#if PostgreSQL
  internal import CDEStore

  /// The places of a schema's parts in the database: tables, columns and join tables by name.
  ///
  /// The layout is Core Data's, as on SQLite, in the server's types. For a new store all names follow from the schema. For an
  /// existing store they are derived with the store's own entity numbers and then checked against the server's catalogue.
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
      var type: ColumnType
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
    /// For each entity index its `Z_ENT`.
    let numbers: IndexedArray<EntityIndex, Int64>
    let indexes: [Int64: EntityIndex]
    /// For each root its table.
    let tables: [RootIndex: Table]
    let joinTables: [JoinTable]
    /// For each entity index the column names of its layout's cells.
    let cellColumns: IndexedArray<EntityIndex, IndexedArray<CellIndex, String>>
    let impliedColumns: [PropertyKey: ImpliedColumns]
    let joinSides: [PropertyKey: JoinTable.Side]
    struct ImpliedColumns: Sendable {
      var table: String
      var key: String
      var order: String?
    }

    /// - Parameter numbers: `Z_ENT` for each entity.
    init(_ schema: ResolvedSchema, numbers: IndexedArray<EntityIndex, Int64>) {
      self.schema = schema
      self.numbers = numbers
      indexes = Dictionary(
        zip(numbers, numbers.indices).map { ($0, $1) }, uniquingKeysWith: { first, _ in first })
      let implied = Self.impliedRelationships(of: schema)
      var tables: [RootIndex: Table] = [:]
      for entity in schema.entities where entity.isRoot {
        tables[entity.root] = Self.table(of: entity, schema: schema, numbers: numbers, implied: implied)
      }
      self.tables = tables
      joinTables = JoinTable.all(of: schema, numbers: numbers)
      (cellColumns, impliedColumns) = Self.places(of: tables, schema)
      var sides: [PropertyKey: JoinTable.Side] = [:]
      for table in joinTables {
        sides[table.naming] = JoinTable.Side(
          table: table.name, owner: table.first, member: table.second, order: table.secondOrder,
          isReflexive: table.isReflexive)
        if !table.isReflexive {
          sides[table.other] = JoinTable.Side(
            table: table.name, owner: table.second, member: table.first, order: table.firstOrder,
            isReflexive: false)
        }
      }
      joinSides = sides
    }

    /// The table of an entity's rows.
    func tableName(of entity: EntityIndex) -> String { tableName(of: schema.entities[entity].root) }

    /// The table of a tree's rows.
    func tableName(of root: RootIndex) -> String { tables[root]?.name ?? "" }

    /// Core Data's numbers for a new store.
    static func newNumbers(of schema: ResolvedSchema) -> IndexedArray<EntityIndex, Int64> {
      schema.entities.mapped { Int64($0.index.rawValue + 1) }
    }

    private static func places(
      of tables: [RootIndex: Table], _ schema: ResolvedSchema
    ) -> (IndexedArray<EntityIndex, IndexedArray<CellIndex, String>>, [PropertyKey: ImpliedColumns]) {
      struct Key: Hashable {
        var entity: EntityIndex
        var property: String
        var source: Column.Source
      }
      var implied: [PropertyKey: ImpliedColumns] = [:]
      var names: [Key: String] = [:]
      for table in tables.values {
        for column in table.columns {
          let property = PropertyKey(entity: column.declaringEntity, property: column.property)
          switch column.source {
          case .property:
            names[Key(entity: column.declaringEntity, property: column.property, source: column.source)] =
              column.name
          case .impliedKey:
            implied[property] = ImpliedColumns(
              table: table.name, key: column.name, order: implied[property]?.order)
          case .impliedOrder:
            implied[property] = ImpliedColumns(
              table: table.name, key: implied[property]?.key ?? "", order: column.name)
          }
        }
      }
      let cells = schema.entities.mapped { entity in
        var leaves: [SlotIndex: Int] = [:]
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
      return (cells, implied)
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
#endif
