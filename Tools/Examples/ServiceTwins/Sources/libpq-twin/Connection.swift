import CLibPQ
import Foundation

/// What the server, or the connection to it, says.
struct ServerError: Error, CustomStringConvertible {
  var description: String
  /// The SQLSTATE; empty without a connection.
  var state = ""
}

/// A connection with its prepared statements. One thread at a time uses it.
final class Connection {
  private let handle: OpaquePointer

  init(_ url: String, _ statements: [(name: String, sql: String)]) throws {
    guard let handle = PQconnectdb(url) else { throw ServerError(description: "There is no memory.") }
    self.handle = handle
    guard PQstatus(handle) == CONNECTION_OK else { throw error(nil) }
    for statement in statements { try check(PQprepare(handle, statement.name, statement.sql, 0, nil)) }
  }

  deinit { PQfinish(handle) }

  /// Runs statements that return nothing.
  func run(_ sql: String) throws { try check(PQexec(handle, sql)) }

  /// Runs a prepared statement with values as texts.
  func run(_ name: String, _ values: [String]) throws -> Rows {
    let copies = values.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    let pointers: [UnsafePointer<CChar>?] = copies.map { UnsafePointer($0) }
    return try check(PQexecPrepared(handle, name, Int32(values.count), pointers, nil, nil, 0))
  }

  @discardableResult
  private func check(_ result: OpaquePointer?) throws -> Rows {
    let rows = Rows(result)
    let status = PQresultStatus(result)
    guard status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK else { throw error(rows) }
    return rows
  }

  private func error(_ rows: Rows?) -> ServerError {
    ServerError(
      description: String(cString: PQerrorMessage(handle)),
      state: rows.flatMap { PQresultErrorField($0.result, Int32(UInt8(ascii: "C"))) }.map {
        String(cString: $0)
      }
        ?? "")
  }
}

/// The rows of a result.
final class Rows {
  fileprivate let result: OpaquePointer?

  fileprivate init(_ result: OpaquePointer?) { self.result = result }

  deinit { PQclear(result) }

  var count: Int32 { PQntuples(result) }

  func text(_ row: Int32, _ column: Int32) -> String? {
    PQgetisnull(result, row, column) == 1 ? nil : String(cString: PQgetvalue(result, row, column))
  }

  func number(_ row: Int32, _ column: Int32) -> Int64 { text(row, column).flatMap { Int64($0) } ?? 0 }
}
