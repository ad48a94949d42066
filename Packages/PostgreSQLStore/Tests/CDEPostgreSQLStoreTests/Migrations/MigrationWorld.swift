#if PostgreSQL
  @testable import CDEPostgreSQLStore
  @_spi(CDE) import CDESQL
  @_spi(CDE) import CDESQLiteFaults
  @_spi(CDE) import CDESQLiteStore
  @_spi(CDE) import CDEStore
  @_spi(CDE) import CDEStoreTestKit
  import Foundation
  import Testing

  /// The same store on a server and in a file, to be migrated alike.
  struct MigrationWorld {
    let place = TestSchema()
    let file = ProcessFolder.newURL().path
    var history = false

    var server: PostgreSQLConfiguration {
      var configuration = place.configuration()
      configuration.tracksHistory = history
      configuration.modelCache = { Array("old model".utf8) }
      return configuration
    }

    var local: SQLiteStore.Configuration {
      var configuration = SQLiteStore.Configuration(location: .file(path: file))
      configuration.tracksHistory = history
      return configuration
    }

    func openServer(_ schema: ResolvedSchema) throws -> PostgreSQLStore {
      try PostgreSQLStore(schema: schema, configuration: server)
    }

    func openFile(_ schema: ResolvedSchema) throws -> SQLiteStore {
      try SQLiteStore(schema: schema, configuration: local)
    }

    /// Does the same in both stores, and closes them.
    func fill(_ schema: ResolvedSchema, _ body: (any Store) throws -> Void) throws {
      let (server, file) = (try openServer(schema), try openFile(schema))
      try body(server)
      try body(file)
      try server.close()
      try file.close()
    }

    var migratable: PostgreSQLMigratableStore { PostgreSQLMigratableStore(server) }

    /// Migrates the server's store.
    @discardableResult
    func migrateServer(_ change: SchemaChange, pace: MigrationPace = .unwatched()) throws(StoreError) -> Bool
    {
      try migratable.migrate(
        change.migration, from: change.old, to: change.new, entities: Set(change.new.entities.indices),
        modelCache: Array("new model".utf8), pace: pace)
    }

    func migrateFile(_ change: SchemaChange) throws(StoreError) {
      try SQLiteStore.migrate(
        change.migration, from: change.old, to: change.new, entities: Set(change.new.entities.indices),
        configuration: local, modelCache: nil)
    }

    /// Migrates both stores, and expects the same rows, pairs and orders in them.
    func expectAgreement(_ change: SchemaChange, _ source: SourceLocation = #_sourceLocation) throws {
      try migrateServer(change)
      try migrateFile(change)
      let (server, file) = (try openServer(change.new), try openFile(change.new))
      #expect(try Facts.of(server) == Facts.of(file), sourceLocation: source)
      try server.close()
      try file.close()
      try expectNewLayout(change.new, source)
    }

    /// Expects the tables, columns, indexes and constraints of a new store.
    func expectNewLayout(_ schema: ResolvedSchema, _ source: SourceLocation = #_sourceLocation) throws {
      let other = TestSchema()
      _ = try PostgreSQLStore(schema: schema, configuration: other.configuration())
      #expect(try Self.layout(place) == Self.layout(other), sourceLocation: source)
    }

    private static func layout(_ place: TestSchema) throws -> [String] {
      try place.connection().texts(
        """
        SELECT c.relname || '.' || a.attname || ' ' || format_type(a.atttypid, NULL) FROM pg_class c \
        JOIN pg_attribute a ON a.attrelid = c.oid WHERE c.relnamespace = current_schema()::regnamespace AND a.attnum > 0 \
        AND c.relkind = 'r' UNION ALL SELECT replace(indexdef, quote_ident(schemaname), '') FROM pg_indexes \
        WHERE schemaname = current_schema() UNION ALL SELECT conname || ' ' || condeferred FROM pg_constraint \
        WHERE connamespace = current_schema()::regnamespace \
        UNION ALL SELECT "Z_ENT" || ' ' || "Z_NAME" || ' ' || "Z_SUPER" FROM "Z_PRIMARYKEY" ORDER BY 1
        """)
    }

    /// Everything in the server's schema, rows included, without what openings leave.
    func contents() throws -> [String] {
      let connection = try place.connection()
      var result = try Self.layout(place)
      for table in try connection.texts(
        "SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema() AND tablename <> 'Z_TOKEN' ORDER BY 1"
      ) {
        result += try connection.texts("SELECT '\(table) ' || t::text FROM \(quoted(table)) AS t ORDER BY 1")
      }
      return result
    }
  }

  /// Two versions of a schema, and how they belong together.
  struct SchemaChange {
    let old: ResolvedSchema
    let new: ResolvedSchema
    let migration: StoreMigration

    /// - Parameters:
    ///   - entities: the old names of renamed entities.
    ///   - properties: the old names of renamed properties, by `Entity.property`.
    ///   - defaults: the default values of attributes, by `Entity.property`.
    init(
      _ old: [StoreEntity], _ new: [StoreEntity], entities: [String: String] = [:],
      properties: [String: String] = [:], defaults: [String: [StoreValue]] = [:]
    ) throws {
      self.old = try Self.versioned(old)
      self.new = try Self.versioned(new)
      let before = self.old
      migration = StoreMigration(
        entities: self.new.entities.compactMap { entity in
          let name = entity.source.name
          guard let source = before.entity(named: entities[name] ?? name) else { return nil }
          var result: [String: StoreMigration.Property] = [:]
          for property in entity.layout.properties where !property.isTransient {
            let path = "\(name).\(property.name)"
            let wanted = properties[path] ?? property.name
            let found = source.layout.property(named: wanted)
            var values = defaults[path] ?? []
            if case .attribute = property.kind, values.isEmpty { values = [.null] }
            result[property.name] = .init(source: found == nil ? nil : wanted, defaults: values)
          }
          return .init(source: source.source.name, destination: name, properties: result)
        })
    }

    /// Entities whose version hash tells what they are.
    static func versioned(_ entities: [StoreEntity]) throws -> ResolvedSchema {
      try ResolvedSchema(
        StoreSchema(
          entities: entities.map { entity in
            var entity = entity
            entity.versionHash = []
            entity.versionHash = SHA256.hash(Array("\(entity)".utf8))
            return entity
          }))
    }
  }

  /// All rows of a store as text, with the members of to-many relationships.
  struct Facts: Equatable {
    var rows: [String: [String: String]] = [:]

    static func of(_ store: any Store) throws -> Facts {
      var result = Facts()
      for root in store.schema.entities where root.isRoot {
        let found = try store.fetch(StoreQuery(entity: root.index), isKnown: nil)
        for batch in found.batches {
          let entity = store.schema.entities[batch.layout.entity]
          for row in 0..<batch.count {
            var facts = store.describe(batch, row)
            for property in entity.layout.properties where !property.isTransient {
              guard case .toMany(let relationship) = property.kind else { continue }
              let related = try store.related(
                entity: entity.index, slot: property.slot, owners: [batch.key(row)], isKnown: nil)
              let keys = related.entries.map(\.key)
              facts[property.name] = (relationship.isOrdered ? keys : keys.sorted()).description
            }
            result.rows["\(root.source.name) \(batch.key(row))"] = facts
          }
        }
      }
      return result
    }
  }
#endif
