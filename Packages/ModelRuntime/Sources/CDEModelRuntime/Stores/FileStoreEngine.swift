internal import CDEStore
internal import Foundation

/// An engine whose stores are files, or that keeps them in memory.
///
/// Coordinators copy, move and salvage such files, and migrations by code work on one. Everything is for files that the caller has
/// not opened.
protocol FileStoreEngine: StoreEngine {
  /// The path of the file that a description names, with all symbolic links followed; nil for a store in memory. The file need not
  /// exist.
  ///
  /// - Throws: `StoreError` for a path where no file can be: one that is too long, leads through a file, or has links that lead to
  ///   themselves; ``ManagedObjectError`` for a description that names no store of this engine.
  func path(of description: NSPersistentStoreDescription) throws -> String?

  /// A path of a file with all symbolic links followed. The file need not exist.
  ///
  /// - Throws: as ``path(of:)``.
  func realPath(_ path: String) throws(StoreError) -> String

  /// The store of a description as migrations by code use it.
  ///
  /// - Throws: ``ManagedObjectError`` for a description that names no store.
  func migratableFile(_ description: NSPersistentStoreDescription) throws -> any MigratableFile

  /// Reads which version of its model a file has. The file and its folder stay as they are.
  ///
  /// - Parameter timeout: how long to wait while another program has the file locked, in seconds.
  func version(ofFileAt path: String, timeout: TimeInterval) throws(StoreError) -> any StoredVersion

  func metadata(
    ofFileAt path: String
  ) throws(StoreError) -> (identifier: String, metadata: StoreMetadata)

  func setMetadata(_ metadata: StoreMetadata, ofFileAt path: String) throws(StoreError)

  /// Copies a file with its external values. The copy has the same UUID.
  func copyFile(at path: String, to destination: String) throws(StoreError)

  /// Makes a file that has everything that another store has, which may belong to another engine.
  ///
  /// - Parameter modelArchive: the archive of the model that the file keeps.
  func makeFile(at path: String, from copy: StoreCopy, modelArchive: [UInt8]?) throws(StoreError)

  /// Makes a store in memory that has everything that another store has, and opens it.
  ///
  /// - Parameter opening: the description of a store without a path.
  func makeInMemory(_ opening: StoreOpening, from copy: StoreCopy) throws -> any Store

  /// Opens a file for reading.
  func read(fileAt path: String, schema: ResolvedSchema) throws(StoreError) -> any Store

  /// Copies what can be read of a damaged file into a new one.
  ///
  /// - Parameters:
  ///   - entities: the entities that the file has.
  ///   - modelCache: the copy of the model that the new file keeps, compressed.
  func salvage(
    fileAt path: String, to destination: String, schema: ResolvedSchema, entities: Set<EntityIndex>,
    modelCache: [UInt8]?
  ) throws(StoreError) -> SalvageReport

  /// Finds the archive of the model and the entities' version hashes in a damaged file.
  func salvagedModel(
    ofFileAt path: String
  ) throws(StoreError) -> (archive: [UInt8]?, hashes: [String: [UInt8]])
}

/// An open store of such an engine.
protocol FileStore: Store {
  /// Writes all committed data to a new file, without external values.
  func copy(to path: String) throws(StoreError)
}

/// A store in a file that is not open, as a migration sees it.
protocol MigratableFile: MigratableStore {
  /// The path of the file, with all symbolic links followed; nil for a store in memory.
  ///
  /// - Throws: `StoreError` for a path where no file can be.
  func path() throws(StoreError) -> String?

  /// Locks the store until a file takes its place. Waits for a time until nothing else uses the store.
  ///
  /// - Parameters:
  ///   - pace: asked while the call waits.
  ///   - isDone: whether version hashes are those of the new store.
  /// - Returns: nil if another process has replaced the store meanwhile.
  func replacement(
    _ pace: MigrationPace, unless isDone: ([String: [UInt8]]) -> Bool
  ) throws(StoreError) -> (any ReplacedStore)?
}

/// A store that is locked until a file takes its place.
protocol ReplacedStore {
  /// Writes the store to a new file.
  func copy(to path: String) throws(StoreError)

  /// Replaces the content of the store, in one transaction, by that of a file.
  func replace(with path: String) throws(StoreError)
}

extension StoreEngines {
  /// The engine of files. It stays the same when another one is registered for the type ``NSSQLiteStoreType``.
  static let files: any FileStoreEngine = SQLiteEngine()
}
