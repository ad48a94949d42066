@_spi(CDE) import CDESQL
import CDESQLite
@_spi(CDE) public import CDEStore
import Foundation

/// What is in the file of a store: facts, read without a schema. Whether a schema fits them is judged elsewhere.
///
/// ```swift
/// print(try SQLiteStore.inspection(ofFileAt: "/backup/Notes.sqlite"))
/// ```
public struct StoreInspection: StoredVersion, Hashable, CustomStringConvertible {
  /// The sizes and modes of the files. They are read from the file's header, without SQLite.
  public struct Files: Hashable, Sendable {
    /// The path of the database.
    public let path: String
    /// The size of the database in bytes.
    public let size: Int
    /// The size of the write-ahead log beside it, in bytes; 0 without one. It holds the last commits.
    public let logSize: Int
    /// The bytes of a page.
    public let pageSize: Int
    /// Whether the database has a write-ahead log while it is in use. Otherwise it has a rollback journal.
    public let usesLog: Bool
    /// The number of values in files of their own.
    public let externalValues: Int
  }

  /// The files.
  public let files: Files
  /// The store's UUID.
  public let identifier: String
  /// The metadata with Core Data's keys.
  public let metadata: StoreMetadata
  /// The 32-byte version hashes of the entities by name; empty if the store has none.
  public let versionHashes: [String: [UInt8]]
  /// The numbers of the entities by name.
  public let numbers: [String: Int64]
  /// The columns of all tables, sorted, by the tables' names.
  public let tables: [String: [String]]
  /// The archive of the model that the store was made with; nil if there is no copy of it, or a damaged one.
  public let modelArchive: [UInt8]?

  init(_ file: FileContents, _ files: Files, modelArchive: [UInt8]?) throws(StoreError) {
    self.files = files
    guard let metadata = file.metadata, let numbers = file.numbers else {
      throw StoreError(
        .unreadable,
        "The file is an SQLite file but no store: it lacks Core Data's own tables. Name another file.")
    }
    identifier = metadata.identifier
    self.metadata = metadata.values
    versionHashes = metadata.values.versionHashes
    self.numbers = numbers
    tables = file.tables.mapValues { $0.columns.keys.sorted() }
    self.modelArchive = modelArchive
  }

  /// Whether the store has a persistent history: the tables of its changes and transactions.
  public var hasHistory: Bool { tables["ACHANGE"] != nil && tables["ATRANSACTION"] != nil }

  /// Why there is no archive of the model, as the end of a sentence about the store.
  public var archiveAbsence: String {
    tables["Z_MODELCACHE"] == nil
      ? "it has no table Z_MODELCACHE, as stores made before 2015"
      : "Z_MODELCACHE.Z_CONTENT is damaged or empty"
  }

  /// Compares the tables of a schema's entities with those in the file, by the names of their columns.
  ///
  /// - Returns: each column that only one side has, and each table and entity that the file lacks, as text; sorted.
  public func columnDifferences(
    from schema: ResolvedSchema, entities: Set<EntityIndex>
  ) -> [String] {
    StoredTables(numbers: numbers, columns: tables.mapValues(Set.init)).differences(
      from: schema, entities: entities)
  }

  /// The facts as text: the files, the entities with their numbers, then one table a line.
  public var description: String {
    let entities = numbers.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map {
      "\($0.key) (\($0.value))"
    }
    let lines = tables.sorted { $0.key < $1.key }.map { "  \($0.key): \($0.value.joined(separator: ", "))" }
    let cache = modelArchive.map { "a copy of its model, \($0.count) bytes" } ?? "no copy of its model"
    let log = files.usesLog ? "a log of \(files.logSize) bytes" : "a rollback journal"
    let head =
      "\(files.path): \(files.size) bytes in pages of \(files.pageSize), with \(log) and \(files.externalValues) values in "
      + "files of their own."
    return
      ([head, "The store \(identifier) has the entities \(entities.joined(separator: ", ")) and \(cache)."]
      + lines)
      .joined(separator: "\n")
  }

  /// A connection for reading. The folder of the file does not change.
  static func connect(
    _ path: String, _ configuration: SQLiteStore.Configuration
  ) throws(StoreError) -> Connection {
    let files = try FileSystem(named: configuration.vfs)
    return try ReadOnlySource(
      path: path, files: files, vfs: configuration.vfs, busyTimeout: configuration.busyMilliseconds
    ).connect(StoreFile(at: path, in: files)).connection
  }
}
