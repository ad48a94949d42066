import Foundation
import SystemSQLite

/// SQLite through its C interface, used as well as one can: the floor that everything is measured against.
final class RawDatabase {
  let handle: OpaquePointer

  enum Pragmas {
    /// What the opponents set: a write-ahead log and nothing else.
    case plain
    /// What our engine sets besides where it reads, for a second column; its writer checks cells, too.
    case ours

    var sql: String {
      switch self {
      case .plain: "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL"
      case .ours:
        """
        PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-65536; PRAGMA temp_store=MEMORY; \
        PRAGMA secure_delete=OFF; PRAGMA wal_autocheckpoint=0
        """
      }
    }
  }

  static let schema = """
    CREATE TABLE category(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
    CREATE TABLE item(id INTEGER PRIMARY KEY, title TEXT NOT NULL, count INTEGER NOT NULL, score REAL NOT NULL,
      createdAt REAL NOT NULL, note TEXT, uuid BLOB NOT NULL, category INTEGER);
    CREATE INDEX item_category ON item(category);
    """
  static let columns = "id,title,count,score,createdAt,note,uuid,category"

  init(_ path: String, _ pragmas: Pragmas = .plain) {
    var opened: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    guard sqlite3_open_v2(path, &opened, flags, nil) == SQLITE_OK, let opened else {
      fatalError("SQLite could not open \(path).")
    }
    handle = opened
    sqlite3_busy_timeout(handle, 10_000)
    execute(pragmas.sql)
  }

  deinit { sqlite3_close_v2(handle) }

  func execute(_ sql: String) {
    guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else {
      fatalError("SQLite: \(String(cString: sqlite3_errmsg(handle))) in \(sql)")
    }
  }

  func prepare(_ sql: String) -> RawStatement {
    var statement: OpaquePointer?
    guard
      sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil) == SQLITE_OK,
      let statement
    else { fatalError("SQLite: \(String(cString: sqlite3_errmsg(handle))) in \(sql)") }
    return RawStatement(statement)
  }

  func insert(_ items: ArraySlice<ItemValues>) {
    let statement = prepareInsert()
    for item in items { statement.insert(item) }
  }

  func prepareInsert() -> RawStatement {
    prepare("INSERT INTO item(\(Self.columns)) VALUES(?,?,?,?,?,?,?,?)")
  }
}

/// A prepared statement. A class only to be finalised in time; the calls are inlined.
final class RawStatement {
  let handle: OpaquePointer

  init(_ handle: OpaquePointer) { self.handle = handle }

  deinit { sqlite3_finalize(handle) }

  @inline(__always)
  func bind(_ index: Int32, _ value: Int64) { sqlite3_bind_int64(handle, index, value) }

  @inline(__always)
  func bind(_ index: Int32, _ text: String) {
    var text = text
    text.withUTF8 { bytes in
      _ = bytes.withMemoryRebound(to: CChar.self) {
        sqlite3_bind_text(handle, index, $0.baseAddress, Int32($0.count), Self.transient)
      }
    }
  }

  private static var transient: sqlite3_destructor_type {
    unsafeBitCast(-1, to: sqlite3_destructor_type.self)
  }

  @inline(__always)
  func insert(_ item: ItemValues) {
    bind(1, item.id)
    bind(2, item.title)
    bind(3, Int64(item.count))
    sqlite3_bind_double(handle, 4, item.score)
    sqlite3_bind_double(handle, 5, item.createdAt.timeIntervalSinceReferenceDate)
    if let note = item.note { bind(6, note) } else { sqlite3_bind_null(handle, 6) }
    withUnsafeBytes(of: item.uuid.uuid) {
      _ = sqlite3_bind_blob(handle, 7, $0.baseAddress, 16, Self.transient)
    }
    if let category = item.category { bind(8, category) } else { sqlite3_bind_null(handle, 8) }
    run()
  }

  /// Steps a statement without rows.
  @inline(__always)
  func run() {
    guard sqlite3_step(handle) == SQLITE_DONE else { fatalError("A statement of the raw contender failed.") }
    sqlite3_reset(handle)
  }

  @inline(__always)
  func step() -> Bool { sqlite3_step(handle) == SQLITE_ROW }

  @inline(__always)
  func reset() { sqlite3_reset(handle) }

  @inline(__always)
  func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

  @inline(__always)
  func real(_ column: Int32) -> Double { sqlite3_column_double(handle, column) }

  @inline(__always)
  func text(_ column: Int32) -> String {
    let start = sqlite3_column_text(handle, column)
    let count = Int(sqlite3_column_bytes(handle, column))
    return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  }

  /// The current row, every column decoded.
  @inline(__always)
  func item() -> ItemValues {
    ItemValues(
      id: integer(0), title: text(1), count: Int(integer(2)), score: real(3),
      createdAt: Date(timeIntervalSinceReferenceDate: real(4)),
      note: sqlite3_column_type(handle, 5) == SQLITE_NULL ? nil : text(5),
      uuid: UUID(uuid: sqlite3_column_blob(handle, 6).loadUnaligned(as: uuid_t.self)),
      category: sqlite3_column_type(handle, 7) == SQLITE_NULL ? nil : integer(7))
  }

  /// All remaining rows.
  @inline(__always)
  func items() -> [ItemValues] {
    var items: [ItemValues] = []
    while step() { items.append(item()) }
    reset()
    return items
  }
}
