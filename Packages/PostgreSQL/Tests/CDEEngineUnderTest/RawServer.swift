@_spi(CDE) import CDESQLiteFaults
import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// SQL of a test's own, over libpq without a line of ours: what another program finds and does. Tests write it for SQLite, so names
/// get quotes and SQLite's own tables are replaced.
enum RawServer {
  private typealias Text = @convention(c) (UnsafePointer<CChar>) -> OpaquePointer?
  private typealias Execute = @convention(c) (OpaquePointer?, UnsafePointer<CChar>) -> OpaquePointer?
  private typealias Count = @convention(c) (OpaquePointer?) -> CInt
  private typealias Cell = @convention(c) (OpaquePointer?, CInt, CInt) -> UnsafePointer<CChar>
  private typealias IsNull = @convention(c) (OpaquePointer?, CInt, CInt) -> CInt
  private typealias Message = @convention(c) (OpaquePointer?) -> UnsafePointer<CChar>
  private typealias End = @convention(c) (OpaquePointer?) -> Void

  private static func symbol<Function>(_ name: String) -> Function {
    guard let found = dlsym(dlopen(nil, RTLD_NOW), name) else { fatalError("libpq lacks \(name).") }
    return unsafeBitCast(found, to: Function.self)
  }

  /// Runs one statement in a schema.
  ///
  /// - Returns: its rows as text, null as "NULL".
  static func run(
    _ sql: String, in schema: String, at url: String
  ) -> Result<[[String]], StoresUnderTest.SQLFailure> {
    let execute: Execute = symbol("PQexec")
    let (clear, finish): (End, End) = (symbol("PQclear"), symbol("PQfinish"))
    let connection = (symbol("PQconnectdb") as Text)(url)
    defer { finish(connection) }
    clear(execute(connection, "SET search_path TO \"\(schema)\"; SET client_min_messages TO error"))
    let result = execute(connection, translated(sql))
    defer { clear(result) }
    let status = (symbol("PQresultStatus") as Count)(result)
    guard status == 1 || status == 2 else {
      let message = String(cString: (symbol("PQerrorMessage") as Message)(connection))
      return .failure(.init(message: "\(message)in \(sql)"))
    }
    let (rows, columns): (Count, Count) = (symbol("PQntuples"), symbol("PQnfields"))
    let (cell, isNull): (Cell, IsNull) = (symbol("PQgetvalue"), symbol("PQgetisnull"))
    let found = (0..<rows(result)).map { row in
      (0..<columns(result)).map { column in
        isNull(result, row, column) == 1 ? "NULL" : String(cString: cell(result, row, column))
      }
    }
    return .success(found)
  }

  private static func translated(_ sql: String) -> String {
    if sql.hasPrefix("PRAGMA integrity_check") { return "SELECT 'ok'" }
    var result = sql
    for (pattern, replacement) in [
      // Names of tables and columns are in upper case, which the server keeps only in quotes.
      (#"(?<!["'\w])(Z[A-Z0-9_]*|ACHANGE|ATRANSACTION|CHANGE)(?!["'\w])"#, #""$1""#),
      (
        #"pragma_table_info\('(\w+)'\)"#,
        #"""
        (SELECT column_name AS name FROM information_schema.columns
          WHERE table_schema = current_schema() AND table_name = '$1') AS columns
        """#
      ),
      (
        #"\bsqlite_master\b"#,
        """
        (SELECT relname AS name, relname AS tbl_name, '' AS sql,
            CASE relkind WHEN 'i' THEN 'index' WHEN 'r' THEN 'table' ELSE 'other' END AS type, 1 AS rootpage
          FROM pg_class WHERE relnamespace = current_schema()::regnamespace) AS objects
        """
      ),
      (#"\bX'([0-9A-F]*)'"#, #"'\\x$1'"#),
    ] {
      result = result.replacingOccurrences(of: pattern, with: replacement, options: .regularExpression)
    }
    return result
  }
}
