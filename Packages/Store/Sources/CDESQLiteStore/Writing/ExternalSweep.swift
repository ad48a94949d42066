import CDESQLite
@_spi(CDE) import CDEStore
import Foundation

/// Finds and removes files of external values that no row names.
///
/// A process that dies between writing such a file and its commit leaves one, and so does one that dies between
/// a commit and the removal of what the commit made useless. What is removed is certain to be unneeded:
///
/// - Files are written within a write transaction and are named by random UUIDs, once. While the sweep holds the
///   write lock, no other writer of any process has a file that it has not committed, and no later transaction
///   names a file that was there before.
/// - A commit that failed at its last step may still be in the log behind the last good one, where the next
///   process would find it, and its files have to stay until then. So the sweep commits first, which overwrites
///   that place, and removes files afterwards.
/// - Rows of tables and columns that the schema does not know may name files as well. All columns are read that
///   may hold a name.
/// - Stores whose names differ in the extension alone share a folder. Where there is such a neighbour, nothing is
///   removed.
struct ExternalSweep {
  let externals: ExternalStorage
  let storePath: String

  private static let task = "Looking for unneeded external values"

  /// - Returns: how many files were removed.
  func run(on connection: Connection) throws(StoreError) -> Int {
    // Before rows are read: a file that is written meanwhile is not in the list.
    guard !externals.names().isEmpty, try !unnamed(on: connection).isEmpty, !hasNeighbour() else { return 0 }
    var names: [String] = []
    try connection.inWriteTransaction { () throws(StoreError) in
      names = try unnamed(on: connection)
      if names.isEmpty { return }
      try connection.run("UPDATE Z_METADATA SET Z_VERSION = Z_VERSION", while: Self.task)
    }
    externals.remove(names)
    return names.count
  }

  private func unnamed(on connection: Connection) throws(StoreError) -> [String] {
    var names: [String: String] = [:]
    for name in externals.names() { names[name.uppercased()] = name }
    for (table, columns) in try candidates(on: connection) where !names.isEmpty {
      // A head byte and a UUID, which some files end with a zero. The length alone is known without reading the
      // value, which may be long.
      let lengths = columns.map { "length(\($0)) BETWEEN 37 AND 38" }
      let values = zip(columns, lengths).map { "CASE WHEN \($1) THEN \($0) END" }
      try connection.forEachRow(
        "SELECT \(values.joined(separator: ", ")) FROM \(table) WHERE \(lengths.joined(separator: " OR "))",
        while: Self.task
      ) { statement in
        for column in 0..<Int32(columns.count) {
          guard let start = sqlite3_column_blob(statement, column) else { continue }
          let count = Int(sqlite3_column_bytes(statement, column))
          let cell = ExternalValue(cell: UnsafeRawBufferPointer(start: start, count: count))
          if case .file(let name)? = cell { names[name.uppercased()] = nil }
        }
      }
    }
    return names.values.sorted()
  }

  /// All columns but those that Core Data declares for numbers and text.
  private func candidates(
    on connection: Connection
  ) throws(StoreError) -> [(table: String, columns: [String])] {
    var columns: [String: [String]] = [:]
    try connection.forEachRow(
      """
      SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c
      WHERE m.type = 'table' AND m.rootpage > 0 AND m.name <> 'Z_METADATA'
      AND upper(c.type) NOT IN ('INTEGER', 'FLOAT', 'DECIMAL', 'TIMESTAMP', 'VARCHAR') ORDER BY 1, c.cid
      """, while: Self.task
    ) { statement in
      guard let table = sqlite3_column_text(statement, 0), let column = sqlite3_column_text(statement, 1)
      else { return }
      columns[quoted(String(cString: table)), default: []].append(quoted(String(cString: column)))
    }
    return columns.map { ($0.key, $0.value) }
  }

  private func hasNeighbour() -> Bool {
    let path = storePath as NSString
    let own = path.lastPathComponent
    let folder = path.deletingLastPathComponent
    let entries: [String]
    do {
      entries = try FileManager.default.contentsOfDirectory(atPath: folder.isEmpty ? "." : folder)
    } catch {
      // What can't be seen may be there.
      return true
    }
    let files = [own] + ["-wal", "-shm", "-journal"].map { own + $0 }
    return entries.contains { entry in
      !files.contains(entry)
        && (entry as NSString).deletingPathExtension == (own as NSString).deletingPathExtension
    }
  }
}
