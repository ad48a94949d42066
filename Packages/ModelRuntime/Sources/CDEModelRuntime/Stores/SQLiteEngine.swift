@_spi(CDE) internal import CDESQLiteStore
internal import CDEStore
internal import Foundation

/// The engine of SQLite stores, in files and in memory.
struct SQLiteEngine: StoreEngine {
  func open(_ opening: StoreOpening) throws -> any Store {
    try SQLiteStore(
      schema: opening.schema, entities: opening.entities,
      configuration: try opening.description.storeConfiguration(), observer: opening.description.observer,
      modelCache: opening.makeModelCache)
  }

  func make(_ opening: StoreOpening, from copy: StoreCopy) throws {
    guard case .file(let path) = try opening.description.storeConfiguration().location else {
      throw ManagedObjectError(
        .unsupportedRequest, "A store in memory can't be made from another one. Name a file.")
    }
    try SQLiteStore.makeFile(at: path, from: copy, modelCache: opening.modelCache)
  }

  func migratable(_ opening: StoreOpening) throws -> (any MigratableStore)? {
    SQLiteMigratableStore(configuration: try opening.description.storeConfiguration())
  }
}

/// A store in an SQLite file that is not open.
struct SQLiteMigratableStore: MigratableStore {
  let configuration: SQLiteStore.Configuration

  func version() throws(StoreError) -> (any StoredVersion)? {
    guard case .file(let path) = configuration.location, FileManager.default.fileExists(atPath: path) else {
      return nil
    }
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
}
