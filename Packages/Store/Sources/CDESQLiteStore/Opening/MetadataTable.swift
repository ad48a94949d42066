@_spi(CDE) import CDESQL
import CDESQLite
import CDEStore
import Foundation

/// The only row of `Z_METADATA`.
enum MetadataTable {
  /// What to do about metadata that can't be read.
  static let remedy = "Restore it from a backup, or copy what can be read with salvage."

  /// What a new file says about itself.
  static func initial(for schema: ResolvedSchema, held: Set<EntityIndex>) -> StoreMetadata {
    var metadata = StoreMetadata.own(type: "SQLite", schema, held: held)
    metadata.values["_NSAutoVacuumLevel"] = .string("2")
    return metadata
  }

  static func insert(
    identifier: String, _ metadata: StoreMetadata, on connection: Connection
  ) throws(StoreError) {
    try connection.run(
      "INSERT INTO Z_METADATA (Z_VERSION, Z_UUID, Z_PLIST) VALUES (1, ?, ?)",
      [.text(identifier), .blob(try PropertyList.encode(metadata))], while: "Writing the metadata")
  }

  static func update(_ metadata: StoreMetadata, on connection: Connection) throws(StoreError) {
    try connection.run(
      "UPDATE Z_METADATA SET Z_PLIST = ? WHERE Z_VERSION = 1",
      [.blob(try PropertyList.encode(metadata))], while: "Writing the metadata")
  }

  /// Replaces the metadata of an application. The keys of the file itself stay.
  static func replace(_ metadata: StoreMetadata, on connection: Connection) throws(StoreError) {
    try update(metadata.joined(toOwnOf: read(connection).metadata), on: connection)
  }

  /// - Parameter allowsLoss: whether a missing property list is read as an empty one, if the file still has a copy of its model.
  static func read(
    _ connection: Connection, allowsLoss: Bool = false
  ) throws(StoreError) -> (identifier: String, metadata: StoreMetadata) {
    var identifier: String?
    var plist: Data?
    try connection.forEachRow(
      "SELECT Z_UUID, Z_PLIST FROM Z_METADATA WHERE Z_VERSION = 1", while: "Reading the metadata"
    ) { statement in
      identifier = sqlite3_column_text(statement, 0).map { String(cString: $0) }
      if let bytes = sqlite3_column_blob(statement, 1) {
        plist = Data(bytes: bytes, count: Int(sqlite3_column_bytes(statement, 1)))
      }
    }
    guard let identifier, !identifier.isEmpty else {
      throw StoreError(
        .unreadable,
        "Z_METADATA has no row with the Z_VERSION 1 and a Z_UUID, so the store is damaged or newer. \(remedy)"
      )
    }
    guard let plist else {
      if allowsLoss, try ModelCacheTable.exists(on: connection), try ModelCacheTable.read(connection) != nil {
        return (identifier, StoreMetadata())
      }
      throw StoreError(
        .unreadable, "Z_METADATA.Z_PLIST has no property list, so the store is damaged. \(remedy)")
    }
    return (identifier, try PropertyList.decode(plist, remedy: remedy))
  }
}
