@_spi(CDE) import CDESQL
import CDEStore

/// Facts computed once for each entity when a store opens: how to select, insert and clean up its rows.
///
/// Readers and writers get the plans and a connection. They do not refer to the store.
final class SchemaPlans: Sendable {
  let physical: PhysicalSchema
  let selects: IndexedArray<EntityIndex, SelectPlan>
  let ownSelects: IndexedArray<EntityIndex, SelectPlan>
  let pointSelects: IndexedArray<EntityIndex, String>
  /// The same for a list of keys, and for a ``RowLookUp``.
  let listSelects: IndexedArray<EntityIndex, String>
  let lookUps: IndexedArray<EntityIndex, String>
  let writes: IndexedArray<EntityIndex, WritePlan>
  /// The statements that write pairs, by the numbers of the sides.
  let pairs: [PairStatements?]
  /// For each root entity, the columns that refer to rows of its tree.
  let references: IndexedArray<RootIndex, [ReferenceLookUp]>
  /// For each entity, the cells that refer to rows.
  let referenceCells: IndexedArray<EntityIndex, [ReferenceCell]>
  /// The tables of the file's history; nil if it has none.
  let history: HistoryTables?
  /// Whether commits are recorded there.
  let recordsHistory: Bool

  var schema: ResolvedSchema { physical.schema }

  init(_ physical: PhysicalSchema, history: HistoryTables? = nil, recordsHistory: Bool = false) {
    self.physical = physical
    self.history = history
    self.recordsHistory = recordsHistory
    let entities = physical.schema.entities
    let selects = entities.mapped {
      SelectPlan(entity: $0.index, includesSubentities: true, physical: physical)
    }
    self.selects = selects
    ownSelects = entities.mapped { entity in
      entity.hasSubentities
        ? SelectPlan(entity: entity.index, includesSubentities: false, physical: physical)
        : selects[entity.index]
    }
    let compiler = QueryCompiler(physical)
    func select(_ entity: ResolvedSchema.Entity, _ source: String, _ key: String) -> String {
      let table = quoted(physical.tableName(of: entity.index))
      let types = compiler.entityCondition(entity.index, true, alias: "t0").map { " AND " + $0.sql } ?? ""
      return
        "SELECT \(selects[entity.index].columnList) FROM \(source)\(table) AS t0 WHERE t0.Z_PK = \(key)\(types)"
    }
    pointSelects = entities.mapped { select($0, "", "?") }
    listSelects = entities.mapped {
      select($0, "\(ListTable.name)(?) AS listed CROSS JOIN ", "listed.\(ListTable.value)")
    }
    lookUps = entities.mapped {
      select($0, "\(KeyTable.name) AS asked CROSS JOIN ", "asked.\(KeyTable.key)")
    }
    writes = entities.mapped { WritePlan(entity: $0.index, physical: physical) }
    pairs = PairStatements.all(physical)
    references = ReferenceColumn.all(physical).mapped { $0.map(ReferenceLookUp.init) }
    referenceCells = ReferenceCell.all(physical.schema)
  }

  func select(_ query: StoreQuery) -> SelectPlan {
    query.includesSubentities ? selects[query.entity] : ownSelects[query.entity]
  }
}
