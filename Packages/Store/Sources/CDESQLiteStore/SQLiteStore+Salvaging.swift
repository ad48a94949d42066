@_spi(CDE) import CDESQL
import CDESQLite
@_spi(CDE) public import CDEStore
import Foundation

extension SQLiteStore {
  /// Copies what can be read of a damaged store into a new one, row by row.
  ///
  /// ```swift
  /// let report = try SQLiteStore.salvage(fileAt: "/data/Notes.sqlite", to: "/data/Salvaged.sqlite", schema: schema)
  /// print(report)
  /// ```
  ///
  /// The file is read without SQLite, page by page: rows are found on each page that is whole, also below damaged pages, and
  /// also where the file's header or a table's definition is lost. The log beside the file is read up to its last whole
  /// commit. The damaged files stay as they are.
  ///
  /// The new store has the rows with their keys, versions and external values, the identifier and the metadata. References to
  /// lost rows are removed. A history and tables of other programs are left out. If the call fails, what was written of the
  /// new store is removed.
  ///
  /// Close the store in all processes first. May be called from any thread. Takes about as long as reading the file twice and
  /// writing the rows.
  ///
  /// - Parameters:
  ///   - path: the damaged file.
  ///   - destination: the path of the new store, which must not exist.
  ///   - schema: the schema of the store's model.
  ///   - entities: indexes of the store's entities; all for `nil`.
  /// - Returns: what was copied, what is damaged and what is lost.
  /// - Throws: `.cannotOpen` for a missing file and a destination that exists; `.unreadable` for a log of another file; `.io`,
  ///   `.full` and so on. Damage of the file is no error.
  public static func salvage(
    fileAt path: String, to destination: String, schema: ResolvedSchema, entities: Set<EntityIndex>? = nil
  ) throws(StoreError) -> SalvageReport {
    try salvage(fileAt: path, to: destination, schema: schema, entities: entities, modelCache: nil)
  }

  /// The same as ``salvage(fileAt:to:schema:entities:)``, with the copy of the model that the new store has.
  @_spi(CDE) public static func salvage(
    fileAt path: String, to destination: String, schema: ResolvedSchema, entities: Set<EntityIndex>?,
    modelCache: [UInt8]?
  ) throws(StoreError) -> SalvageReport {
    let files = try FileSystem(named: nil)
    let (path, destination) = (try files.resolved(path), try files.resolved(destination))
    let folder = ExternalStorage.folder(ofStoreAt: destination)
    let support = (folder as NSString).deletingLastPathComponent
    for place in [destination, support] where FileManager.default.fileExists(atPath: place) {
      throw StoreError(.cannotOpen, "\(place) exists. Salvage to another place, or delete it first.")
    }
    let held = entities ?? Set(schema.entities.indices)
    var salvage = try StoreSalvage(
      path: path, destination: destination, schema: schema, held: held, files: files)
    do throws(StoreError) {
      let connection = try Connection(
        uri: StoreURI.of(destination, vfs: nil), flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
        busyTimeout: 0)
      try connection.execute("PRAGMA page_size = 4096", while: "Creating the store")
      var cache: (@Sendable () -> [UInt8]?)?
      if let content = modelCache ?? salvage.modelCache { cache = { content } }
      try StoreCreator(schema: schema, held: held, modelCache: cache).create(on: connection)
      try copyFiles(in: ExternalStorage.folder(ofStoreAt: path), to: folder)
      // Derived attributes are computed once, when all rows are there.
      _ = cde_sqlite3_db_config_flag(connection.handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
      try connection.inWriteTransaction { () throws(StoreError) in try salvage.run(on: connection) }
      return salvage.report
    } catch {
      for place in [destination, destination + "-journal", support] {
        try? FileManager.default.removeItem(atPath: place)
      }
      throw error
    }
  }

  /// What a damaged file says about its model: the archive of the copy that it keeps, and the entities' version hashes by name.
  /// What is damaged as well is nil, or empty.
  @_spi(CDE) public static func salvagedModel(
    ofFileAt path: String
  ) throws(StoreError) -> (archive: [UInt8]?, hashes: [String: [UInt8]]) {
    let files = try FileSystem(named: nil)
    var file = try DamagedFile(at: files.resolved(path), in: files)
    let archive = file.modelCache.flatMap(ModelArchive.archive)
    guard case .blob(let list)? = file.rows(of: .metadata).first?["Z_PLIST"],
      let metadata = try? PropertyList.decode(list, remedy: MetadataTable.remedy)
    else { return (archive, [:]) }
    return (archive, metadata.versionHashes)
  }
}
