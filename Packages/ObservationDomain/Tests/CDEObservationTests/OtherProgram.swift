import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A program of Core Data's that has the store's file open: it writes rows and the history by SQL alone.
struct OtherProgram {
  struct Failure: Error {
    let code: CInt
  }

  private typealias Open = @convention(c) (UnsafePointer<CChar>, UnsafeMutablePointer<OpaquePointer?>) -> CInt
  private typealias Execute =
    @convention(c) (
      OpaquePointer?, UnsafePointer<CChar>, OpaquePointer?, OpaquePointer?, OpaquePointer?
    ) -> CInt
  private typealias Close = @convention(c) (OpaquePointer?) -> CInt

  let file: URL

  /// Commits a statement and what the history says of it.
  ///
  /// - Parameter bits: the changed columns of a row, in hexadecimal digits.
  func commit(_ statement: String, entity: String, key: Int64, bits: String) throws {
    try run(
      """
      BEGIN IMMEDIATE; \(statement);
      INSERT INTO ATRANSACTION (Z_PK, Z_ENT, ZTIMESTAMP) SELECT max(Z_PK) + 1, 16002, 7e8 FROM ATRANSACTION;
      INSERT INTO ACHANGE (Z_PK, Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, ZCOLUMNS)
      SELECT max(Z_PK) + 1, 16001, 1, (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = '\(entity)'), \(key),
      (SELECT max(Z_PK) FROM ATRANSACTION), X'\(bits)' FROM ACHANGE;
      UPDATE Z_PRIMARYKEY SET Z_MAX = (SELECT max(Z_PK) FROM ACHANGE) WHERE Z_ENT = 16001;
      UPDATE Z_PRIMARYKEY SET Z_MAX = (SELECT max(Z_PK) FROM ATRANSACTION) WHERE Z_ENT = 16002;
      COMMIT
      """)
    // Within one process the look at the file does not see the writer's lock, and may come before the commit. Another write starts
    // another look.
    try run("UPDATE Z_METADATA SET Z_VERSION = Z_VERSION")
  }

  private func run(_ statements: String) throws {
    let process = dlopen(nil, RTLD_NOW)
    func symbol<Function>(_ name: String) throws -> Function {
      guard let found = dlsym(process, name) else { throw Failure(code: -1) }
      return unsafeBitCast(found, to: Function.self)
    }
    let (open, execute, close): (Open, Execute, Close) = try (
      symbol("sqlite3_open"), symbol("sqlite3_exec"), symbol("sqlite3_close")
    )
    var database: OpaquePointer?
    var code = open(file.path, &database)
    if code == 0 { code = execute(database, statements, nil, nil, nil) }
    _ = close(database)
    guard code == 0 else { throw Failure(code: code) }
  }
}
