import CoreDataEvolution
import Foundation

/// Rows writers: so many contexts of one file, each of which saves changes of an object of its own. SQLite lets them write in turns.
@MainActor
struct WriterRows {
  let workspace: Workspace
  let count: Int

  private var race: WriterRace { WriterRace(seconds: workspace.isSmoke ? 0.1 : 1) }

  var contenders: [Contender] {
    [Contender(.ours) { try ours() }, Contender(.reference) { try byHand() }].map { $0.restartingSQLite() }
  }

  private func ours() throws -> Double {
    let store = try workspace.oursCopy()
    let time = race.run(count, savingIn: store.container, workspace.samples.distinctKeys)
    try store.close()
    return time
  }

  /// One connection that all threads use in turns, as C code would.
  private func byHand() throws -> Double {
    let turns = Turns(RawChange(try workspace.rawCopyPath()))
    let keys = workspace.samples.distinctKeys
    let time = race.run(count) { writer in
      var number: Int64 = 0
      return {
        number += 1
        turns.take { $0.run(keys[writer], number) }
      }
    }
    turns.close()
    return time
  }

  /// The statements of a save.
  private final class RawChange {
    private let database: RawDatabase
    private let update: RawStatement
    private let begin: RawStatement
    private let commit: RawStatement
    private var saves = 0

    init(_ path: String) {
      database = RawDatabase(path, .ours)
      update = database.prepare("UPDATE item SET count=? WHERE id=?")
      (begin, commit) = (database.prepare("BEGIN IMMEDIATE"), database.prepare("COMMIT"))
    }

    func run(_ key: Int64, _ number: Int64) {
      begin.run()
      update.bind(1, number)
      update.bind(2, key)
      update.run()
      commit.run()
      saves += 1
      // Ours copies the log back beside the saves; without any of that the log would only grow.
      if saves % 250 == 0 { database.execute("PRAGMA wal_checkpoint(PASSIVE)") }
    }
  }

  private final class Turns: @unchecked Sendable {
    // Guard: the mutex.
    private var change: RawChange?
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>

    init(_ change: RawChange) {
      self.change = change
      mutex = .allocate(capacity: 1)
      pthread_mutex_init(mutex, nil)
    }

    deinit {
      pthread_mutex_destroy(mutex)
      mutex.deallocate()
    }

    func take(_ body: (RawChange) -> Void) {
      pthread_mutex_lock(mutex)
      defer { pthread_mutex_unlock(mutex) }
      if let change { body(change) }
    }

    /// Closes the connection. Threads that have not ended keep this object alive.
    func close() { change = nil }
  }
}
