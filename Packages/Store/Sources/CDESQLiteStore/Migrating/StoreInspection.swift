import CDESQLite
@_spi(CDE) public import CDEStore
import Foundation

/// What is in the file of a store: facts, read without a schema. Whether a schema fits them is judged elsewhere.
@_spi(CDE) public struct StoreInspection: Hashable, Sendable, CustomStringConvertible {
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

  init(_ file: FileContents, modelArchive: [UInt8]?) throws(StoreError) {
    guard let metadata = file.metadata, let numbers = file.numbers else {
      throw StoreError(
        .unreadable,
        "The file is an SQLite file but no store: it lacks Core Data's own tables. Name another file.")
    }
    identifier = metadata.identifier
    self.metadata = metadata.values
    versionHashes = file.versionHashes.compactMapValues { value in
      if case .data(let bytes) = value { bytes } else { nil }
    }
    self.numbers = numbers
    tables = file.tables.mapValues { $0.columns.keys.sorted() }
    self.modelArchive = modelArchive
  }

  /// The facts as text, one table a line.
  public var description: String {
    let entities = numbers.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map {
      "\($0.key) (\($0.value))"
    }
    let lines = tables.sorted { $0.key < $1.key }.map { "  \($0.key): \($0.value.joined(separator: ", "))" }
    let cache = modelArchive.map { "a copy of its model, \($0.count) bytes" } ?? "no copy of its model"
    return
      (["The store \(identifier) has the entities \(entities.joined(separator: ", ")) and \(cache)."] + lines)
      .joined(separator: "\n")
  }

  static func uri(_ path: String, _ configuration: SQLiteStore.Configuration, _ parameter: String? = nil)
    -> String
  {
    let vfs = configuration.vfs.map { "vfs=\(StoreOpener.escaped($0))" }
    let parameters = [parameter, vfs].compactMap(\.self)
    return "file:\(StoreOpener.escaped(path))" + (parameters.isEmpty ? "" : "?")
      + parameters.joined(separator: "&")
  }

  /// A connection for reading.
  static func connect(
    _ path: String, _ configuration: SQLiteStore.Configuration
  ) throws(StoreError) -> Connection {
    try Connection(
      uri: uri(path, configuration, "mode=ro"), flags: SQLITE_OPEN_READONLY,
      busyTimeout: configuration.busyMilliseconds)
  }
}
