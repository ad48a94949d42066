@_spi(CDE) internal import CDESQLiteStore
internal import CDEStore

/// The engine of SQLite stores, in files and in memory.
struct SQLiteEngine: StoreEngine {
  func open(_ opening: StoreOpening) throws -> any Store {
    try SQLiteStore(
      schema: opening.schema, entities: opening.entities,
      configuration: try opening.description.storeConfiguration(), observer: opening.description.observer,
      modelCache: opening.makeModelCache)
  }

  func migrate(_ opening: StoreOpening, after refusal: StoreError) throws {
    try opening.migrateFile(refusal)
  }
}
