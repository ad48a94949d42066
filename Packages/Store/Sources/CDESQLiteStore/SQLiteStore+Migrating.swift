@_spi(CDE) public import CDEStore

extension SQLiteStore {
  /// The path of the file that a configuration names: absolute, with all symbolic links followed. The file need not exist.
  ///
  /// - Returns: nil for a store in memory.
  /// - Throws: `.cannotOpen` if there can be no file: the links lead to themselves, the path leads through a file, or it has more bytes
  ///   than SQLite opens.
  @_spi(CDE) public static func path(of configuration: Configuration) throws(StoreError) -> String? {
    guard case .file(let path) = configuration.location else { return nil }
    return try FileSystem(named: configuration.vfs).resolved(path)
  }

  /// Reads what is in a file that is not opened as a store. Neither the file nor its folder changes.
  ///
  /// - Parameter configuration: the location, the file system and the busy timeout. The rest is not read.
  /// - Throws: `.cannotOpen` for a missing file, `.unreadable` for a file that is no store, `.busy` and so on.
  public static func inspection(
    _ configuration: Configuration
  ) throws(StoreError) -> StoreInspection {
    let path = try MigrationLock.path(configuration)
    let system = try FileSystem(named: configuration.vfs)
    let found = try StoreFile(at: path, in: system)
    let connection = try StoreInspection.connect(path, configuration)
    let file = try FileContents(reading: connection)
    let files = StoreInspection.Files(
      path: path, size: try StoreFile.size(path), logSize: try StoreFile.size(path + "-wal"),
      pageSize: found.pageSize, usesLog: found.usesLog,
      externalValues: ExternalStorage(storePath: path, files: system).names().count)
    return try StoreInspection(
      file, files, modelArchive: file.hasModelCache ? ModelCacheTable.read(connection) : nil)
  }

  /// Reads what is in a file that is not opened as a store. Neither the file nor its folder changes.
  ///
  /// - Throws: `.cannotOpen` for a missing file, `.unreadable` for a file that is no store, `.busy` and so on.
  public static func inspection(ofFileAt path: String) throws(StoreError) -> StoreInspection {
    try inspection(Configuration(location: .file(path: path)))
  }

  /// Finds out what a migration would do to a store, and what stands in its way. Changes nothing, and counts rows: it takes about
  /// as long as reading the store.
  ///
  /// - Throws: `.incompatibleSchema` if the store is not one of the old schema, `.readOnly` for a store with triggers of other
  ///   programs, `.busy` and so on.
  @_spi(CDE) public static func survey(
    _ migration: StoreMigration, from source: ResolvedSchema, to destination: ResolvedSchema,
    entities: Set<EntityIndex>, configuration: Configuration
  ) throws(StoreError) -> MigrationSurvey {
    try StoreMigrator(
      migration: migration, source: source, destination: destination, held: entities,
      configuration: configuration, modelCache: nil
    ).survey(path: try MigrationLock.path(configuration))
  }

  /// Finds out what is in a store that code migrates. Changes nothing, and counts rows.
  ///
  /// - Returns: rows and sizes. The whole file is written anew.
  /// - Throws: as ``survey(_:from:to:entities:configuration:)``.
  @_spi(CDE) public static func survey(
    of schema: ResolvedSchema, configuration: Configuration
  ) throws(StoreError) -> MigrationSurvey {
    try StoreMigrator.survey(schema, configuration, path: try MigrationLock.path(configuration))
  }

  /// Migrates a store that is not open, in one transaction. If that fails, or the process dies, the store is as before.
  ///
  /// Waits up to the busy timeout until no other connection uses the store. The migrated store has the same UUID, the same keys,
  /// row versions and metadata of the application, and the numbers of a new store.
  ///
  /// - Parameter pace: told how far the migration is; it may end the migration.
  /// - Returns: false if another process has migrated the store meanwhile.
  /// - Throws: `.migration` with the obstacles, `.busy` if the store stays in use, `.cancelled`, `.full`, `.io` and so on.
  @_spi(CDE) @discardableResult public static func migrate(
    _ migration: StoreMigration, from source: ResolvedSchema, to destination: ResolvedSchema,
    entities: Set<EntityIndex>, configuration: Configuration, modelCache: [UInt8]?,
    pace: MigrationPace = .unwatched()
  ) throws(StoreError) -> Bool {
    try StoreMigrator(
      migration: migration, source: source, destination: destination, held: entities,
      configuration: configuration, modelCache: modelCache, pace: pace
    ).run(path: try MigrationLock.path(configuration))
  }
}
