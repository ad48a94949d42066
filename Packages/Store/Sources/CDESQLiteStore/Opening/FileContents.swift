@_spi(CDE) import CDESQL
import CDESQLite
import CDEStore

/// The contents of a file. They are read without comparing them with a schema. A file that is no store has
/// contents, too.
///
/// ``StoreContents`` checks them. A migration reads a store before it changes it, and needs only the
/// contents.
struct FileContents: Sendable, Hashable {
  struct Column: Sendable, Hashable {
    /// Whether the column is the table's integer primary key.
    var isKey: Bool
  }

  struct Table: Sendable, Hashable {
    /// The columns that statements may use, by name.
    var columns: [String: Column] = [:]
  }

  struct Trigger: Sendable, Hashable {
    var name: String
    /// The table of the trigger.
    var table: String
    /// Whether the name is one of Core Data's: of derived attributes, R-trees and their like.
    var isCoreDatas: Bool { ["Z_DA_", "Z_RT_", "ZT_"].contains { name.hasPrefix($0) } }
  }

  struct Metadata: Sendable, Hashable {
    /// The store's UUID.
    var identifier: String
    var values: StoreMetadata
  }

  /// The file's path in SQLite; nil in memory.
  var path: String?
  /// Whether the file contains neither a table nor any other definition.
  var isEmpty: Bool
  /// All tables except virtual ones, by name.
  var tables: [String: Table]
  /// All triggers, by name in ascending order.
  var triggers: [Trigger]
  /// Tables that can't be written, because an index or trigger of the file calls what is not known here; with the reasons.
  var unwritable: [String: String]
  /// The row of `Z_METADATA`; nil if there is no such table.
  var metadata: Metadata?
  /// `Z_PRIMARYKEY`: entity numbers by name; nil if there is no such table.
  var numbers: [String: Int64]?
  /// Whether the file has a copy of its model.
  var hasModelCache: Bool { tables[ModelCacheTable.name] != nil }

  /// Whether the row of `Z_METADATA` has no property list. The file has a copy of its model then.
  var hasLostMetadata = false

  /// The version hashes of the entities by name, from the metadata; empty if there are none.
  var versionHashes: [String: StoreMetadata.Value] {
    metadata?.values.storedHashes ?? [:]
  }

  /// The version of the algorithm for the hashes; nil if the metadata do not contain it.
  var hashesVersion: Int64? {
    guard case .integer(let version) = metadata?.values.values[StoreMetadata.hashesVersionKey] else {
      return nil
    }
    return version
  }

  /// Whether statements for a store with other contents are right for this one: it is the same store, with the same numbers of
  /// entities, and has all its tables and columns.
  func hasPlaces(of other: FileContents) -> Bool {
    metadata?.identifier == other.metadata?.identifier && numbers == other.numbers
      && versionHashes == other.versionHashes && other.tables.allSatisfy { tables[$0.key] == $0.value }
  }
}

extension FileContents {
  private static let task = "Reading the store"

  /// Whether the connection's file contains neither a table nor any other definition.
  static func isEmpty(_ connection: Connection) throws(StoreError) -> Bool {
    try connection.integer("SELECT COUNT(*) FROM sqlite_master", while: task) == 0
  }

  /// Reads the schema of the file and Core Data's tables that describe it. Reads no row of an entity.
  ///
  /// - Throws: the errors of SQLite for a damaged file, and `.unreadable` for metadata that can't be read.
  init(reading connection: Connection) throws(StoreError) {
    let name = sqlite3_db_filename(connection.handle, "main").map { String(cString: $0) }
    path = name?.isEmpty == true ? nil : name
    isEmpty = try Self.isEmpty(connection)
    tables = try Self.tables(of: connection)
    triggers = try Self.triggers(of: connection)
    unwritable = try ForeignCode.reasons(on: connection)
    if tables["Z_METADATA"] != nil {
      let (identifier, values) = try MetadataTable.read(connection, allowsLoss: true)
      metadata = Metadata(identifier: identifier, values: values)
      hasLostMetadata =
        try connection.integer("SELECT Z_PLIST IS NULL FROM Z_METADATA WHERE Z_VERSION = 1", while: Self.task)
        == 1
    }
    if tables["Z_PRIMARYKEY"] != nil { numbers = try Self.numbers(of: connection) }
  }

  private static func tables(of connection: Connection) throws(StoreError) -> [String: Table] {
    var result: [String: Table] = [:]
    // Virtual tables have no page. Their module may be missing here, and then their columns are unknown.
    try connection.forEachRow(
      "SELECT m.name, c.name, upper(c.type) = 'INTEGER' AND c.pk = 1 "
        + "FROM sqlite_master AS m, pragma_table_xinfo(m.name) AS c "
        + "WHERE m.type = 'table' AND m.rootpage > 0 AND c.hidden = 0", while: task
    ) { statement in
      guard let table = sqlite3_column_text(statement, 0), let column = sqlite3_column_text(statement, 1)
      else { return }
      result[String(cString: table), default: Table()].columns[String(cString: column)] = Column(
        isKey: sqlite3_column_int(statement, 2) == 1)
    }
    return result
  }

  private static func triggers(of connection: Connection) throws(StoreError) -> [Trigger] {
    var result: [Trigger] = []
    try connection.forEachRow(
      "SELECT name, tbl_name FROM sqlite_master WHERE type = 'trigger' ORDER BY name", while: task
    ) { statement in
      guard let name = sqlite3_column_text(statement, 0), let table = sqlite3_column_text(statement, 1)
      else { return }
      result.append(Trigger(name: String(cString: name), table: String(cString: table)))
    }
    return result
  }

  private static func numbers(of connection: Connection) throws(StoreError) -> [String: Int64] {
    var result: [String: Int64] = [:]
    try connection.forEachRow("SELECT Z_ENT, Z_NAME FROM Z_PRIMARYKEY", while: task) { statement in
      guard let name = sqlite3_column_text(statement, 1) else { return }
      result[String(cString: name)] = sqlite3_column_int64(statement, 0)
    }
    return result
  }
}
