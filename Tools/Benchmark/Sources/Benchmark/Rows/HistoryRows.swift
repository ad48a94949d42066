import CoreDataEvolution
import Foundation
import Synchronization

/// Rows history: saves that record a history, and what a merge of it takes beside one in process.
@MainActor
struct HistoryRows {
  let workspace: Workspace

  static func saves(_ workspace: Workspace) -> Int { workspace.isSmoke ? 50 : 2_000 }

  /// One object changed in each of many saves.
  var save: [Contender] {
    [
      Contender(.ours) { try saves(of: workspace.oursCopy([NSPersistentHistoryTrackingKey])) },
      Contender(.reference) { try rawSaves() },
    ].map { $0.restartingSQLite() }
  }

  /// The least that SQLite needs for such a save: the same statements on the same tables and indexes, by C.
  private func rawSaves() throws -> Double {
    let store = try workspace.oursCopy([NSPersistentHistoryTrackingKey])
    let url = store.container.persistentStoreCoordinator.persistentStores[0].url!
    // Makes the tables and the rows of texts.
    let context = store.container.newBackgroundContext()
    try context.performAndWait {
      let request = Item.fetchRequest()
      request.fetchLimit = 1
      try context.fetch(request)[0].count &+= 1
      try context.save()
    }
    try store.close()
    let raw = RawDatabase(url.path, .ours)
    let update = raw.prepare("UPDATE ZITEM SET ZCOUNT = ?, Z_OPT = Z_OPT + 1 WHERE Z_PK = ?")
    let transaction = raw.prepare(
      "INSERT INTO ATRANSACTION (Z_PK, Z_ENT, ZTIMESTAMP, ZAUTHORTS, ZBUNDLEIDTS, ZCONTEXTNAMETS, ZPROCESSIDTS) "
        + "VALUES (?, 16002, ?, NULL, 1, NULL, 2)")
    let change = raw.prepare(
      "INSERT INTO ACHANGE (Z_PK, Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, ZCOLUMNS) "
        + "VALUES (?, 16001, 1, 1, ?, ?, x'04')")
    let counters = raw.prepare(
      "UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT IN (16001, 16002)")
    let (begin, commit) = (raw.prepare("BEGIN IMMEDIATE"), raw.prepare("COMMIT"))
    return nanoseconds {
      for index in 0..<Self.saves(workspace) {
        let (key, number) = (Int64(index % 100 + 1), Int64(index + 2))
        begin.run()
        update.bind(1, number)
        update.bind(2, key)
        update.run()
        transaction.bind(1, number)
        transaction.bind(2, 700_000_000 + number)
        transaction.run()
        change.bind(1, number)
        change.bind(2, key)
        change.bind(3, number)
        change.run()
        counters.bind(1, number)
        counters.run()
        commit.run()
      }
    }
  }

  private func saves(of store: OurStore) throws -> Double {
    let context = store.container.newBackgroundContext()
    let time = try context.performAndWait {
      let request = Item.fetchRequest()
      request.fetchLimit = 100
      let items = try context.fetch(request)
      return try nanoseconds {
        for number in 0..<Self.saves(workspace) {
          items[number % items.count].count &+= 1
          try context.save()
        }
      }
    }
    try store.close()
    return time
  }

  var insert: [Contender] {
    let rows = InsertRows(workspace: workspace, batch: workspace.samples.itemCount)
    return [
      Contender(.ours) { try rows.ours(NSPersistentHistoryTrackingKey) },
      Contender(.reference) { try rows.ours() },
    ].map { $0.restartingSQLite() }
  }

  // MARK: Purging

  private static func purged(_ workspace: Workspace) -> Int { workspace.isSmoke ? 10_000 : 1_000_000 }

  /// Saves of one change by one context while another one purges the history. The longest of them counts, in milliseconds.
  var purge: [Contender] { [Contender(.ours) { try longestSave() }] }

