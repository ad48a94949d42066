import CDESQLite
@_spi(CDE) import CDEStore

/// Maintains a count in the file's first page that shows whether a log and its file belong together.
///
/// SQLite copies a log into its file without recording the progress there. If the log is truncated
/// afterwards, or comes from a backup of another moment, SQLite uses old pages instead of newer ones, and the
/// result is damaged. But the first page contains a count of its changes, and a copy begins with this page.
/// Therefore the first page is written
///
/// - before a copy: the file's count is then greater than any count in the log before that place;
/// - by the first commit to a log: a log's first count is then the file's count of that moment plus one.
///
/// Opening a store compares both counts, see ``WriteAheadLog/check(fits:_:on:in:)``. Only the count changes.
final class FirstPage: @unchecked Sendable {
  // Guard: ConnectionPool's lock of the writing connection. Commits and their hooks hold it.
  /// Whether the next commit may be the first commit to its log.
  private(set) var isDue = true

  private let collector: StatementCollector?

  /// - Parameter collector: the writing connection's collector. It does not collect these statements.
  init(_ collector: StatementCollector?) { self.collector = collector }

  /// Writes the page in the current transaction, which will be a commit to a new log.
  @inline(never)
  func include(in connection: Connection) { withoutCollecting { Self.write(connection.handle) } }

  func willCommit() { isDue = false }

  func didFail() { isDue = true }

  /// Writes the page by a separate commit, before the log is copied.
  ///
  /// If another connection prevents this, the page is not written. The copy is equally good, but later damage
  /// is not detected.
  func commit(on handle: OpaquePointer) {
    isDue = true
    withoutCollecting {
      Self.reload(handle)
      if sqlite3_exec(handle, "BEGIN IMMEDIATE", nil, nil, nil) == SQLITE_OK {
        Self.write(handle)
        sqlite3_exec(handle, "COMMIT", nil, nil, nil)
      }
      // A failed commit leaves its transaction open.
      if sqlite3_get_autocommit(handle) == 0 { sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
      Self.reload(handle)
    }
  }

  private func withoutCollecting(_ body: () -> Void) {
    if let collector { collector.withoutCollecting(body) } else { body() }
  }

  /// SQLite increments the count that it last read and not the one that it last wrote. A page whose change
  /// was rolled back is therefore read again.
  private static func reload(_ handle: OpaquePointer) {
    if sqlite3_exec(handle, "BEGIN IMMEDIATE", nil, nil, nil) == SQLITE_OK { write(handle) }
    if sqlite3_get_autocommit(handle) == 0 { sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
  }

  /// Writes the first page with its existing contents.
  private static func write(_ handle: OpaquePointer) {
    var statement: OpaquePointer?
    guard sqlite3_prepare_v2(handle, "PRAGMA user_version", -1, &statement, nil) == SQLITE_OK else { return }
    let isRead = sqlite3_step(statement) == SQLITE_ROW
    let version = sqlite3_column_int(statement, 0)
    sqlite3_finalize(statement)
    if isRead { sqlite3_exec(handle, "PRAGMA user_version = \(version)", nil, nil, nil) }
  }
}
