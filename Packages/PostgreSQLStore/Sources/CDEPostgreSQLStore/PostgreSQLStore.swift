#if PostgreSQL
  @_spi(CDE) internal import CDESQL
  @_spi(CDE) internal import CDEExecutors
  public import CDEStore

  /// A store of rows in a schema of a PostgreSQL server.
  ///
  /// Calls are synchronous, may come from any thread, and run on it: each takes a connection of the pool, and waits for one if all
  /// are in use. `Docs/Decisions/0018-postgresql-store.md` describes the design.
  public final class PostgreSQLStore: Sendable {
    /// The schema of the rows.
    public let schema: ResolvedSchema
    /// The store's UUID, in upper case.
    public let identifier: String
    /// Whether writing calls throw `.readOnly`.
    public var isReadOnly: Bool { configuration.isReadOnly }

    let configuration: PostgreSQLConfiguration
    let pool: ConnectionPool
    let plans: SchemaPlans
    let commits: StoreCommits
    let observer = Lock<CommitObserver?>(nil)

    var physical: PhysicalSchema { plans.physical }

    /// Opens a store, and creates it if the server's schema has none.
    ///
    /// Blocks until the server has answered. Several processes may open a new store at the same time: one of them creates it.
    ///
    /// - Parameters:
    ///   - schema: the entities.
    ///   - configuration: how the server is reached.
    /// - Throws: `.invalidSchema`, `.cannotOpen` if the server can't be reached, `.incompatibleSchema` if the store was made with
    ///   other entities, `.readOnly` if the role may not create tables, `.busy`, `.unreadable` and so on.
    public convenience init(schema: StoreSchema, configuration: PostgreSQLConfiguration) throws(StoreError) {
      let resolved: ResolvedSchema
      do { resolved = try ResolvedSchema(schema) } catch let error as StoreError { throw error } catch {
        throw StoreError(.invalidSchema, "The schema can't be resolved.", cause: error)
      }
      try self.init(schema: resolved, configuration: configuration)
    }

    /// The same as ``init(schema:configuration:)`` for a schema that was resolved before. Rows have its layouts.
    ///
    /// - Parameters:
    ///   - resolved: the entities.
    ///   - configuration: how the server is reached.
    public init(schema resolved: ResolvedSchema, configuration: PostgreSQLConfiguration) throws(StoreError) {
      try StoreOpener.check(resolved, configuration)
      let pool = try ConnectionPool(configuration)
      let opened = try pool.withConnection { (connection) throws(StoreError) in
        try StoreOpener(schema: resolved, configuration: configuration).open(on: connection)
      }
      self.schema = resolved
      self.configuration = configuration
      self.pool = pool
      plans = SchemaPlans(opened.physical)
      commits = StoreCommits(plans, pool, configuration, channel: CommitObserver.channel(configuration))
      identifier = opened.identifier
    }

    /// The state of the store's connections. Costs one lock, and does not ask the server.
    public func statistics() -> PostgreSQLStatistics { pool.statistics }

    /// Reads the current metadata. Another process may have changed them.
    ///
    /// - Throws: `.unreadable` for a damaged table, `.busy`, `.closed` and so on.
    public func metadata() throws(StoreError) -> StoreMetadata {
      try pool.withConnection { (connection) throws(StoreError) in try MetadataTable.read(connection).metadata
      }
    }

    /// Replaces the metadata, except for the keys that describe the store itself.
    ///
    /// - Throws: `.readOnly`, `.busy`, `.full`, `.closed` and so on. `.unknownOutcome` if the connection was lost during the commit;
    ///   the call can be repeated.
    public func setMetadata(_ metadata: StoreMetadata) throws(StoreError) {
      try requireWritable()
      try pool.withConnection { (connection) throws(StoreError) in
        try connection.inTransaction { () throws(StoreError) in
          try MetadataTable.replace(metadata, on: connection)
        }
      }
    }

    /// The copy of the model that the store was created with, as ``PostgreSQLConfiguration/modelCache`` gave it; `nil` without one.
    ///
    /// - Throws: `.busy`, `.closed` and so on.
    public func modelCache() throws(StoreError) -> [UInt8]? {
      try pool.withConnection { (connection) throws(StoreError) in try MetadataTable.modelCache(connection) }
    }

    /// Closes idle connections at once, and the others when their calls have ended. Later calls throw `.closed`.
    public func close() throws(StoreError) {
      observer.withLock { $0 }?.stop()
      pool.close()
    }

    deinit { observer.withLock { $0 }?.stop() }

    func requireWritable() throws(StoreError) {
      if isReadOnly {
        throw StoreError(
          .readOnly,
          "The store was opened for reading only. Set isReadOnly of the configuration to false to write.")
      }
    }
  }
#endif
