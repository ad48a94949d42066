@_spi(CDE) import CDESQLiteFaults
import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// SQLite itself on a store's file, without a line of the library's.
struct StoreFile {
  private typealias Open =
    @convention(c) (UnsafePointer<CChar>, UnsafeMutablePointer<OpaquePointer?>, CInt, UnsafePointer<CChar>?)
    -> CInt
  private typealias Prepare =
    @convention(c) (
      OpaquePointer?, UnsafePointer<CChar>, CInt, UnsafeMutablePointer<OpaquePointer?>, OpaquePointer?
    ) -> CInt
  private typealias Handled = @convention(c) (OpaquePointer?) -> CInt
  private typealias Waiting = @convention(c) (OpaquePointer?, CInt) -> CInt
  private typealias Text = @convention(c) (OpaquePointer?, CInt) -> UnsafePointer<UInt8>?

  struct Failure: Error {
    let sql: String
    let code: CInt
  }

  let url: URL

  /// A file that does not exist.
  static func fresh() -> StoreFile {
    StoreFile(url: ProcessFolder.url.appendingPathComponent("\(UUID().uuidString).store"))
  }

  /// The rows of one statement as texts. NULL is "NULL".
  func rows(_ sql: String) throws -> [[String]] {
    let process = dlopen(nil, RTLD_NOW)
    func symbol<Function>(_ name: String) throws -> Function {
      guard let found = dlsym(process, name) else { throw Failure(sql: name, code: -1) }
      return unsafeBitCast(found, to: Function.self)
    }
    let open: Open = try symbol("sqlite3_open_v2")
    let prepare: Prepare = try symbol("sqlite3_prepare_v2")
    let step: Handled = try symbol("sqlite3_step")
    let finalize: Handled = try symbol("sqlite3_finalize")
    let close: Handled = try symbol("sqlite3_close_v2")
    let wait: Waiting = try symbol("sqlite3_busy_timeout")
    let count: Handled = try symbol("sqlite3_column_count")
    let text: Text = try symbol("sqlite3_column_text")
    var database: OpaquePointer?
    var code = open(url.path, &database, 2, nil)
    guard code == 0 else { throw Failure(sql: "open \(url.path)", code: code) }
    defer { _ = close(database) }
    // A store that is being closed copies its log.
    _ = wait(database, 10_000)
    var statement: OpaquePointer?
    code = prepare(database, sql, -1, &statement, nil)
    guard code == 0 else { throw Failure(sql: sql, code: code) }
    defer { _ = finalize(statement) }
    var result: [[String]] = []
    while true {
      code = step(statement)
      if code == 101 { return result }
      guard code == 100 else { throw Failure(sql: sql, code: code) }
      result.append(
        (0..<count(statement)).map { column in text(statement, column).map { String(cString: $0) } ?? "NULL" }
      )
    }
  }
}
