#if PostgreSQL
  @_spi(CDE) internal import CDESQL
  @_spi(CDE) internal import CDEStore

  /// A store that a migration by code has for itself, in one transaction from the lock to the commit.
  final class LockedServerStore: LockedStore {
    private let end: MigrationEnd
    private let connection: Connection
    private let configuration: PostgreSQLConfiguration
    private let old: PhysicalSchema
    private let identifier: String
    private let metadata: StoreMetadata
    private let pace: MigrationPace

    /// Takes the lock, and looks whether everything may be written anew.
    ///
    /// - Returns: nil if another process has migrated the store meanwhile.
    /// - Throws: `.readOnly` for parts of other programs that would be lost; `.incompatibleSchema` if the store is not one of the old
    ///   schema; the errors of the lock.
    init?(
      from source: ResolvedSchema, to destination: ResolvedSchema, configuration: PostgreSQLConfiguration,
      pace: MigrationPace
    ) throws(StoreError) {
      try StoreOpener.check(destination, configuration)
      end = try MigrationEnd(destination: destination, configuration: configuration, pace: pace)
      guard let connection = try end.begin() else { return nil }
      self.connection = connection
      self.configuration = configuration
      self.pace = pace
      // The transaction waits for the code, which may take long.
      try connection.execute(
        "SET LOCAL idle_in_transaction_session_timeout TO 0", while: StoreMigrator.task)
      (identifier, metadata) = try MetadataTable.read(connection, isLocked: true)
      old = try StoreOpener(schema: source, configuration: configuration).places(metadata, on: connection)
      try ForeignParts.refuse(old.tableNames, on: connection)
    }

    deinit { connection.rollBack() }

    func contents() throws(StoreError) -> StoreCopy {
      let store = try PostgreSQLStore(
        reading: old, identifier: identifier, configuration: configuration, through: connection)
      return try StoreCopy(of: store, pace: pace)
    }

    func replace(with copy: StoreCopy, modelCache: [UInt8]?) throws(StoreError) {
      let schema = copy.source.schema
      let new = PhysicalSchema.onServer(schema, numbers: PhysicalSchema.newNumbers(of: schema))
      let rights = try TableRights(reading: connection)
      let given = try EntityTable.lastKeys(old, on: connection)
      try connection.execute(
        "DROP TABLE \(old.tableNames.sorted().map(quoted).joined(separator: ", "))",
        while: "Removing the old tables",
        asking: pace)
      try StoreFiller(new, connection).fill(from: copy)
      for table in new.tableNames {
        let former = [table, PhysicalSchema.Bookkeeping.primaryKeys.rawValue]
        for statement in rights.statements(for: table, like: former) {
          try connection.execute(statement, while: "Giving rights on \(table)")
        }
      }
      // Names of entities may have changed, so that nothing tells which tree an old key was given in.
      let highest = given.values.max() ?? 0
      var least = copy.lastKeys
      for root in new.tables.keys { least[root] = max(least[root] ?? 0, highest) }
      try connection.execute(
        #"DELETE FROM "Z_PRIMARYKEY"; DELETE FROM "ACHANGE"; DELETE FROM "ATRANSACTION""#,
        while: StoreMigrator.task, asking: pace)
      try EntityTable.insert(
        new, lastKeys: try EntityTable.lastKeys(new, atLeast: least, on: connection), on: connection,
        while: StoreMigrator.task)
      try MetadataTable.migrate(
        copy.metadata.joined(toOwnOf: metadata), to: schema, on: connection)
      if copy.identifier != identifier {
        try MetadataTable.replace(identifier: copy.identifier, on: connection)
      }
      try MetadataTable.replace(modelCache: modelCache, on: connection)
      try pace.check()
      try end.commit(connection)
    }
  }
#endif
