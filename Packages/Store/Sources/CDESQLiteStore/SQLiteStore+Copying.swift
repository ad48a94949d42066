@_spi(CDE) import CDESQL
import CDESQLite
@_spi(CDE) public import CDEStore
import Foundation

extension SQLiteStore {
  /// For each root that the store holds, the last key that was given to a row, or that was assigned in advance.
  ///
  /// - Throws: `.busy`, `.closed` and so on.
  public func lastKeys() throws(StoreError) -> [RootIndex: Int64] {
    try pool.read(.upkeep) { (connection) throws(StoreError) in
      var result: [RootIndex: Int64] = [:]
      for root in plans.physical.tables.keys {
        result[root] =
          try connection.integer(
            "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?", [.integer(plans.physical.numbers[root.entity])],
            while: "Reading the last keys") ?? 0
      }
      return result
    }
  }

  /// Makes a store in a new file, with everything that another store has: rows with their keys and versions, UUID and metadata.
  ///
  /// The other store may belong to another engine. The copy is on the disk when the call returns. Its history begins anew. If the call
  /// fails, there is no file.
  ///
  /// - Parameters:
  ///   - path: where the file is made, in a folder that exists.
  ///   - copy: the other store. Its schema becomes that of the new one.
  ///   - modelCache: the copy of the model that the file keeps; nil for none.
  /// - Throws: `.cannotOpen` if there is a file, `.full`, `.io`, `.cancelled`, and the errors of reading.
  @_spi(CDE) public static func makeFile(
    at path: String, from copy: StoreCopy, modelCache: [UInt8]?
  ) throws(StoreError) {
    let path = try FileSystem(named: nil).resolved(path)
    let values = (ExternalStorage.folder(ofStoreAt: path) as NSString).deletingLastPathComponent
    if let taken = [path, values].first(where: { FileManager.default.fileExists(atPath: $0) }) {
      throw StoreError(.cannotOpen, "\(taken) exists. Copy to another place, or delete it first.")
    }
    do throws(StoreError) {
      var configuration = Configuration(location: .file(path: path), journalMode: .delete)
      // A file that is not complete is removed, so nothing has to be on the disk before the end.
      configuration.synchronous = .off
      configuration.checksReferences = false
      let store = try SQLiteStore(
        schema: copy.source.schema, entities: copy.entities, configuration: configuration, observer: nil,
        modelCache: { modelCache })
      try copy.forEachTransaction { (transaction) throws(StoreError) in _ = try store.commit(transaction) }
      try store.complete(copy)
      try store.close()
    } catch {
      for place in [path, path + "-journal", values] {
        try? FileManager.default.removeItem(atPath: place)
      }
      throw error
    }
  }

  /// Makes a store in memory, with everything that another store has, and opens it. Its history begins anew.
  ///
  /// - Parameters:
  ///   - copy: the other store. Its schema becomes that of the new one. External values are in the memory, too.
  ///   - configuration: how the store is opened. Precondition: its location is in memory.
  ///   - observer: gets the requests of the open store.
  ///   - modelCache: the copy of the model that the store keeps; nil for none.
  /// - Throws: `.cancelled`, and the errors of reading.
  @_spi(CDE) public static func makeInMemory(
    from copy: StoreCopy, configuration: Configuration, observer: (any StatementObserver)?,
    modelCache: [UInt8]?
  ) throws(StoreError) -> SQLiteStore {
    var filling = configuration
    filling.checksReferences = false
    filling.tracksHistory = false
    filling.isReadOnly = false
    let filled = try SQLiteStore(
      schema: copy.source.schema, entities: copy.entities, configuration: filling, observer: nil,
      modelCache: { modelCache })
    defer { try? filled.close() }
    try copy.forEachTransaction { (transaction) throws(StoreError) in _ = try filled.commit(transaction) }
    try filled.complete(copy)
    // Opened once more by the same name, so that it has the UUID of the copy.
    return try SQLiteStore(
      schema: copy.source.schema, entities: copy.entities, configuration: configuration, observer: observer)
  }

  /// Writes what belongs to the rows, and waits until all is on the disk.
  private func complete(_ copy: StoreCopy) throws(StoreError) {
    try pool.write(.upkeep) { (connection) throws(StoreError) in
      try connection.execute("PRAGMA synchronous = EXTRA", while: "Completing the copy")
      try connection.inWriteTransaction { () throws(StoreError) in
        for root in plans.physical.tables.keys {
          try connection.run(
            "UPDATE Z_PRIMARYKEY SET Z_MAX = max(?, ifnull((SELECT max(Z_PK) FROM "
              + "\(quoted(plans.physical.tableName(of: root)))), 0)) WHERE Z_ENT = ?",
            [.integer(copy.lastKeys[root] ?? 0), .integer(plans.physical.numbers[root.entity])],
            while: "Setting key counters")
        }
        // The triggers, which are Core Data's, count a row twice that is inserted as a member of itself.
        for column in try plans.physical.derivedColumns() {
          try connection.execute(
            column.recomputation, while: "Computing \(column.entity.source.name).\(column.attribute)")
        }
        try connection.run(
          "UPDATE Z_METADATA SET Z_UUID = ? WHERE Z_VERSION = 1", [.text(copy.identifier)],
          while: "Writing the metadata")
        try MetadataTable.replace(copy.metadata, on: connection)
      }
    }
  }
}
