import CDESQLite
import CDEStore

/// Keeps a count in the file's first page by which a log and its file can be told to belong together.
///
/// SQLite copies a log into its file without noting there how far it got. When the log is cut afterwards, or
/// comes from a backup of another moment, SQLite lays old pages over newer ones and calls the mixture a database.
/// The first page has a count of its changes, though, and a copy begins with it. So the first page is written
/// anew
///
/// - before a copy: then the file's count is greater than any in the log before that place;
/// - by the first commit to a log: then a log's first count is the file's of that moment and one more.
///
/// Opening compares both, see ``WriteAheadLog/check(fits:_:on:in:)``. All that changes is the count.
final class FirstPage: @unchecked Sendable {
  // Guard: ConnectionPool's lock of the writing connection, which commits and their hooks hold.
  /// Whether the next commit may be the first one to its log.
  private(set) var isDue = true

  private let collector: StatementCollector?

  /// - Parameter collector: the writing connection's; it collects none of these statements.
  init(_ collector: StatementCollector?) { self.collector = collector }

  /// Writes the page in the transaction under way, which will be a commit to a new log.
  @inline(never)
  func include(in connection: Connection) { withoutCollecting { Self.write(connection.handle) } }

  func willCommit() { isDue = false }

  func didFail() { isDue = true }

  /// Writes the page by a commit of its own, before the log is copied.
  ///
  /// Where another connection is in the way, the page stays as it is: the copy is as good, and damage that comes
  /// later is not noticed.
  func commit(on handle: OpaquePointer) {
    isDue = true
    withoutCollecting {
      Self.reload(handle)
      if sqlite3_exec(handle, "BEGIN IMMEDIATE", nil, nil, nil) == SQLITE_OK {
        Self.write(handle)
        sqlite3_exec(handle, "COMMIT", nil, nil, nil)
      }
      // A commit that failed is still open.
      if sqlite3_get_autocommit(handle) == 0 { sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
      Self.reload(handle)
    }
  }

  private func withoutCollecting(_ body: () -> Void) {
    if let collector { collector.withoutCollecting(body) } else { body() }
  }

  /// SQLite adds one to the count that it read last, not to the one that it wrote last. A page whose change is
  /// taken back is read anew.
  private static func reload(_ handle: OpaquePointer) {
    if sqlite3_exec(handle, "BEGIN IMMEDIATE", nil, nil, nil) == SQLITE_OK { write(handle) }
    if sqlite3_get_autocommit(handle) == 0 { sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
  }

  /// Writes the first page with the contents it has.
  private static func write(_ handle: OpaquePointer) {
    var statement: OpaquePointer?
    guard sqlite3_prepare_v2(handle, "PRAGMA user_version", -1, &statement, nil) == SQLITE_OK else { return }
    let isRead = sqlite3_step(statement) == SQLITE_ROW
    let version = sqlite3_column_int(statement, 0)
    sqlite3_finalize(statement)
    if isRead { sqlite3_exec(handle, "PRAGMA user_version = \(version)", nil, nil, nil) }
  }
}
