#if PostgreSQL
  @_spi(CDE) internal import CDESQL
  @_spi(CDE) public import CDEStore

  /// A store on a server that is not open, as a migration sees it.
  ///
  /// A migration is one transaction of the server. It waits until no connection of any machine uses the store.
  public struct PostgreSQLMigratableStore: MigratableStore, Sendable {
    private let configuration: PostgreSQLConfiguration

    /// Always true.
    public var holdsWholeModel: Bool { true }

    /// Makes a value that describes the store of a configuration. Does not connect.
    ///
    /// - Parameter configuration: how the server is reached. ``PostgreSQLConfiguration/lockTimeout`` is how long a migration waits for
    ///   others to close the store.
    public init(_ configuration: PostgreSQLConfiguration) { self.configuration = configuration }

    /// Reads which version of the model the store has. Nothing changes, and a migration that runs is not waited for.
    ///
    /// - Returns: nil if the server's schema contains no store.
    /// - Throws: `.cannotOpen` if the server can't be reached, `.unreadable`, `.busy` and so on.
    public func version() throws(StoreError) -> (any StoredVersion)? {
      let connection = try Connection(ConnectionOptions(configuration), configuration)
      try connection.execute(
        "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", while: "Reading the version of the store")
      defer { connection.rollBack() }
      guard try StoreCreator.exists(in: configuration.schema, on: connection) else { return nil }
      return try PostgreSQLVersion(reading: connection)
    }

    /// Reads the store's UUID and metadata. Nothing changes, and a migration that runs is not waited for.
    ///
    /// - Throws: `.cannotOpen` if the server can't be reached, or has no store in the schema; `.unreadable`, `.busy` and so on.
    public func metadata() throws(StoreError) -> (identifier: String, metadata: StoreMetadata) {
      let connection = try Connection(ConnectionOptions(configuration), configuration)
      guard try StoreCreator.exists(in: configuration.schema, on: connection) else {
        throw StoreError(
          .cannotOpen,
          "The schema \"\(configuration.schema)\" of the server has no store. Open it once to make one.")
      }
      return try MetadataTable.read(connection)
    }

    /// Finds out what a migration would do, and what stands in its way. Changes nothing.
    ///
    /// - Throws: `.incompatibleSchema` if the store is not one of the old schema, `.invalidSchema` for a new schema that this engine
    ///   refuses, `.busy` and so on.
    public func survey(
      _ migration: StoreMigration, from source: ResolvedSchema, to destination: ResolvedSchema,
      entities: Set<EntityIndex>
    ) throws(StoreError) -> MigrationSurvey {
      try StoreMigrator(
        migration: migration, source: source, destination: destination, configuration: configuration,
        modelCache: nil, pace: .unwatched()
      ).survey()
    }

    /// Migrates the store in one transaction. If that fails, or the connection is lost, the store is as before.
    ///
    /// Waits up to ``PostgreSQLConfiguration/lockTimeout`` until no connection uses the store. The store has all entities of the new
    /// schema afterwards, the same UUID, row versions and metadata of the application, and the numbers of a new store. Tables that
    /// are written anew keep their owner and rights.
    ///
    /// - Returns: false if another process has migrated the store meanwhile.
    /// - Throws: `.migration` with the obstacles, `.busy` if the store stays in use, `.cancelled`, `.readOnly` for a role that does
    ///   not own the tables and for triggers of others, `.io`, `.full` and so on. `.unknownOutcome` if the connection was lost during
    ///   the commit and the server does not answer; opening the store again tells.
    @discardableResult public func migrate(
      _ migration: StoreMigration, from source: ResolvedSchema, to destination: ResolvedSchema,
      entities: Set<EntityIndex>, modelCache: [UInt8]?, pace: MigrationPace
    ) throws(StoreError) -> Bool {
      try StoreMigrator(
        migration: migration, source: source, destination: destination, configuration: configuration,
        modelCache: modelCache, pace: pace
      ).run()
    }

    /// Finds out what is in a store that code migrates. Changes nothing, and counts rows.
    ///
    /// - Throws: as ``survey(_:from:to:entities:)``.
    public func survey(of schema: ResolvedSchema) throws(StoreError) -> MigrationSurvey {
      try StoreMigrator.survey(schema, configuration)
    }

    /// Locks the store for a migration by code, which works on a copy. Waits up to ``PostgreSQLConfiguration/lockTimeout`` until no
    /// connection uses the store.
    ///
    /// The result has a connection in an open transaction, from the lock to the commit. The code runs in between, so the server must
    /// let a transaction stand as long as that takes.
    ///
    /// - Returns: nil if another process has migrated the store meanwhile.
    /// - Throws: `.busy` if the store stays in use, `.readOnly` for triggers of others, `.cancelled`, `.incompatibleSchema` and so on.
    public func locked(
      from source: ResolvedSchema, to destination: ResolvedSchema, pace: MigrationPace
    ) throws(StoreError) -> (any LockedStore)? {
      try LockedServerStore(from: source, to: destination, configuration: configuration, pace: pace)
    }
  }
#endif
