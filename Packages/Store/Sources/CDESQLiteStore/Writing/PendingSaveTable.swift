import CDESQLite
@_spi(CDE) import CDEStore
import Foundation

/// The table of saves over several stores that a store has a record or a mark of. No other table of ours is in Core Data's files, and
/// this one only while such a save is written, or after a process died in it.
enum PendingSaveTable {
  static let name = "CDE_PENDINGSAVE"
  private static let task = "Recording a save over several stores"
  /// SQLite's own limit for a value is a billion bytes.
  private static let partLength = 64 << 20

  /// Adds records and marks to the current transaction.
  static func add(_ saves: [PendingSave], on connection: Connection) throws(StoreError) {
    if saves.isEmpty { return }
    try connection.execute(
      "CREATE TABLE IF NOT EXISTS \(name) (SAVE TEXT, STORE TEXT, PART INTEGER, CONTENT BLOB, "
        + "PRIMARY KEY (SAVE, STORE, PART))", while: task)
    for save in saves {
      guard let archive = save.archive else {
        try insert(save, 0, .null, on: connection)
        continue
      }
      var start = 0
      var part: Int64 = 0
      repeat {
        let end = min(start + partLength, archive.count)
        try insert(save, part, .blob(Data(archive[start..<end])), on: connection)
        (start, part) = (end, part + 1)
      } while start < archive.count
    }
  }

  private static func insert(
    _ save: PendingSave, _ part: Int64, _ content: StoreValue, on connection: Connection
  ) throws(StoreError) {
    try connection.run(
      "INSERT OR REPLACE INTO \(name) (SAVE, STORE, PART, CONTENT) VALUES (?, ?, ?, ?)",
      [.text(save.save), .text(save.store), .integer(part), content], while: task)
  }

  static func exists(on connection: Connection) throws(StoreError) -> Bool {
    try connection.integer(
      "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = ?", [.text(name)], while: task) ?? 0
      > 0
  }

  /// All records and marks.
  static func read(_ connection: Connection) throws(StoreError) -> [PendingSave] {
    guard try exists(on: connection) else { return [] }
    var saves: [PendingSave] = []
    // Not cached, because the table may be dropped by then.
    let statement = try connection.prepareUncached(
      "SELECT SAVE, STORE, CONTENT FROM \(name) ORDER BY SAVE, STORE, PART", while: task)
    defer { sqlite3_finalize(statement) }
    while true {
      let code = sqlite3_step(statement)
      if code == SQLITE_DONE { return saves }
      guard code == SQLITE_ROW else { throw connection.error(code, while: task) }
      guard case .text(let save) = StoreValue(column: 0, of: statement),
        case .text(let store) = StoreValue(column: 1, of: statement)
      else { continue }
      var content: [UInt8]?
      if case .blob(let data) = StoreValue(column: 2, of: statement) { content = Array(data) }
      if let last = saves.last, last.save == save, last.store == store, let content {
        saves[saves.count - 1].archive = (last.archive ?? []) + content
      } else {
        saves.append(PendingSave(save: save, store: store, archive: content))
      }
    }
  }

  /// Removes a record or a mark, and the table with the last one.
  static func remove(_ save: PendingSave, on connection: Connection) throws(StoreError) {
    guard try exists(on: connection) else { return }
    try connection.run(
      "DELETE FROM \(name) WHERE SAVE = ? AND STORE = ?", [.text(save.save), .text(save.store)], while: task)
    let left = try connection.integer("SELECT COUNT(*) FROM \(name)", while: task)
    if left == 0 { try connection.execute("DROP TABLE \(name)", while: task) }
  }
}
