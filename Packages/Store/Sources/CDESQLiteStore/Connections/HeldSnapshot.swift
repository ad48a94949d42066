import CDESQLite
import CDEStore

/// A read transaction that stays open from one read to the next, until the next commit.
///
/// Beginning and ending a read transaction costs several system calls, more than a look-up itself. Whether an
/// open one is still current can be seen in memory: every commit, of any process, changes the header of the
/// log's index, and comparing it is what SQLite does, too, when a transaction begins. The header is noted
/// *before* the transaction begins, so a commit in between makes the snapshot count as old, never the other
/// way round.
///
/// An idle snapshot would keep the log from being reused, so the pool ends those that rest.
struct HeldSnapshot {
  private var region: UnsafePointer<UInt32>?
  private var header = cde_wal_header()
  private(set) var isOpen = false
  /// When the snapshot was last used, in the pool's sweeps.
  var lastSweep = 0

  /// The index's header as it is now, when there was a commit since the last transaction began here: then
  /// SQLite will drop all pages that this connection keeps. Nil otherwise, and where that can't be seen.
  var headerOfNewerCommit: cde_wal_header? {
    var header = header
    guard let region, cde_same_wal_header(region, &header) == 0 else { return nil }
    return cde_read_wal_header(region)
  }

  /// Begins a transaction, or goes on with one that is current.
  mutating func enter(_ connection: Connection) throws(StoreError) {
    if isOpen, let region {
      if cde_same_wal_header(region, &header) != 0, connection.isInTransaction { return }
      leave(connection)
    }
    if let region { header = cde_read_wal_header(region) }
    try connection.run("BEGIN", while: "Reading the store")
  }

  /// Keeps the transaction for the next read, where the log's index can be seen.
  mutating func rest(_ connection: Connection) {
    if region != nil {
      isOpen = connection.isInTransaction
      return
    }
    // The index is there once the first read has opened it. This snapshot began without a header to compare.
    leave(connection)
    region = cde_wal_index_header(connection.handle).map { UnsafePointer($0) }
  }

  mutating func leave(_ connection: Connection) {
    isOpen = false
    guard connection.isInTransaction else { return }
    do throws(StoreError) {
      try connection.run("COMMIT", while: "Reading the store")
    } catch {
      connection.rollBack()
    }
  }
}
