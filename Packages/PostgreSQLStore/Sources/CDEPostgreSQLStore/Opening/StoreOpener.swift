#if PostgreSQL
  @_spi(CDE) internal import CDESQL
  internal import CDEStore
  internal import Foundation

  /// Opens the store of a schema on the server: creates it if it is missing, and compares it with the schema.
  struct StoreOpener {
    let schema: ResolvedSchema
    let configuration: PostgreSQLConfiguration

    struct Opened {
      var physical: PhysicalSchema
      var identifier: String
      var metadata: StoreMetadata
      /// Whether a transaction was ever recorded.
      var hasHistory: Bool
    }

    /// - Throws: `.invalidSchema`, `.cannotOpen` for a missing store, `.incompatibleSchema`, `.unreadable` and so on.
    func open(on connection: Connection) throws(StoreError) -> Opened {
      if try !StoreCreator.exists(in: configuration.schema, on: connection) {
        guard configuration.createsIfMissing, !configuration.isReadOnly else {
          throw StoreError(
            .cannotOpen,
            "The server's schema \(configuration.schema) contains no store. Name the right schema, or let the store be created."
          )
        }
        try StoreCreator(schema: schema, configuration: configuration).create(on: connection)
      }
      let (identifier, metadata) = try MetadataTable.read(connection)
      let physical = try places(metadata, on: connection)
      let extent = try HistoryReader(plans: SchemaPlans(physical), connection: connection).extent()
      return Opened(
        physical: physical, identifier: identifier.uppercased(), metadata: metadata,
        hasHistory: extent.last > 0)
    }

    /// Whether the store has the version of the schema.
    func fits(_ metadata: StoreMetadata, on connection: Connection) throws(StoreError) -> Bool {
      do throws(StoreError) {
        _ = try places(metadata, on: connection)
        return true
      } catch {
        if error.code == .incompatibleSchema { return false }
        throw error
      }
    }

    /// The places of the schema's parts in the store, which has them.
    ///
    /// - Throws: `.incompatibleSchema` if it lacks one.
    func places(_ metadata: StoreMetadata, on connection: Connection) throws(StoreError) -> PhysicalSchema {
      try compareHashes(metadata)
      let physical = PhysicalSchema.onServer(schema, numbers: try numbers(on: connection))
      try compareColumns(physical, on: connection)
      return physical
    }

    /// Refuses what can't be stored, before the server is asked.
    static func check(
      _ schema: ResolvedSchema, _ configuration: PostgreSQLConfiguration
    ) throws(StoreError) {
      let name = configuration.schema
      guard !name.isEmpty, name.utf8.count <= PhysicalSchema.serverNameLimit, !name.utf8.contains(0) else {
        throw StoreError(
          .cannotOpen,
          "The name of the server's schema is empty, longer than 63 bytes, or contains a zero byte. Choose another."
        )
      }
      for entity in schema.entities {
        let source = entity.source
        let names =
          [source.name] + entity.layout.properties.map(\.name) + entity.layout.cells.map(\.name)
          + source.indexes.map(\.name)
        guard !names.contains(where: { $0.utf8.contains(0) }) else {
          throw StoreError(
            .invalidSchema,
            "A name in the entity \(source.name) contains a zero byte, which the server refuses. Rename it.",
            entity: source.name)
        }
      }
      _ = try PhysicalSchema.onServer(schema, numbers: PhysicalSchema.newNumbers(of: schema))
        .derivedAttributes()
    }

    private func compareHashes(_ metadata: StoreMetadata) throws(StoreError) {
      let stored = metadata.storedHashes
      if stored.isEmpty { return }
      for entity in schema.entities where !entity.source.versionHash.isEmpty {
        let name = entity.source.name
        guard let hash = stored[name] else { throw incompatible("The store has no entity \(name).", name) }
        if hash != .data(entity.source.versionHash) {
          throw incompatible("The store was made with another version of the entity \(name).", name)
        }
      }
      if schema.entities.contains(where: { $0.source.versionHash.isEmpty }) { return }
      if let name = stored.keys.filter({ schema.entity(named: $0) == nil }).min() {
        throw incompatible("The store has an entity \(name), which the schema lacks.", name)
      }
    }

    private func incompatible(_ reason: String, _ entity: String, _ properties: [String] = []) -> StoreError {
      StoreError(
        .incompatibleSchema, "\(reason) Open it with the model that it was made with, or migrate it.",
        entity: entity,
        properties: properties)
    }

    /// The numbers that the store has given its entities.
    private func numbers(on connection: Connection) throws(StoreError) -> [EntityIndex: Int64] {
      let rows = try connection.run(
        #"SELECT "Z_NAME", "Z_ENT" FROM "Z_PRIMARYKEY""#, while: "Reading the entities of the store")
      var stored: [String: Int64] = [:]
      for row in 0..<rows.count { stored[rows.text(row, 0) ?? ""] = rows.integer(row, 1) }
      var numbers: [EntityIndex: Int64] = [:]
      for entity in schema.entities {
        guard let number = stored[entity.source.name] else {
          throw incompatible("The store has no entity \(entity.source.name).", entity.source.name)
        }
        numbers[entity.index] = number
      }
      return numbers
    }

    /// Makes sure that each expected column exists with its type.
    private func compareColumns(_ physical: PhysicalSchema, on connection: Connection) throws(StoreError) {
      var parameters = Parameters()
      parameters.append(texts: physical.tables.values.map(\.name) + physical.joinTables.map(\.name))
      // The catalogue has a row for each table of the database, of which other schemas may have many thousands. So it is searched by
      // names, which have an index, and the schema is looked up once.
      let rows = try connection.run(
        """
        SELECT c.relname::text, a.attname::text, format_type(a.atttypid, NULL) FROM pg_class c \
        JOIN pg_attribute a ON a.attrelid = c.oid \
        WHERE c.relname = ANY($1) AND c.relnamespace = \(Catalogue.schema) AND c.relkind IN ('r', 'p') \
        AND a.attnum > 0 AND NOT a.attisdropped
        """, parameters, while: "Reading the tables of the store")
      var types: [String: [String: String]] = [:]
      for row in 0..<rows.count {
        types[rows.text(row, 0) ?? "", default: [:]][rows.text(row, 1) ?? ""] = rows.text(row, 2)
      }
      func require(
        _ table: String, _ column: String, _ type: SQLKind, _ entity: String, _ property: String
      )
        throws(StoreError)
      {
        guard let found = types[table]?[column] else {
          throw incompatible("The table \(table) of the store has no column \(column).", entity, [property])
        }
        guard found == type.catalogueName else {
          throw incompatible(
            "The column \(column) of the table \(table) has the type \(found) and not \(type.catalogueName).",
            entity, [property])
        }
      }
      for (root, table) in physical.tables.sorted(by: { $0.key < $1.key }) {
        let name = schema.entities[root.entity].source.name
        for column in ["Z_PK", "Z_ENT", "Z_OPT"] { try require(table.name, column, .integer, name, column) }
        for column in table.columns {
          try require(
            table.name, column.name, SQLKind(column), schema.entities[column.declaringEntity].source.name,
            column.property)
        }
      }
      for table in physical.joinTables {
        let name = schema.entities[table.naming.entity].source.name
        for column in [table.first, table.second, table.firstOrder, table.secondOrder].compactMap({ $0 }) {
          try require(table.name, column, .integer, name, table.naming.property)
        }
      }
    }
  }
#endif
