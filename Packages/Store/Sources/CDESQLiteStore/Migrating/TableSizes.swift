import CDESQLite
import CDEStore

/// The sizes of tables in a file, in whole pages.
enum TableSizes {
  private static let task = "Measuring the tables"

  static func file(_ connection: Connection) throws(StoreError) -> Int {
    let pages = try connection.integer("PRAGMA page_count", while: task) ?? 0
    return Int(pages * (try connection.integer("PRAGMA page_size", while: task) ?? 0))
  }

  /// The bytes of tables with their indexes.
  ///
  /// - Returns: nil where SQLite was built without its table of sizes. Reads all pages of the tables.
  static func bytes(of tables: [String], on connection: Connection) throws(StoreError) -> Int? {
    guard sqlite3_compileoption_used("ENABLE_DBSTAT_VTAB") != 0 else { return nil }
    var result = 0
    for table in tables {
      var names: [String] = []
      try connection.forEachRow(
        "SELECT name FROM sqlite_master WHERE rootpage > 0 AND tbl_name = ? COLLATE NOCASE", [.text(table)],
        while: task
      ) { names.append(String(cString: sqlite3_column_text($0, 0))) }
      for name in names {
        let size = try connection.integer(
          "SELECT pgsize FROM dbstat WHERE aggregate = TRUE AND name = ?", [.text(name)], while: task)
        result += Int(size ?? 0)
      }
    }
    return result
  }
}
