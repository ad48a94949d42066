@_spi(CDE) import CDESQL
import CDESQLite
@_spi(CDE) import CDEStore
import Foundation

/// Finds and removes files of external values that no row names.
///
/// A process leaves such a file if it dies between writing the file and its commit, or between a commit and
/// the removal of files that the commit no longer needs. Only files that are certainly not needed are
/// removed:
///
/// - Files are written within a write transaction, and each has a random UUID as its name. While the sweep
///   holds the write lock, no other writer of any process has a file that it has not committed, and no later
///   transaction names an older file.
/// - A commit that failed at its last step may still be in the log after the last valid commit. The next
///   process may find it there, so its files must stay until then. Therefore the sweep commits first, which
///   overwrites that place in the log, and removes files afterwards.
/// - Rows of tables and columns outside the schema may name files, too. All columns that may contain a name
///   are read.
/// - Stores whose names differ only in the extension share a folder. If there is such a store, no file is
///   removed.
struct ExternalSweep {
  let externals: ExternalStorage
  let storePath: String
  /// Files that are read in an earlier state.
  var kept: Set<String> = []

  private static let task = "Looking for unneeded external values"

  /// - Returns: the number of removed files.
  func run(on connection: Connection) throws(StoreError) -> Int {
    // Before rows are read, so that the list contains no file that is written meanwhile.
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
    for name in externals.names() where !kept.contains(name) { names[name.uppercased()] = name }
    for (table, columns) in try candidates(on: connection) where !names.isEmpty {
      // A head byte and a UUID, to which some files add a zero. The length is known without reading the
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

  /// All columns except those that Core Data declares for numbers and text.
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
      // If the folder can't be read, another store may exist.
      return true
    }
    let files = [own] + ["-wal", "-shm", "-journal"].map { own + $0 }
    return entries.contains { entry in
      !files.contains(entry)
        && (entry as NSString).deletingPathExtension == (own as NSString).deletingPathExtension
    }
  }
}
