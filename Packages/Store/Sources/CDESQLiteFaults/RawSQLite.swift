internal import CDESQLite

/// SQLite itself on a store's file: what another writer does to it, or a second opinion on what it holds.
///
/// It uses no code of the stores. One thread may use it at a time.
@_spi(CDE) public final class RawSQLite {
  /// A statement that SQLite refused, or `open` with the path, and SQLite's code.
  public struct Failure: Error {
    /// The statement.
    public let sql: String
    /// SQLite's result code.
    public let code: Int32
  }

  private var database: OpaquePointer?

  /// Opens a file for reading and writing. A log is recovered.
  ///
  /// - Throws: ``Failure`` if the file is missing, too.
  public init(_ path: String) throws {
    let code = sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE, nil)
    guard code == SQLITE_OK else {
      sqlite3_close_v2(database)
      throw Failure(sql: "open \(path)", code: code)
    }
  }

  deinit { sqlite3_close_v2(database) }

  /// Runs one statement.
  ///
  /// - Returns: its rows as text, NULL as "NULL".
  @discardableResult
  public func run(_ sql: String) throws -> [[String]] {
    try rows(sql) { statement in
      (0..<sqlite3_column_count(statement)).map { Self.text(statement, $0) ?? "NULL" }
    }
  }

  /// Runs one statement.
  ///
  /// - Returns: the first column of each row as text, NULL as "".
  public func column(_ sql: String) throws -> [String] {
    try rows(sql) { Self.text($0, 0) ?? "" }
  }

  /// Runs one statement.
  ///
  /// - Returns: the first column of the first row; 0 if there is none or it is no number.
  public func number(_ sql: String) throws -> Int { Int(try column(sql).first ?? "") ?? 0 }

  private func rows<Row>(_ sql: String, _ row: (OpaquePointer?) -> Row) throws -> [Row] {
    var statement: OpaquePointer?
    let prepared = sqlite3_prepare_v2(database, sql, -1, &statement, nil)
    guard prepared == SQLITE_OK else { throw Failure(sql: sql, code: prepared) }
    defer { sqlite3_finalize(statement) }
    var rows: [Row] = []
    while true {
      switch sqlite3_step(statement) {
      case SQLITE_ROW: rows.append(row(statement))
      case SQLITE_DONE: return rows
      case let code: throw Failure(sql: sql, code: code)
      }
    }
  }

  private static func text(_ statement: OpaquePointer?, _ column: Int32) -> String? {
    sqlite3_column_text(statement, column).map { String(cString: $0) }
  }
}
