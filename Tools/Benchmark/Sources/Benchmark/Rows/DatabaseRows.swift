import CoreDataEvolution
import GRDB

/// Rows db: one awaited call of a database after the other, from a task on the pool.
@MainActor
struct DatabaseRows {
  private let workspace: Workspace
  private let calls: Int

  init(_ workspace: Workspace) {
    self.workspace = workspace
    calls = workspace.isSmoke ? 50 : 2_000
  }

  /// Calls in one run.
  var count: Int { calls }

  /// To a reading context and back: what every read costs before it reads anything.
  var hop: [Contender] {
    get throws {
      try contenders { database, _, call in
        consume(try await database.read { _ in call })
      } records: { pool, _, call in
        consume(try await pool.read { _ in call })
      }
    }
  }

  /// The values of one object, by its identity.
  var read: [Contender] {
    get throws {
      try contenders { database, handle, _ in
        consume(try await database.fetchOne(handle))
      } records: { pool, key, _ in
        consume(try await pool.read { try ItemRecord.fetchOne($0, key: key) })
      }
    }
  }

  /// A change of one property of one object, saved.
  var write: [Contender] {
    get throws {
      try contenders { database, handle, call in
        try await database.update(handle) { $0.count = call }
      } records: { pool, key, call in
        try await pool.write { database in
          guard var record = try ItemRecord.fetchOne(database, key: key) else { return }
          record.values.count = call
          try record.update(database, columns: ["count"])
        }
      }
    }
  }

  private func contenders(
    ours: @escaping @Sendable (BackgroundDatabase, ModelHandle<Item>, Int) async throws -> Void,
    records: @escaping @Sendable (DatabasePool, Int64, Int) async throws -> Void
  ) throws -> [Contender] {
    let (samples, calls) = (workspace.samples, calls)
    let store = try workspace.oursCopy()
    let context = store.container.newBackgroundContext()
    let handles = try context.performAndWait {
      try OurStore.byKey(Item.fetchRequest(), in: context).mapValues { try $0.handle }
    }
    let database = BackgroundDatabase(modelContainer: store.container)
    let pool = try RecordDatabase.open(workspace.rawCopyPath())
    @Sendable func key(_ call: Int) -> Int64 { samples.randomKeys[call % samples.itemCount] }
    return [
      Contender(.ours) {
        try await Self.time(calls) { call in
          guard let handle = handles[key(call)] else { return }
          try await ours(database, handle, call)
        }
      },
      Contender(.grdb) {
        try await Self.time(calls) { call in try await records(pool, key(call), call) }
      },
    ]
  }

  /// Runs calls on the pool: from the main actor each would have to change threads, in any contender.
  private static func time(
    _ calls: Int, _ body: @escaping @Sendable (Int) async throws -> Void
  ) async throws -> Double {
    try await Task.detached {
      try await nanoseconds(awaiting: {
        for call in 0..<calls { try await body(call) }
      })
    }.value
  }
}
