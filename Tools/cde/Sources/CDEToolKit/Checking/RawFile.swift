import CDEPredicates
@_spi(CDE) import CDESQLiteStore
@_spi(CDE) import CDEStore
import Foundation
import SystemSQLite

/// SQLite itself on a store's file, for what a store does not tell. The file and its folder stay as they are.
final class RawFile {
  private var database: OpaquePointer?
  private var copy: URL?

  /// Opens a file. If it has a log, a copy of both is opened, because SQLite would write an index beside the log.
  ///
  /// - Throws: ``ToolError``.
  init(_ url: URL) throws(ToolError) {
    var path = url.resolvingSymlinksInPath().path
    try StorePlace.requireReadable(url)
    var options = "?immutable=1"
    let log = path + "-wal"
    if let size = try? FileManager.default.attributesOfItem(atPath: log)[.size] as? NSNumber,
      size.intValue > 0
    {
      let folder = TemporaryFolder.newURL(prefix: "cde-copy-")
      path = try Backup.copy(url, to: folder).path
      copy = folder
      options = ""
    }
    let name =
      "file:" + (path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? path) + options
    let flags = SQLITE_OPEN_URI | (options.isEmpty ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY)
    guard sqlite3_open_v2(name, &database, flags, nil) == SQLITE_OK else {
      throw ToolError("SQLite can't open \(url.path): \(String(cString: sqlite3_errmsg(database))).")
    }
  }

  deinit {
    sqlite3_close_v2(database)
    if let copy { try? FileManager.default.removeItem(at: copy) }
  }

  /// Gives the functions and tables that stores add to SQLite, so that their statements can be explained. They are never called.
  func addFunctions() throws(ToolError) {
    let words = PredicateOperator.allCases.map(\.rawValue).filter { $0.allSatisfy(\.isLetter) }
    let functions = StoreExpression.Function.allCases.map(\.rawValue)
    for name in ["fold", "lower", "upper", "length", "take", "number", "number_fit"] + words + functions {
      sqlite3_create_function_v2(
        database, "cde_\(name.lowercased())", -1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, nil,
        { context, _, _ in sqlite3_result_null(context) },
        nil, nil, nil)
    }
    guard let database else { return }
    do throws(StoreError) {
      try SQLiteStore.addTables(to: database)
    } catch {
      throw ToolError(error.message)
    }
  }

  /// Runs a statement that reads.
  ///
  /// - Returns: the rows; each value as bytes, nil for NULL.
  func rows(_ sql: String) throws(ToolError) -> [[Data?]] {
    var statement: OpaquePointer?
    defer { sqlite3_finalize(statement) }
    guard sqlite3_prepare_v2(database, sql, -1, &statement, nil) == SQLITE_OK else { throw failure() }
    var result: [[Data?]] = []
    while true {
      let code = sqlite3_step(statement)
      if code == SQLITE_DONE { return result }
      guard code == SQLITE_ROW else { throw failure() }
      result.append(
        (0..<sqlite3_column_count(statement)).map { column in
          guard sqlite3_column_type(statement, column) != SQLITE_NULL else { return nil }
          guard let bytes = sqlite3_column_blob(statement, column) else { return Data() }
          return Data(bytes: bytes, count: Int(sqlite3_column_bytes(statement, column)))
        })
    }
  }

  /// The same with texts; NULL is empty.
  func texts(_ sql: String) throws(ToolError) -> [[String]] {
    try rows(sql).map { $0.map { $0.map { String(decoding: $0, as: UTF8.self) } ?? "" } }
  }

  /// Runs statements that write, in one transaction.
  ///
  /// - Throws: ``ToolError``; then nothing is written.
  static func change(_ url: URL, _ statements: [String]) throws(ToolError) {
    var database: OpaquePointer?
    defer { sqlite3_close_v2(database) }
    guard sqlite3_open_v2(url.path, &database, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK else {
      throw ToolError("SQLite can't open \(url.path): \(String(cString: sqlite3_errmsg(database))).")
    }
    sqlite3_busy_timeout(database, 2_000)
    for sql in ["BEGIN IMMEDIATE"] + statements + ["COMMIT"] {
      guard sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK else {
        let reason = String(cString: sqlite3_errmsg(database))
        sqlite3_exec(database, "ROLLBACK", nil, nil, nil)
        throw ToolError("SQLite can't change \(url.path): \(reason).")
      }
    }
  }

  private func failure() -> ToolError {
    ToolError("SQLite says: \(String(cString: sqlite3_errmsg(database))).")
  }

  static func quoted(_ name: String) -> String {
    "\"" + name.replacingOccurrences(of: "\"", with: "\"\"") + "\""
  }
}
