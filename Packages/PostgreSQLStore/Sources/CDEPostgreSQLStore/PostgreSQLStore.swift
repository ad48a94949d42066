#if PostgreSQL
  @_spi(CDE) internal import CDESQL
  @_spi(CDE) internal import CDEExecutors
  @_spi(CDE) public import CDEStore

  /// A store of rows in a schema of a PostgreSQL server.
  ///
  /// Calls are synchronous, may come from any thread, and run on it: each takes a connection of the pool, and waits for one if all
  /// are in use. `Docs/Decisions/0018-postgresql-store.md` describes the design.
  public final class PostgreSQLStore: Sendable {
    /// The schema of the rows.
    public let schema: ResolvedSchema
    /// The store's UUID, in upper case.
    public let identifier: String
    /// The metadata that were read when the store was opened.
    public let openedMetadata: StoreMetadata?
    /// Whether writing calls throw `.readOnly`.
    ///
    /// True for a store with a history that was opened without ``PostgreSQLConfiguration/tracksHistory``, too: the history would lack
    /// what is written.
    public let isReadOnly: Bool

    /// Always true.
    public var mayWaitForNetwork: Bool { true }

    let configuration: PostgreSQLConfiguration
    let pool: ConnectionPool
    let plans: SchemaPlans
    let commits: StoreCommits
    let observer = Lock<CommitObserver?>(nil)
    /// Gets the requests and their statements; nil, as a rule, which costs nothing.
    private let statementObserver: (any StatementObserver)?
    /// Held by the batch of this store that has its turn among all machines, or waits for it. Each has a connection beyond the pool's.
    let turns = Lock(())

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
      try self.init(schema: ResolvedSchema(schema), configuration: configuration)
    }

    /// The same as ``init(schema:configuration:)`` for a schema that was resolved before. Rows have its layouts.
    ///
    /// - Parameters:
    ///   - resolved: the entities.
    ///   - configuration: how the server is reached.
    public convenience init(
      schema resolved: ResolvedSchema, configuration: PostgreSQLConfiguration
    ) throws(StoreError) {
      try self.init(schema: resolved, configuration: configuration, observer: nil)
    }

    /// The same as ``init(schema:configuration:)``, with an observer of the later requests.
    @_spi(CDE) public init(
      schema resolved: ResolvedSchema, configuration: PostgreSQLConfiguration,
      observer: (any StatementObserver)?
    ) throws(StoreError) {
      try StoreOpener.check(resolved, configuration)
      let pool = try ConnectionPool(configuration)
      let (opened, agreement) = try pool.withConnection { (connection) throws(StoreError) in
        let opened = try StoreOpener(schema: resolved, configuration: configuration).open(on: connection)
        return (opened, try StoreAgreement(reading: connection))
      }
      pool.compareConnections { (connection) throws(StoreError) in try agreement.check(connection) }
      self.schema = resolved
      self.configuration = configuration
      statementObserver = observer
      self.pool = pool
      plans = SchemaPlans(opened.physical)
      commits = try StoreCommits(
        plans, pool, configuration, channel: CommitObserver.channel(configuration))
      identifier = opened.identifier
      openedMetadata = opened.metadata
      isReadOnly = configuration.isReadOnly || opened.hasHistory && !configuration.tracksHistory
    }

    /// The store as another one has it, read through a pool that keeps a state.
    private init(
      _ store: PostgreSQLStore, readingThrough pool: ConnectionPool, asOf last: UInt64
    ) throws(StoreError) {
      schema = store.schema
      identifier = store.identifier
      openedMetadata = store.openedMetadata
      statementObserver = store.statementObserver
      isReadOnly = true
      configuration = store.configuration
      self.pool = pool
      plans = store.plans
      commits = try StoreCommits(
        plans, pool, configuration, channel: CommitObserver.channel(configuration), last: last)
    }

    /// A store that is read through a connection of the caller's, in the caller's transaction.
    init(
      reading physical: PhysicalSchema, identifier: String, configuration: PostgreSQLConfiguration,
      through connection: Connection
    ) throws(StoreError) {
      schema = physical.schema
      statementObserver = nil
      self.identifier = identifier
      openedMetadata = nil
      isReadOnly = true
      self.configuration = configuration
      pool = try ConnectionPool(configuration).pinned(on: connection)
      plans = SchemaPlans(physical)
      commits = try StoreCommits(
        plans, pool, configuration, channel: CommitObserver.channel(configuration))
    }

    /// The store as it is now, for reading, whatever is committed later.
    ///
    /// The result has a connection of its own, beyond the pool's, in an open transaction. Its reads run one after the other. While it
    /// exists, the server keeps old versions of changed rows, so it should not live for hours. If its connection is lost, its reads
    /// throw `.io`. Closing the store does not end it.
    ///
    /// - Throws: `.closed` and the errors of connecting.
    public func pinned() throws(StoreError) -> (any Store)? {
      let last = commits.lastCommit
      return try PostgreSQLStore(self, readingThrough: try pool.pinned(), asOf: last)
    }

    /// The state of the store's connections. Costs one lock, and does not ask the server.
    public func statistics() -> PostgreSQLStatistics { pool.statistics }

    /// Reads the current metadata. Another process may have changed them.
    ///
    /// - Throws: `.unreadable` for a damaged table, `.busy`, `.closed` and so on.
    public func metadata() throws(StoreError) -> StoreMetadata {
      try request(.upkeep) { (connection) throws(StoreError) in try MetadataTable.read(connection).metadata }
    }

    /// Replaces the metadata, except for the keys that describe the store itself.
    ///
    /// - Throws: `.readOnly`, `.busy`, `.full`, `.closed` and so on. `.unknownOutcome` if the connection was lost during the commit;
    ///   the call can be repeated.
    public func setMetadata(_ metadata: StoreMetadata) throws(StoreError) {
      try requireWritable()
      try request(.upkeep) { (connection) throws(StoreError) in
        try connection.inTransaction { () throws(StoreError) in
          try MetadataTable.replace(metadata, on: connection)
        }
      }
    }

    /// The copy of the model that the store was created with, as ``PostgreSQLConfiguration/modelCache`` gave it; `nil` without one.
    ///
    /// - Throws: `.busy`, `.closed` and so on.
    public func modelCache() throws(StoreError) -> [UInt8]? {
      try request(.upkeep) { (connection) throws(StoreError) in try MetadataTable.modelCache(connection) }
    }

    /// Closes idle connections at once, and the others when their calls have ended. Later calls throw `.closed`.
    public func close() throws(StoreError) {
      observer.withLock { $0 }?.stop()
      pool.close()
    }

    deinit { observer.withLock { $0 }?.stop() }

    /// Runs a request, and reports it to the observer if there is one.
    ///
    /// - Parameter body: gets the collector for its connections. All of them belong to the one request.
    @inline(__always)
    func observing<Result>(
      _ kind: ObservedRequest.Kind, _ body: (StatementCollector?) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
      guard let statementObserver else { return try body(nil) }
      let collector = StatementCollector(statementObserver)
      collector.begin()
      defer { collector.end(kind) }
      return try body(collector)
    }

    /// Runs a request on a connection of the pool.
    func request<Result>(
      _ kind: ObservedRequest.Kind, _ body: (Connection) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
      try observing(kind) { (collector) throws(StoreError) in
        try pool.withConnection(collecting: collector, body)
      }
    }

    func requireWritable() throws(StoreError) {
      if isReadOnly {
        throw StoreError(
          .readOnly,
          "The store is open for reading only. "
            + (configuration.isReadOnly
              ? "Open it with isReadOnly set to false to write."
              : "It has a history, and was opened without NSPersistentHistoryTrackingKey (tracksHistory). Set the option to write.")
        )
      }
    }
  }
#endif
