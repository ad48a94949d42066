#if PostgreSQL
  @_spi(CDE) internal import CDESQL
  internal import CDEStore
  internal import Foundation

  /// Migrates a store to another schema, in one transaction: whatever happens, the store is the old one or the new one.
  struct StoreMigrator {
    let migration: StoreMigration
    let source: ResolvedSchema
    let destination: ResolvedSchema
    let configuration: PostgreSQLConfiguration
    let modelCache: [UInt8]?
    let pace: MigrationPace

    static let task = "Migrating the store"

    // MARK: Looking

    func survey() throws(StoreError) -> MigrationSurvey {
      try StoreOpener.check(destination, configuration)
      let connection = try Connection(
        ConnectionOptions(configuration), configuration, joinsUsers: true)
      try connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", while: Self.task)
      defer { connection.rollBack() }
      let (script, now) = try script(MetadataTable.read(connection).metadata, connection)
      let old = script.moves.source
      return try check(script, now, connection).survey(
        fileBytes: try Self.size(of: old.tableNames, connection),
        rewrittenBytes: try Self.size(of: script.renamed.map(\.table), connection))
    }

    /// What is in a store that code migrates, so that the rest is not known.
    static func survey(
      _ schema: ResolvedSchema, _ configuration: PostgreSQLConfiguration
    ) throws(StoreError) -> MigrationSurvey {
      let connection = try Connection(
        ConnectionOptions(configuration), configuration, joinsUsers: true)
      try connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", while: task)
      defer { connection.rollBack() }
      let physical = try StoreOpener(schema: schema, configuration: configuration)
        .places(MetadataTable.read(connection).metadata, on: connection)
      let rows = try MigrationCheck.rows(
        of: physical, { quoted(physical.tableName(of: $0)) }, counting(connection, .unwatched()))
      let size = try size(of: physical.tableNames, connection)
      return MigrationSurvey(
        rows: rows, obstacles: [], rewrittenTables: [], fileBytes: size, rewrittenBytes: size)
    }

    /// The bytes of tables with their indexes.
    private static func size(of tables: [String], _ connection: Connection) throws(StoreError) -> Int {
      var parameters = Parameters()
      parameters.append(texts: tables)
      let rows = try connection.run(
        """
        SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class \
        WHERE relnamespace = \(Catalogue.schema) AND relkind = 'r' AND relname = ANY($1)
        """, parameters, while: "Measuring the tables")
      return Int(rows.integer(0, 0))
    }

    private func script(
      _ metadata: StoreMetadata, _ connection: Connection
    ) throws(StoreError) -> (MigrationScript, now: Double) {
      let old = try StoreOpener(schema: source, configuration: configuration).places(metadata, on: connection)
      let new = PhysicalSchema.onServer(destination, numbers: PhysicalSchema.newNumbers(of: destination))
      let lastKeys = try EntityTable.lastKeys(
        old, atLeast: EntityTable.lastKeys(old, on: connection), on: connection)
      let moves = EntityMoves(migration, from: old, to: new, lastKeys: lastKeys)
      let now = Date().timeIntervalSinceReferenceDate
      return (MigrationScript(moves, PostgreSQLMigrationDialect(), now: now), now)
    }

    private func check(
      _ script: MigrationScript, _ now: Double, _ connection: Connection
    ) -> MigrationCheck {
      MigrationCheck(script, now: now, Self.counting(connection, pace))
    }

    private static func counting(
      _ connection: Connection, _ pace: MigrationPace
    ) -> MigrationCheck.Counting {
      { (piece) throws(StoreError) in
        let statement = PostgreSQLDialect().statement(piece)
        let rows = try connection.run(
          statement.sql, Parameters(statement.bindings), while: "Checking the rows to migrate", asking: pace)
        return Int(rows.integer(0, 0))
      }
    }

    // MARK: Migrating

    /// - Returns: false if another process has migrated the store meanwhile.
    func run() throws(StoreError) -> Bool {
      try StoreOpener.check(destination, configuration)
      let end = try MigrationEnd(destination: destination, configuration: configuration, pace: pace)
      guard let connection = try end.begin() else { return false }
      defer { connection.rollBack() }
      try migrate(connection)
      try pace.check()
      try end.commit(connection)
      return true
    }

    private func migrate(_ connection: Connection) throws(StoreError) {
      let metadata = try MetadataTable.read(connection, isLocked: true).metadata
      let (script, now) = try script(metadata, connection)
      try ForeignParts.refuse(script.renamed.map(\.table), on: connection)
      try adoptStrays(script, connection)
      pace.begin(total: script.totalWeight)
      var obstacles: [MigrationObstacle] = []
      try pace.work(script.checkWeight) { () throws(StoreError) in
        obstacles = try check(script, now, connection).obstacles()
      }
      try MigrationCheck.refuse(obstacles)
      try ScriptRun(script: script, connection: connection, pace: pace).run { () throws(StoreError) in
        try describe(script, metadata, connection)
      }
    }

    /// Gives the rows of tables of one entity the entity's number.
    private func adoptStrays(_ script: MigrationScript, _ connection: Connection) throws(StoreError) {
      for (table, number) in script.strays {
        try connection.execute(
          "UPDATE \(quoted(table)) SET \"Z_ENT\" = \(number) WHERE \"Z_ENT\" <> \(number)",
          while: "Migrating \(table)", asking: pace)
      }
    }

    /// Writes the store's own tables.
    private func describe(
      _ script: MigrationScript, _ metadata: StoreMetadata, _ connection: Connection
    ) throws(StoreError) {
      try HistoryMove(moves: script.moves, connection: connection, pace: pace).run()
      try connection.execute(#"DELETE FROM "Z_PRIMARYKEY""#, while: Self.task)
      try EntityTable.insert(
        script.moves.destination, lastKeys: script.moves.lastKeys, on: connection, while: Self.task)
      try MetadataTable.migrate(metadata, to: destination, on: connection)
      try MetadataTable.replace(modelCache: modelCache, on: connection)
    }
  }
#endif
