import CoreDataEvolution
import GRDB

/// Rows a and b: all items, in one transaction or in many.
@MainActor
struct InsertRows {
  let workspace: Workspace
  /// Items in each transaction.
  let batch: Int

  private var items: [ItemValues] { workspace.samples.items }

  var contenders: [Contender] {
    [
      Contender(.ours) { try ours() },
      Contender(.raw) { try raw(.plain) },
      Contender(.rawTuned) { try raw(.ours) },
      Contender(.grdb) { try records() },
    ].map { $0.restartingSQLite() }
  }

  /// - Parameter options: options of the store that are on.
  func ours(_ options: String...) throws -> Double {
    let store = try OurStore(at: workspace.emptyPath("insert-ours.sqlite"), options)
    let context = store.container.newBackgroundContext()
    let time = try context.performAndWait {
      let categories = OurStore.makeCategories(workspace.samples, in: context)
      try context.save()
      return try nanoseconds {
        for start in stride(from: 0, to: items.count, by: batch) {
          for values in items[start..<min(start + batch, items.count)] {
            _ = Item(values, categories: categories, context: context)
          }
          try context.save()
        }
      }
    }
    try store.close()
    return time
  }

  private func raw(_ pragmas: RawDatabase.Pragmas) throws -> Double {
    let raw = RawDatabase(try workspace.emptyPath("insert-raw.sqlite").path, pragmas)
    raw.execute(RawDatabase.schema)
    let statement = raw.prepareInsert()
    return nanoseconds {
      for start in stride(from: 0, to: items.count, by: batch) {
        raw.execute("BEGIN IMMEDIATE")
        for item in items[start..<min(start + batch, items.count)] { statement.insert(item) }
        raw.execute("COMMIT")
      }
    }
  }

  private func records() throws -> Double {
    let pool = try RecordDatabase.open(workspace.emptyPath("insert-records.sqlite").path)
    try pool.write { try $0.execute(sql: RawDatabase.schema) }
    let records = items.map(ItemRecord.init)
    let time = try nanoseconds {
      for start in stride(from: 0, to: records.count, by: batch) {
        try pool.write { database in
          for record in records[start..<min(start + batch, records.count)] { try record.insert(database) }
        }
      }
    }
    try pool.close()
    return time
  }
}
