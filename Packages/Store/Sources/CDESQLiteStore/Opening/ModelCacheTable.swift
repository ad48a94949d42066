import CDESQLite
@_spi(CDE) import CDEStore
import Foundation

/// The only row of `Z_MODELCACHE`: a copy of the model that the store was made with.
///
/// A migration reads it when the application no longer has the old model. The contents are an archive of the object layer. Core Data
/// compresses it.
enum ModelCacheTable {
  static let name = "Z_MODELCACHE"
  static let createStatement = "CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)"

  /// Replaces the copy. Makes the table if there is none.
  ///
  /// - Parameter content: the archive, compressed.
  static func write(_ content: [UInt8], on connection: Connection) throws(StoreError) {
    let task = "Writing the copy of the model"
    if try !exists(on: connection) { try connection.execute(createStatement, while: task) }
    try connection.run("DELETE FROM Z_MODELCACHE", while: task)
    try connection.run(
      "INSERT INTO Z_MODELCACHE (Z_CONTENT) VALUES (?)", [.blob(Data(content))], while: task)
  }

  static func exists(on connection: Connection) throws(StoreError) -> Bool {
    try connection.integer(
      "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = ?", [.text(name)],
      while: "Looking for the copy of the model") != 0
  }

  /// Removes a copy that belongs to another version of the model.
  static func clear(on connection: Connection) throws(StoreError) {
    try connection.run("DELETE FROM Z_MODELCACHE", while: "Removing the copy of the model")
  }

  /// - Returns: the archive, decompressed; nil if no row has one. A store can be used without it.
  static func read(_ connection: Connection) throws(StoreError) -> [UInt8]? {
    var result: [UInt8]?
    try connection.forEachRow(
      "SELECT Z_CONTENT FROM Z_MODELCACHE WHERE Z_CONTENT IS NOT NULL", while: "Reading the copy of the model"
    ) { statement in
      guard result == nil, let start = sqlite3_column_blob(statement, 0) else { return }
      let bytes = UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, 0)))
      result = ModelArchive.archive(Array(bytes))
    }
    return result
  }
}
