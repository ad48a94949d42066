#if PostgreSQL
  @_spi(CDE) internal import CDESQL
  @_spi(CDE) internal import CDEStore

  /// What a store says about the model that it was made with.
  struct PostgreSQLVersion: StoredVersion {
    let versionHashes: [String: [UInt8]]
    let modelArchive: [UInt8]?
    let archiveAbsence = "Z_MODELCACHE.Z_CONTENT is damaged or empty"
    let hasHistory: Bool
    private let tables: StoredTables

    init(reading connection: Connection) throws(StoreError) {
      let task = "Reading the version of the store"
      versionHashes = try MetadataTable.read(connection).metadata.versionHashes
      modelArchive = try MetadataTable.modelCache(connection).flatMap(ModelArchive.archive)
      let history = try connection.run(
        #"SELECT EXISTS (SELECT FROM "Z_HISTORY" WHERE "Z_TRANSACTION" > 0)"#, while: task)
      hasHistory = history.boolean(0, 0)
      var numbers: [String: Int64] = [:]
      let entities = try connection.run(#"SELECT "Z_NAME", "Z_ENT" FROM "Z_PRIMARYKEY""#, while: task)
      for row in 0..<entities.count { numbers[entities.text(row, 0) ?? ""] = entities.integer(row, 1) }
      var tables: [String: Set<String>] = [:]
      let columns = try connection.run(
        """
        SELECT c.relname::text, a.attname::text FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid \
        WHERE c.relnamespace = \(Catalogue.schema) AND c.relkind IN ('r', 'p') AND a.attnum > 0 \
        AND NOT a.attisdropped
        """, while: task)
      for row in 0..<columns.count {
        tables[columns.text(row, 0) ?? "", default: []].insert(columns.text(row, 1) ?? "")
      }
      self.tables = StoredTables(numbers: numbers, columns: tables)
    }

    func columnDifferences(from schema: ResolvedSchema, entities: Set<EntityIndex>) -> [String] {
      tables.differences(from: schema, entities: entities, nameLimit: PhysicalSchema.serverNameLimit)
    }
  }
#endif
