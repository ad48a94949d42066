import CoreDataEvolution

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A second opinion on a store's file: SQLite itself, as the process has it loaded, without a line of ours.
final class SQLiteFile {
  private typealias Open =
    @convention(c) (UnsafePointer<CChar>, UnsafeMutablePointer<OpaquePointer?>, CInt, UnsafePointer<CChar>?)
    -> CInt
  private typealias Prepare =
    @convention(c) (
      OpaquePointer?, UnsafePointer<CChar>, CInt, UnsafeMutablePointer<OpaquePointer?>, OpaquePointer?
    ) -> CInt
  private typealias Handled = @convention(c) (OpaquePointer?) -> CInt
  private typealias Text = @convention(c) (OpaquePointer?, CInt) -> UnsafePointer<UInt8>?

  struct Failure: Error {
    let sql: String
    let code: CInt
  }

  private let prepare: Prepare
  private let step: Handled
  private let finalize: Handled
  private let closeFile: Handled
  private let text: Text
  private var database: OpaquePointer?

  init(_ path: String) throws {
    let process = dlopen(nil, RTLD_NOW)
    func symbol<Function>(_ name: String) throws -> Function {
      guard let found = dlsym(process, name) else { throw Failure(sql: name, code: -1) }
      return unsafeBitCast(found, to: Function.self)
    }
    prepare = try symbol("sqlite3_prepare_v2")
    step = try symbol("sqlite3_step")
    finalize = try symbol("sqlite3_finalize")
    closeFile = try symbol("sqlite3_close_v2")
    text = try symbol("sqlite3_column_text")
    let open: Open = try symbol("sqlite3_open_v2")
    // 2 is SQLITE_OPEN_READWRITE: a log is recovered, a missing file is not made.
    let code = open(path, &database, 2, nil)
    guard code == 0 else { throw Failure(sql: "open", code: code) }
  }

  deinit { _ = closeFile(database) }

  /// The first column of each row, as text.
  func column(_ sql: String) throws -> [String] {
    var statement: OpaquePointer?
    let prepared = prepare(database, sql, -1, &statement, nil)
    guard prepared == 0 else { throw Failure(sql: sql, code: prepared) }
    defer { _ = finalize(statement) }
    var values: [String] = []
    while true {
      switch step(statement) {
      case 100: values.append(text(statement, 0).map { String(cString: $0) } ?? "")
      case 101: return values
      case let code: throw Failure(sql: sql, code: code)
      }
    }
  }

  func number(_ sql: String) throws -> Int { Int(try column(sql).first ?? "") ?? 0 }
}
