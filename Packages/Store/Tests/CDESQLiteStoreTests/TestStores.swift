import CDESQLite
@_spi(CDE) import CDESQLiteFaults
import CDESQLiteStore
import CDEStore
import Foundation

/// A folder of its own for one test, removed with it.
final class Scratch: Sendable {
  let path: String

  init() {
    path = ProcessFolder.newURL("store").path
    try! FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func file(_ name: String = "Test.sqlite") -> String { path + "/" + name }

  func bytes(_ name: String = "Test.sqlite") -> Data? { FileManager.default.contents(atPath: file(name)) }
}

/// Plain SQL on a file, for looking at stores from the outside.
func sql(_ path: String, _ statements: String) -> [[String]] {
  var handle: OpaquePointer?
  sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nil)
  defer { sqlite3_close(handle) }
  var rows: [[String]] = []
  var message: UnsafeMutablePointer<CChar>?
  withUnsafeMutablePointer(to: &rows) { rows in
    _ = sqlite3_exec(
      handle, statements,
      { context, count, values, _ in
        let row = (0..<Int(count)).map { values![$0].map { String(cString: $0) } ?? "NULL" }
        context!.assumingMemoryBound(to: [[String]].self).pointee.append(row)
        return 0
      }, rows, &message)
  }
  if let message { fatalError("\(statements): \(String(cString: message))") }
  return rows
}

extension SQLiteStore {
  static func file(
    _ path: String, _ schema: StoreSchema, change: (inout Configuration) -> Void = { _ in }
  ) throws -> SQLiteStore {
    var configuration = Configuration(location: .file(path: path))
    change(&configuration)
    return try SQLiteStore(schema: schema, configuration: configuration)
  }
}

extension FetchedRows {
  /// Keys in the order of the result.
  var keys: [Int64] {
    order?.map(\.key) ?? batches.flatMap { batch in (0..<batch.count).map { batch.key($0) } }
  }
}

/// Sets cells by name while a transaction is put together.
struct RowMaker {
  let layout: RowLayout
  init(_ store: any Store, _ entity: String) { layout = store.schema.entity(named: entity)!.layout }

  func cell(_ name: String, _ role: RowLayout.Cell.Role = .value) -> CellIndex {
    layout.cells.firstIndex { $0.name == name && $0.role == role }!
  }

  func slot(_ name: String) -> SlotIndex { layout.slot(named: name)! }
}

/// Another connection that stays open, to hold locks.
final class Holder {
  private var handle: OpaquePointer?

  init(_ path: String) { sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE, nil) }

  func run(_ statements: String) {
    // Leaves the last statement's rows unread and its lock in place.
    precondition(sqlite3_exec(handle, statements, nil, nil, nil) == SQLITE_OK)
  }

  /// The first row of a query.
  func query(_ text: String) -> [String] {
    var statement: OpaquePointer?
    sqlite3_prepare_v2(handle, text, -1, &statement, nil)
    defer { sqlite3_finalize(statement) }
    guard sqlite3_step(statement) == SQLITE_ROW else { return [] }
    return (0..<sqlite3_column_count(statement)).map {
      sqlite3_column_text(statement, $0).map { String(cString: $0) } ?? "NULL"
    }
  }

  deinit { sqlite3_close_v2(handle) }
}
