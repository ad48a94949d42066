import CDESQLite
import CDEStore

/// A read transaction that stays open after a read until the next commit.
///
/// Beginning and ending a read transaction costs several system calls, more than a look-up itself. Memory
/// shows whether an open transaction is still current: each commit, of any process, changes the header of the
/// log's index. SQLite also compares this header when a transaction begins. The header is recorded *before*
/// the transaction begins. If a commit follows in between, the snapshot counts as old, which is safe.
///
/// An idle snapshot prevents the log from being reused. The pool therefore ends idle snapshots.
struct HeldSnapshot {
  private var region: UnsafePointer<UInt32>?
  private var header = cde_wal_header()
  private(set) var isOpen = false
  /// Whether a read is in the transaction, which may stay open after it.
  private(set) var isKept = false
  /// The sweep of the pool in which the snapshot was last used.
  var lastSweep = 0

  /// The index's current header, if there was a commit since the last transaction began here. SQLite will
  /// then drop all cached pages of this connection. Otherwise nil, also if the header can't be read.
  var headerOfNewerCommit: cde_wal_header? {
    var header = header
    guard let region, cde_same_wal_header(region, &header) == 0 else { return nil }
    return cde_read_wal_header(region)
  }

  /// Begins a transaction, or continues the current one.
  mutating func enter(_ connection: Connection) throws(StoreError) {
    if isOpen, let region {
      if cde_same_wal_header(region, &header) != 0, connection.isInTransaction { return }
      leave(connection)
    }
    if let region { header = cde_read_wal_header(region) }
    isKept = region != nil
    try connection.run("BEGIN", while: "Reading the store")
  }

  /// Keeps the transaction for the next read, if the log's index can be read.
  mutating func rest(_ connection: Connection) {
    if region != nil, connection.isInTransaction {
      isOpen = true
      return
    }
    // SQLite ends a transaction by itself after some errors.
    if region != nil { return leave(connection) }
    // The index exists after the first read has opened it. This snapshot began without a header to compare.
    leave(connection)
    region = cde_wal_index_header(connection.handle).map { UnsafePointer($0) }
  }

  mutating func leave(_ connection: Connection) {
    isOpen = false
    isKept = false
    connection.endLookUps()
    guard connection.isInTransaction else { return }
    do throws(StoreError) {
      try connection.run("COMMIT", while: "Reading the store")
    } catch {
      connection.rollBack()
    }
  }
}
