@_spi(CDE) internal import CDESQLiteStore
@_spi(CDE) internal import CDEStore
internal import Foundation

// The only file of the runtime that imports CDESQLiteStore.

/// The engine of SQLite stores, in files and in memory.
struct SQLiteEngine: FileStoreEngine {
  func open(_ opening: StoreOpening) throws -> any Store {
    try SQLiteStore(
      schema: opening.schema, entities: opening.entities,
      configuration: SQLiteStore.Configuration(opening.description), observer: opening.description.observer,
      modelCache: opening.makeModelCache)
  }

  func make(_ opening: StoreOpening, from copy: StoreCopy) throws {
    guard let path = try self.path(of: opening.description) else {
      throw ManagedObjectError(
        .unsupportedRequest,
        "A store in memory ends when nothing has it open. Make it with migratePersistentStore.")
    }
    try SQLiteStore.makeFile(at: path, from: copy, modelCache: opening.modelCache)
  }

  func makeInMemory(_ opening: StoreOpening, from copy: StoreCopy) throws -> any Store {
    try SQLiteStore.makeInMemory(
      from: copy, configuration: SQLiteStore.Configuration(opening.description),
      observer: opening.description.observer,
      modelCache: opening.modelCache)
  }

  func migratable(_ opening: StoreOpening) throws -> (any MigratableStore)? {
    try migratableFile(opening.description)
  }

  // MARK: Files

  func path(of description: NSPersistentStoreDescription) throws -> String? {
    try SQLiteStore.path(of: SQLiteStore.Configuration(description))
  }

  func realPath(_ path: String) throws(StoreError) -> String {
    try SQLiteStore.path(of: SQLiteStore.Configuration(location: .file(path: path))) ?? path
  }

  func migratableFile(_ description: NSPersistentStoreDescription) throws -> any MigratableFile {
    SQLiteFile(configuration: try SQLiteStore.Configuration(description))
  }

  func version(ofFileAt path: String, timeout: TimeInterval) throws(StoreError) -> any StoredVersion {
    try SQLiteStore.inspection(
      SQLiteStore.Configuration(location: .file(path: path), busyTimeout: .seconds(timeout)))
  }

  func metadata(
    ofFileAt path: String
  ) throws(StoreError) -> (identifier: String, metadata: StoreMetadata) {
    try SQLiteStore.metadata(ofFileAt: path)
  }

  func setMetadata(_ metadata: StoreMetadata, ofFileAt path: String) throws(StoreError) {
    try SQLiteStore.setMetadata(metadata, ofFileAt: path)
  }

  func copyFile(at path: String, to destination: String) throws(StoreError) {
    try SQLiteStore.copyFile(at: path, to: destination)
  }

  func makeFile(at path: String, from copy: StoreCopy, modelArchive: [UInt8]?) throws(StoreError) {
    try SQLiteStore.makeFile(at: path, from: copy, modelCache: modelArchive.map(ModelArchive.content(of:)))
  }

  func read(fileAt path: String, schema: ResolvedSchema) throws(StoreError) -> any Store {
    try SQLiteStore(
      schema: schema,
      configuration: SQLiteStore.Configuration(
        location: .file(path: path), journalMode: .delete, isReadOnly: true))
  }

  func salvage(
    fileAt path: String, to destination: String, schema: ResolvedSchema, entities: Set<EntityIndex>,
    modelCache: [UInt8]?
  ) throws(StoreError) -> SalvageReport {
    try SQLiteStore.salvage(
      fileAt: path, to: destination, schema: schema, entities: entities, modelCache: modelCache)
  }

  func salvagedModel(
    ofFileAt path: String
  ) throws(StoreError) -> (archive: [UInt8]?, hashes: [String: [UInt8]]) {
    try SQLiteStore.salvagedModel(ofFileAt: path)
  }
}

extension SQLiteStore: FileStore {}
extension StoreReplacement: ReplacedStore {}

/// A store in an SQLite file that is not open.
private struct SQLiteFile: MigratableFile {
  let configuration: SQLiteStore.Configuration

  func path() throws(StoreError) -> String? { try SQLiteStore.path(of: configuration) }

  func version() throws(StoreError) -> (any StoredVersion)? {
    guard let path = try path(), FileManager.default.fileExists(atPath: path) else { return nil }
    return try SQLiteStore.inspection(configuration)
  }

  func survey(
    _ migration: StoreMigration, from source: ResolvedSchema, to destination: ResolvedSchema,
    entities: Set<EntityIndex>
  ) throws(StoreError) -> MigrationSurvey {
    try SQLiteStore.survey(
      migration, from: source, to: destination, entities: entities, configuration: configuration)
  }

  func migrate(
    _ migration: StoreMigration, from source: ResolvedSchema, to destination: ResolvedSchema,
    entities: Set<EntityIndex>, modelCache: [UInt8]?, pace: MigrationPace
  ) throws(StoreError) -> Bool {
    try SQLiteStore.migrate(
      migration, from: source, to: destination, entities: entities, configuration: configuration,
      modelCache: modelCache, pace: pace)
  }

  func survey(of schema: ResolvedSchema) throws(StoreError) -> MigrationSurvey {
    try SQLiteStore.survey(of: schema, configuration: configuration)
  }

  func replacement(
    _ pace: MigrationPace, unless isDone: ([String: [UInt8]]) -> Bool
  ) throws(StoreError) -> (any ReplacedStore)? {
    try StoreReplacement(configuration, pace, unless: isDone)
  }
}

extension SQLiteStore.Configuration {
  /// What a description says.
  ///
  /// - Throws: ``ManagedObjectError`` for a description that names no SQLite store, or has an option that is not possible.
  fileprivate init(_ description: NSPersistentStoreDescription) throws {
    let location = try Self.location(of: description)
    var pragmas = description.sqlitePragmas
    for (name, value) in description.options[NSSQLitePragmasOption] as? [String: Any] ?? [:] {
      pragmas[name] = "\(value)"
    }
    let journal = pragmas.removeValue(forKey: "journal_mode")?.uppercased() ?? "WAL"
    guard let mode = JournalMode(rawValue: journal) else {
      throw ManagedObjectError(
        .noStore, "The journal mode \"\(journal)\" is not supported; use WAL or DELETE.")
    }
    let vfs = description.options[CDESQLiteVFSOption]
    guard vfs == nil || vfs is String else {
      throw ManagedObjectError(
        .noStore, "The option CDESQLiteVFSOption has to be a string, the name of a file system of SQLite's.")
    }
    self.init(
      location: location, journalMode: mode, isReadOnly: description.isReadOnly,
      busyTimeout: .seconds(description.timeout), pragmas: pragmas, vfs: vfs as? String)
    tracksHistory = description.isSet(NSPersistentHistoryTrackingKey)
    vacuumsWhenOpened = description.isSet(NSSQLiteManualVacuumOption)
    analyzesWhenOpened = description.isSet(NSSQLiteAnalyzeOption)
  }

  private static func location(of description: NSPersistentStoreDescription) throws -> Location {
    if description.type == NSInMemoryStoreType || description.url?.path == "/dev/null" {
      return .inMemory(name: UUID().uuidString)
    }
    guard description.type == NSSQLiteStoreType else {
      throw ManagedObjectError(
        .invalidStoreType,
        "There is no store type \"\(description.type)\". Use NSSQLiteStoreType or NSInMemoryStoreType.")
    }
    guard let url = description.url, url.isFileURL else {
      throw ManagedObjectError(.noStore, "The store's description has no file URL. Set its url.")
    }
    return .file(path: url.path)
  }
}
