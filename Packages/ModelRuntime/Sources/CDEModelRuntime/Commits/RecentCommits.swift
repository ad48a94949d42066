internal import CDEStore
@_spi(CDE) internal import CDEExecutors
internal import Synchronization

/// The changes of a coordinator's last commits, for merges that have only the objects' IDs.
///
/// Kept only while a context of the coordinator is observed. Contains no rows, and a bounded number of
/// changes. In a merge by IDs, an older commit counts as a change of unknown properties.
final class RecentCommits: Sendable {
  private struct Entry {
    let trace: CommitTrace
    let rows: [Row]
    /// The stores that were written, and the numbers in their histories.
    let numbers: [(store: ObjectIdentifier, number: Int64?)]
  }

  private struct Row {
    let row: RowKey
    let version: Int64?
    let properties: PropertySet
  }

  private struct Log {
    var entries: [Entry] = []
    var rowCount = 0
  }

  /// The number of observed contexts of the coordinator.
  private let observed = Atomic<Int>(0)
  private let log = Lock(Log())

  /// A commit with more changes is omitted, so that a search of all commits takes microseconds.
  static let rowLimit = 4096
  static let commitLimit = 256

  func count(_ change: Int) {
    let left = observed.add(change, ordering: .relaxed).newValue
    if left == 0 { log.withLock { $0 = Log() } }
  }

  func record(_ commit: CommittedTransaction) {
    if observed.load(ordering: .relaxed) == 0 { return }
    record(commit, commit.changes.count)
  }

  @inline(never)
  private func record(_ commit: CommittedTransaction, _ count: Int) {
    guard count <= Self.rowLimit else { return }
    let rows = commit.changes.lazy.filter { $0.kind != .deleted }.map { change in
      Row(
        row: .init(root: commit.model.entities[change.entity].root, key: change.key),
        version: change.row?.version, properties: change.properties.union(change.adopted))
    }
    let entry = Entry(
      trace: commit.trace, rows: Array(rows),
      numbers: [(ObjectIdentifier(commit.store), commit.historyNumber)]
        + commit.others.map { (ObjectIdentifier($0.store), $0.historyNumber) })
    log.withLock { log in
      log.entries.append(entry)
      log.rowCount += entry.rows.count
      var dropped = 0
      while log.rowCount > Self.rowLimit || log.entries.count - dropped > Self.commitLimit {
        log.rowCount -= log.entries[dropped].rows.count
        dropped += 1
      }
      if dropped > 0 { log.entries.removeFirst(dropped) }
    }
  }

  /// The trace of a recent commit that a store's history has under a number.
  func trace(of number: Int64, in store: StoreHandle) -> CommitTrace? {
    log.withLock { log in
      log.entries.last { entry in
        entry.numbers.contains { $0.number == number && $0.store == ObjectIdentifier(store) }
      }?.trace
    }
  }

  /// The changes of a row by recent commits, in their order.
  func changes(of row: RowKey) -> [RecentChanges.Change] {
    log.withLock { log in
      var found: [RecentChanges.Change] = []
      for entry in log.entries {
        for changed in entry.rows where changed.row == row {
          found.append(.init(trace: entry.trace, properties: changed.properties, version: changed.version))
        }
      }
      return found
    }
  }
}
