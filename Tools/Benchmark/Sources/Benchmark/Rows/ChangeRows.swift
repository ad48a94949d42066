import CoreDataEvolution
import GRDB

/// Rows f and h: a tenth of the items changed or deleted, in random order, in one transaction.
///
/// Every run has a fresh copy of the database. Ours holds the objects before, as a program would that
/// is about to change them; the records of GRDB are held too.
@MainActor
struct ChangeRows {
  let workspace: Workspace

  private var keys: [Int64] { workspace.samples.distinctKeys }

  var update: [Contender] {
    let counts = keys.map { workspace.samples.items[Int($0) - 1].count + 1 }
    return [
      Contender(.ours) {
        try ours { items in for item in items { item.count += 1 } }
      },
      Contender(.raw) { try raw(.plain, updating: counts) },
      Contender(.rawTuned) { try raw(.ours, updating: counts) },
      Contender(.grdb) {
        try records { records, database in
          for var record in records { try record.updateChanges(database) { $0.values.count += 1 } }
        }
      },
    ].map { $0.restartingSQLite() }
  }

  var delete: [Contender] {
    [
      Contender(.ours) {
        try ours { items in for item in items { item.managedObjectContext?.delete(item) } }
      },
      Contender(.raw) { try raw(.plain, updating: nil) },
      Contender(.rawTuned) { try raw(.ours, updating: nil) },
      Contender(.grdb) {
        try records { records, database in
          for record in records { try record.delete(database) }
        }
      },
    ].map { $0.restartingSQLite() }
  }

  private func ours(_ change: ([Item]) -> Void) throws -> Double {
    let store = try workspace.oursCopy()
    let context = store.container.newBackgroundContext()
    let time = try context.performAndWait {
      let byKey = try OurStore.byKey(Item.fetchRequest(), in: context)
      let items = keys.map { byKey[$0]! }
      return try nanoseconds {
        change(items)
        try context.save()
      }
    }
    try store.close()
    return time
  }

  /// - Parameter counts: the new value for each key; nil deletes.
  private func raw(_ pragmas: RawDatabase.Pragmas, updating counts: [Int]?) throws -> Double {
    let raw = RawDatabase(try workspace.rawCopyPath(), pragmas)
    let statement = raw.prepare(
      counts == nil ? "DELETE FROM item WHERE id=?" : "UPDATE item SET count=? WHERE id=?")
    return nanoseconds {
      raw.execute("BEGIN IMMEDIATE")
      if let counts {
        for (key, count) in zip(keys, counts) {
          statement.bind(1, Int64(count))
          statement.bind(2, key)
          statement.run()
        }
      } else {
        for key in keys {
          statement.bind(1, key)
          statement.run()
        }
      }
      raw.execute("COMMIT")
    }
  }

  private func records(_ change: ([ItemRecord], GRDB.Database) throws -> Void) throws -> Double {
    let pool = try RecordDatabase.open(workspace.rawCopyPath())
    let records = keys.map { ItemRecord(workspace.samples.items[Int($0) - 1]) }
    let time = try nanoseconds {
      try pool.write { try change(records, $0) }
    }
    try pool.close()
    return time
  }
}
