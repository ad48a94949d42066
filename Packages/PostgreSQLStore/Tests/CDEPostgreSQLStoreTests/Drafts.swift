#if PostgreSQL
  @testable import CDEPostgreSQLStore
  import CDESQLiteStore
  import CDEStore
  import Foundation

  /// What this suite needs of both engines.
  protocol RowStore: AnyObject, Sendable {
    var schema: ResolvedSchema { get }
    func rows(entity: EntityIndex, keys: [Int64]) throws(StoreError) -> FetchedRows
    func row(entity: EntityIndex, key: Int64) throws(StoreError) -> RowReference?
    func commit(
      _ transaction: StoreTransaction, committed: (CommitResult) -> Void
    ) throws(StoreError) -> CommitResult
    func conflicts(of transaction: StoreTransaction) throws(StoreError) -> TransactionConflicts
  }

  extension PostgreSQLStore: RowStore {}
  extension SQLiteStore: RowStore {}

  /// A row by property names. A composite's leaf is `composite.leaf`.
  struct Draft {
    enum Value {
      case integer(Int64)
      case real(Double)
      case text(String)
      case bytes([UInt8])
    }

    var key: Int64
    var version: Int64 = 1
    var values: [String: Value] = [:]
    var references: [String: Int64] = [:]
    var orders: [String: Int64] = [:]
    var entities: [String: EntityIndex] = [:]
  }

  extension RowStore {
    func root(_ entity: String) -> RootIndex { schema.entity(named: entity)!.root }

    func index(_ entity: String) -> EntityIndex { schema.entity(named: entity)!.index }

    func slot(_ entity: String, _ property: String) -> SlotIndex {
      schema.entity(named: entity)!.layout.slot(named: property)!
    }

    func batch(_ entity: String, _ drafts: [Draft]) -> RowBatch {
      let layout = schema.entity(named: entity)!.layout
      var builder = RowBatchBuilder(layout: layout, rows: max(drafts.count, 1))
      for draft in drafts {
        builder.beginRow(key: draft.key, version: draft.version)
        for (cell, description) in zip(layout.cells.indices, layout.cells) {
          let property = layout.properties[description.slot].name
          switch description.role {
          case .value:
            switch draft.values[path(of: description, in: layout)] {
            case .integer(let value): builder.setInteger(cell, value)
            case .real(let value): builder.setReal(cell, value)
            case .text(let value): builder.setString(cell, value)
            case .bytes(let value): value.withUnsafeBytes { builder.setBytes(cell, $0) }
            case nil: break
            }
          case .key: if let key = draft.references[property] { builder.setInteger(cell, key) }
          case .entity: if let entity = draft.entities[property] { builder.setEntity(cell, entity) }
          case .order: if let order = draft.orders[property] { builder.setInteger(cell, order) }
          }
        }
      }
      return builder.finish()
    }

    private func path(of cell: RowLayout.Cell, in layout: RowLayout) -> String {
      let property = layout.properties[cell.slot]
      if case .composite = property.kind { return "\(property.name).\(cell.name)" }
      return property.name
    }

    @discardableResult
    func commit(_ change: (inout StoreTransaction) -> Void) throws(StoreError) -> CommitResult {
      var transaction = StoreTransaction()
      change(&transaction)
      return try commit(transaction) { _ in }
    }

    /// Inserts rows and returns their keys.
    @discardableResult
    func insert(_ entity: String, _ drafts: [Draft]) throws(StoreError) -> [Int64] {
      let batch = batch(entity, drafts)
      try commit { $0.inserted = [batch] }
      return (0..<batch.count).map { batch.key($0) }
    }

    func update(_ entity: String, _ drafts: [Draft], _ properties: String...) -> RowUpdate {
      RowUpdate(
        batch: batch(entity, drafts),
        changed: drafts.map { _ in PropertySet(properties.map { slot(entity, $0) }) })
    }

    func deletion(_ entity: String, _ key: Int64, version: Int64 = 1) -> RowDeletion {
      RowDeletion(entity: index(entity), key: key, version: version)
    }

    /// The values of a row as text, by property names; nil without a row.
    func describe(_ entity: String, _ key: Int64) throws(StoreError) -> [String: String]? {
      guard let row = try row(entity: index(entity), key: key) else { return nil }
      return describe(row.batch, row.row)
    }

    func describe(_ batch: RowBatch, _ row: Int) -> [String: String] {
      let layout = batch.layout
      var result = [
        "entity": layout.entityName, "key": "\(batch.key(row))", "version": "\(batch.version(row))",
      ]
      for (cell, description) in zip(layout.cells.indices, layout.cells) where !batch.isNull(row, cell) {
        let text: String =
          switch description.kind {
          case .integer: String(batch.integer(row, cell)!)
          case .real: String(batch.real(row, cell)!)
          case .text: batch.string(row, cell)!
          case .blob: batch.bytes(row, cell).map { String($0, radix: 16) }.joined(separator: " ")
          }
        let suffix: String =
          switch description.role {
          case .value, .key: ""
          case .entity: "@entity"
          case .order: "@order"
          }
        result[path(of: description, in: layout) + suffix] = text
      }
      return result
    }
  }

  /// Random numbers that a printed seed gives again.
  struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var mixed = state
      mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
      return mixed ^ (mixed >> 31)
    }
  }
#endif