  private func longestSave() throws -> Double {
    let made = try workspace.oursCopy([NSPersistentHistoryTrackingKey])
    let url = made.container.persistentStoreCoordinator.persistentStores[0].url!
    try made.close()
    let count = Self.purged(workspace)
    RawDatabase(url.path, .ours).execute(
      """
      BEGIN IMMEDIATE;
      WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
        INSERT INTO ATRANSACTION (Z_PK, Z_ENT, ZTIMESTAMP) SELECT i, 16002, i FROM n;
      INSERT INTO ACHANGE (Z_PK, Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, ZCOLUMNS)
        SELECT Z_PK, 16001, 1, 1, Z_PK % 100 + 1, Z_PK, x'04' FROM ATRANSACTION;
      UPDATE Z_PRIMARYKEY SET Z_MAX = \(count) WHERE Z_ENT IN (16001, 16002);
      COMMIT
      """)
    let store = try OurStore(at: url, [NSPersistentHistoryTrackingKey])
    let context = store.container.newBackgroundContext()
    let purging = store.container.newBackgroundContext()
    let isOver = Atomic(false)
    let end = DispatchGroup()
    end.enter()
    Thread.detachNewThread {
      purging.performAndWait {
        do {
          let date = Date(timeIntervalSinceReferenceDate: Double(count) + 0.5)
          try purging.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: date))
        } catch {
          fatalError("The purge failed: \(error)")
        }
      }
      isOver.store(true, ordering: .relaxed)
      end.leave()
    }
    let longest = try context.performAndWait {
      let request = Item.fetchRequest()
      request.fetchLimit = 1
      let item = try context.fetch(request)[0]
      var longest = 0.0
      repeat {
        item.count &+= 1
        longest = max(longest, try nanoseconds { try context.save() })
      } while !isOver.load(ordering: .relaxed)
      return longest
    }
    end.wait()
    try store.close()
    return longest / 1e6
  }

  // MARK: Merging

  private static let changesInACommit = 100

  static func merged(_ workspace: Workspace) -> Int { workspace.isSmoke ? 1_000 : 10_000 }

  /// Commits of 100 changes, merged into a context that holds all of their objects.
  ///
  /// Ours reads the history of the store, as a program does that was told of another process's commits. The other side merges the
  /// notifications of the same saves.
  var merge: [Contender] {
    [
      Contender(.ours) {
        try merging { store, writer, change in
          let coordinator = store.container.persistentStoreCoordinator
          let token = coordinator.currentPersistentHistoryToken(fromStores: nil)
          for start in starts { _ = try SaveNotification.caught(of: writer) { change(start) } }
          return { context in
            let result = try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: token))
            let transactions =
              (result as? NSPersistentHistoryResult)?.result as? [NSPersistentHistoryTransaction]
            for transaction in transactions ?? [] {
              context.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
            }
          }
        }
      },
      Contender(.reference) {
        try merging { _, writer, change in
          let caught = try starts.map { start in try SaveNotification.caught(of: writer) { change(start) } }
          return { context in
            for notification in caught { context.mergeChanges(fromContextDidSave: notification) }
          }
        }
      },
    ]
  }

  private var starts: StrideTo<Int> { stride(from: 0, to: Self.merged(workspace), by: Self.changesInACommit) }

  /// - Parameter commit: saves the changes, and returns the merge of all of them.
  private func merging(
    _ commit: (OurStore, NSManagedObjectContext, _ change: (_ start: Int) -> Void) throws
      -> (NSManagedObjectContext) throws -> Void
  ) throws -> Double {
    let store = try workspace.oursCopy([NSPersistentHistoryTrackingKey])
    let (writer, reader) = (store.container.newBackgroundContext(), store.container.newBackgroundContext())
    let request = Item.fetchRequest()
    request.fetchLimit = Self.merged(workspace)
    request.sortDescriptors = [NSSortDescriptor(key: "self", ascending: true)]
    let changing = try writer.performAndWait { try writer.fetch(request) }
    let held = try reader.performAndWait { try reader.fetch(request) }
    let merge = try commit(store, writer) { start in
      for item in changing[start..<start + Self.changesInACommit] { item.count &+= 1 }
    }
    let time = try reader.performAndWait {
      let time = try nanoseconds { try merge(reader) }
      precondition(
        zip(held, changing).allSatisfy { $0.count == $1.count },
        "The merges did not bring all saved values along.")
      return time
    }
    try store.close()
    return time
  }
}
