#if PostgreSQL
  @_spi(CDE) internal import CDESQL
  @_spi(CDE) internal import CDEStore

  /// What a store says about the model that it was made with.
  struct PostgreSQLVersion: StoredVersion {
    let versionHashes: [String: [UInt8]]
    let modelArchive: [UInt8]?
    let archiveAbsence = "Z_MODELCACHE.Z_CONTENT is damaged or empty"
    let hasHistory: Bool
    private let numbers: [String: Int64]
    private let tables: [String: Set<String>]

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
      self.numbers = numbers
      var tables: [String: Set<String>] = [:]
      let columns = try connection.run(
        """
        SELECT c.relname::text, a.attname::text FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid \
        WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND a.attnum > 0 \
        AND NOT a.attisdropped
        """, while: task)
      for row in 0..<columns.count {
        tables[columns.text(row, 0) ?? "", default: []].insert(columns.text(row, 1) ?? "")
      }
      self.tables = tables
    }

    func columnDifferences(from schema: ResolvedSchema, entities: Set<EntityIndex>) -> [String] {
      var known: [EntityIndex: Int64] = [:]
      var result: [String] = []
      for index in entities {
        let name = schema.entities[index].source.name
        known[index] = numbers[name]
        if numbers[name] == nil { result.append("Z_PRIMARYKEY has no entity \(name)") }
      }
      for table in PhysicalSchema.onServer(schema, numbers: known).tables.values {
        guard let columns = tables[table.name] else {
          result.append("there is no table \(table.name)")
          continue
        }
        let expected = Set(table.columns.map(\.name) + ["Z_PK", "Z_ENT", "Z_OPT"])
        result += expected.subtracting(columns).map { "\(table.name) has no column \($0)" }
        result += columns.subtracting(expected).map { "\(table.name).\($0) belongs to no property" }
      }
      return result.sorted()
    }
  }
#endif
