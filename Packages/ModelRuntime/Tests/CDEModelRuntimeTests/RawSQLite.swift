import CDEManagedModel
@_spi(CDE) import CDEExecutors
import CDEModelRuntime
@_spi(CDE) import CDESQLiteFaults
import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// SQLite itself on a store's file, without a line of ours: what another writer may do to it.
final class RawSQLite {
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
  private let count: Handled
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
    count = try symbol("sqlite3_column_count")
    text = try symbol("sqlite3_column_text")
    let open: Open = try symbol("sqlite3_open_v2")
    // 2 is SQLITE_OPEN_READWRITE: a missing file is not made.
    let code = open(path, &database, 2, nil)
    guard code == 0 else { throw Failure(sql: "open \(path)", code: code) }
  }

  deinit { _ = closeFile(database) }

  /// Runs one statement.
  ///
  /// - Returns: its rows as text, NULL as "NULL".
  @discardableResult
  func run(_ sql: String) throws -> [[String]] {
    var statement: OpaquePointer?
    let prepared = prepare(database, sql, -1, &statement, nil)
    guard prepared == 0 else { throw Failure(sql: sql, code: prepared) }
    defer { _ = finalize(statement) }
    var rows: [[String]] = []
    while true {
      switch step(statement) {
      case 100:
        rows.append((0..<count(statement)).map { text(statement, $0).map { String(cString: $0) } ?? "NULL" })
      case 101: return rows
      case let code: throw Failure(sql: sql, code: code)
      }
    }
  }
}

/// SQL of a test's own on the store at a path, whichever engine it is of.
enum RawStore {
  /// Runs one statement.
  ///
  /// - Returns: its rows as text, NULL as "NULL".
  @discardableResult
  static func run(_ path: String, _ sql: String) throws -> [[String]] {
    guard let run = StoresUnderTest.runSQL.withLock({ $0 }) else { return try RawSQLite(path).run(sql) }
    return try run(path, sql).get()
  }
}

extension Stack {
  var file: URL { folder.appendingPathComponent("Test.sqlite") }

  /// What another writer does to the store's file, a log included.
  @discardableResult
  func sql(_ statement: String) throws -> [[String]] { try RawStore.run(file.path, statement) }

  /// Opens another container over the same file.
  func reopened() throws -> NSPersistentContainer { try Self.open(file, container.managedObjectModel) }

  static func open(_ file: URL, _ model: NSManagedObjectModel) throws -> NSPersistentContainer {
    let container = NSPersistentContainer(name: "Test", managedObjectModel: model)
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: file)]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    return container
  }

  func close() throws {
    for store in container.persistentStoreCoordinator.persistentStores {
      try container.persistentStoreCoordinator.remove(store)
    }
  }
}
