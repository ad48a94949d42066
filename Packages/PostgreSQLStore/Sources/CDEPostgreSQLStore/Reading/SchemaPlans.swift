#if PostgreSQL
  @_spi(CDE) internal import CDESQL
  @_spi(CDE) internal import CDEStore

  /// The statements of a schema's entities, made once for a store.
  final class SchemaPlans: Sendable {
    let physical: PhysicalSchema
    /// For each entity index the rows of it and its sub-entities.
    let selects: IndexedArray<EntityIndex, RowPlan>
    /// For each entity index the rows of the entity alone.
    private let ownSelects: IndexedArray<EntityIndex, RowPlan>
    /// For each entity index the statement that finds rows by keys. Its parameter is an array.
    private let rowStatements: IndexedArray<EntityIndex, String>
    /// The same for one key. The server plans a statement over an array at each run, which takes as long as running it.
    private let singleRowStatements: IndexedArray<EntityIndex, String>
    /// What errors of these statements begin with.
    private let rowTasks: IndexedArray<EntityIndex, String>
    /// The properties of entities in the history's terms.
    let history: IndexedArray<EntityIndex, HistoryEntity>
    /// The columns that refer to a tree's rows.
    let references: IndexedArray<RootIndex, [ReferenceLookUp]>
    /// For each entity, the cells that refer to rows.
    let referenceCells: IndexedArray<EntityIndex, [ReferenceCell]>

    /// Statements over arrays get so many elements at once. More save no time, and cost memory on both sides.
    static let blockSize = 5000

    var schema: ResolvedSchema { physical.schema }

    init(_ physical: PhysicalSchema) {
      self.physical = physical
      let selects = physical.schema.entities.mapped {
        RowPlan(entity: $0.index, includesSubentities: true, physical: physical)
      }
      self.selects = selects
      ownSelects = physical.schema.entities.mapped { entity in
        entity.hasSubentities
          ? RowPlan(entity: entity.index, includesSubentities: false, physical: physical)
          : selects[entity.index]
      }
      rowStatements = physical.schema.entities.mapped { entity in
        let types = entity.isRoot ? "" : " AND " + Self.entityCondition(entity, physical)
        return
          "SELECT \(selects[entity.index].columnList) FROM \(quoted(physical.tableName(of: entity.index))) AS t0 "
          + "WHERE t0.\"Z_PK\" = ANY($1)\(types) ORDER BY t0.\"Z_PK\""
      }
      singleRowStatements = physical.schema.entities.mapped { entity in
        let types = entity.isRoot ? "" : " AND " + Self.entityCondition(entity, physical)
        return
          "SELECT \(selects[entity.index].columnList) FROM \(quoted(physical.tableName(of: entity.index))) AS t0 "
          + "WHERE t0.\"Z_PK\" = $1\(types)"
      }
      rowTasks = physical.schema.entities.mapped { "Reading rows of \($0.source.name)" }
      history = physical.schema.entities.mapped { HistoryEntity($0, physical) }
      references = ReferenceColumn.all(physical).mapped { $0.map(ReferenceLookUp.init) }
      referenceCells = ReferenceCell.all(physical.schema)
    }

    func plan(_ entity: EntityIndex, includesSubentities: Bool) -> RowPlan {
      includesSubentities ? selects[entity] : ownSelects[entity]
    }

    /// The condition that a row `t0` is of an entity or of one that inherits from it.
    func entityCondition(_ entity: ResolvedSchema.Entity) -> String { Self.entityCondition(entity, physical) }

    private static func entityCondition(_ entity: ResolvedSchema.Entity, _ physical: PhysicalSchema) -> String
    {
      "t0.\"Z_ENT\" IN (\(entity.subtree.map { "\(physical.numbers[$0])" }.joined(separator: ", ")))"
    }

    /// The rows with keys in the tree of an entity, in the order of their keys.
    ///
    /// - Parameter asOf: the number of the last commit before the read.
    func rows(
      entity: EntityIndex, keys: [Int64], on connection: Connection, asOf: UInt64
    ) throws(StoreError) -> FetchedRows {
      try checkEntity(entity)
      var collector = RowCollector(selects[entity], asOf: asOf)
      let isAscending = zip(keys, keys.dropFirst()).allSatisfy { $0 < $1 }
      for block in Blocks(isAscending ? keys : Array(Set(keys)).sorted(), size: Self.blockSize) {
        var parameters = Parameters()
        let isSingle = block.count == 1
        if isSingle { parameters.append(block.first!) } else { parameters.append(block) }
        let rows = try connection.run(
          isSingle ? singleRowStatements[entity] : rowStatements[entity], parameters,
          while: rowTasks[entity])
        try collector.append(rows)
      }
      return collector.finish()
    }

    func checkEntity(_ entity: EntityIndex) throws(StoreError) { try physical.checkEntity(entity) }
  }

  /// An array in parts of a greatest size.
  struct Blocks<Element>: Sequence, IteratorProtocol {
    private var rest: ArraySlice<Element>
    private let size: Int

    init(_ elements: [Element], size: Int) {
      rest = elements[...]
      self.size = size
    }

    mutating func next() -> ArraySlice<Element>? {
      if rest.isEmpty { return nil }
      defer { rest = rest.dropFirst(size) }
      return rest.prefix(size)
    }
  }
#endif
