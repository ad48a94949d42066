@_spi(CDE) import CDESQLiteStore
import CDEStore

/// Rows references and references-deleted: what it costs that references stay whole.
///
/// At the store itself, where nothing else is in the figure: new rows that refer to distinct stored ones in any
/// order, and deleted rows that two columns could refer to. The baseline is the same without the look-ups.
@MainActor
struct ReferenceRows {
  let workspace: Workspace

  private var count: Int { workspace.samples.itemCount }

  private static let schema = StoreSchema(entities: [
    StoreEntity(
      name: "Target", attributes: [StoreAttribute(name: "name", type: .string)],
      relationships: [
        StoreRelationship(name: "sources", destination: "Source", inverse: "target", isToMany: true),
        StoreRelationship(name: "others", destination: "Other", inverse: "target", isToMany: true),
      ]),
    StoreEntity(
      name: "Source", attributes: [StoreAttribute(name: "name", type: .string)],
      relationships: [
        StoreRelationship(name: "target", destination: "Target", inverse: "sources", isToMany: false)
      ]),
    StoreEntity(
      name: "Other",
      relationships: [
        StoreRelationship(name: "target", destination: "Target", inverse: "others", isToMany: false)
      ]),
  ])

  var inserted: [Contender] {
    contenders { store in
      let sources = rows(of: "Source", in: store) { Int64($0 * 7919 % count + 1) }
      return try nanoseconds { _ = try store.commit(sources) }
    }
  }

  var deleted: [Contender] {
    contenders { store in
      var deletion = StoreTransaction()
      let entity = store.schema.entity(named: "Target")!.index
      deletion.deleted = (1...count).map { RowDeletion(entity: entity, key: Int64($0), version: 1) }
      return try nanoseconds { _ = try store.commit(deletion) }
    }
  }

  private func contenders(_ body: @escaping @MainActor (SQLiteStore) throws -> Double) -> [Contender] {
    [Contender.Side.ours, .reference].map { side in
      Contender(side) {
        var configuration = SQLiteStore.Configuration(
          location: .file(path: try workspace.emptyPath("references.sqlite").path))
        configuration.checksReferences = side == .ours
        let store = try SQLiteStore(schema: Self.schema, configuration: configuration)
        _ = try store.commit(rows(of: "Target", in: store) { _ in nil })
        let time = try body(store)
        try store.close()
        return time
      }
    }
  }

  private func rows(
    of entity: String, in store: SQLiteStore, _ target: (Int) -> Int64?
  ) -> StoreTransaction {
    let layout = store.schema.entity(named: entity)!.layout
    var builder = RowBatchBuilder(layout: layout, rows: count)
    for number in 0..<count {
      builder.beginRow(key: -Int64(number + 1), version: 1)
      for (cell, description) in zip(layout.cells.indices, layout.cells) {
        if description.role == .key {
          if let key = target(number) { builder.setInteger(cell, key) }
        } else {
          builder.setString(cell, "name \(number)")
        }
      }
    }
    var transaction = StoreTransaction()
    transaction.inserted = [builder.finish()]
    return transaction
  }
}
