#if PostgreSQL
  @_spi(CDE) internal import CDESQL
  internal import CDEStore
  internal import Foundation

  /// Creates the tables of a store, all or none.
  struct StoreCreator {
    let schema: ResolvedSchema
    let configuration: PostgreSQLConfiguration

    private static let task = "Creating the store"

    /// Creates the store, unless another process has done so meanwhile.
    ///
    /// - Throws: `.invalidSchema` before anything is sent; `.readOnly` for a role without the right to create tables.
    func create(on connection: Connection) throws(StoreError) {
      let physical = PhysicalSchema.onServer(schema, numbers: PhysicalSchema.newNumbers(of: schema))
      let definitions = try physical.definitions().map(\.sql)
      try inTransaction(connection) { () throws(StoreError) in
        try connection.execute(definitions.joined(separator: ";\n"), while: Self.task)
        try EntityTable.insert(physical, on: connection, while: Self.task)
        try MetadataTable.insert(
          identifier: UUID().uuidString, MetadataTable.initial(for: schema), on: connection)
      }
    }

    /// Creates the store with everything that another store has.
    ///
    /// - Throws: `.cannotOpen` if there is a store already, and the errors of ``create(on:)`` and of writing rows.
    func create(from copy: StoreCopy, on connection: Connection) throws(StoreError) {
      let physical = PhysicalSchema.onServer(schema, numbers: PhysicalSchema.newNumbers(of: schema))
      let isMade = try inTransaction(connection) { () throws(StoreError) in
        try StoreFiller(physical, connection).fill(from: copy)
        try EntityTable.insert(
          physical, lastKeys: try EntityTable.lastKeys(physical, atLeast: copy.lastKeys, on: connection),
          on: connection, while: Self.task)
        let metadata = copy.metadata.joined(toOwnOf: MetadataTable.initial(for: schema))
        try MetadataTable.insert(identifier: copy.identifier, metadata, on: connection)
      }
      if isMade { return }
      throw StoreError(
        .cannotOpen,
        "The server's schema \(configuration.schema) has a store already. Name another schema, or drop this one."
      )
    }

    /// Makes the schema and the tables that every store has, and runs a body.
    ///
    /// - Returns: whether there was no store.
    @discardableResult private func inTransaction(
      _ connection: Connection, _ body: () throws(StoreError) -> Void
    ) throws(StoreError) -> Bool {
      try connection.inTransaction { () throws(StoreError) in
        // Two transactions that create one table at the same time fail with a message about the catalogue. The lock ends with
        // the transaction. Each statement sees what was committed before it, so the second process then finds the tables.
        var parameters = Parameters()
        parameters.append("CoreDataEvolution store in " + configuration.schema)
        _ = try connection.run(
          "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", parameters, while: Self.task)
        guard try !Self.exists(in: configuration.schema, on: connection) else { return false }
        let schemaExists = try Self.find(
          "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1)", configuration.schema, on: connection)
        if !schemaExists {
          try connection.execute("CREATE SCHEMA \(quoted(configuration.schema))", while: Self.task)
        }
        let tables = PhysicalSchema.Bookkeeping.allCases.map(\.createStatement)
        try connection.execute(tables.joined(separator: ";\n"), while: Self.task)
        try body()
        if let model = configuration.modelCache?() {
          try MetadataTable.insert(modelCache: model, on: connection)
        }
        return true
      }
    }

    /// Whether a schema of the server contains a store.
    ///
    /// Reads the catalogue's tables. A look-up by the search path would not see a schema that another process has created since
    /// this transaction began. Both names are looked up in an index, because each store of the database has such a table.
    static func exists(in schema: String, on connection: Connection) throws(StoreError) -> Bool {
      try find(
        "SELECT EXISTS (SELECT FROM pg_class WHERE relname = 'Z_METADATA' "
          + "AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1))", schema, on: connection)
    }

    private static func find(
      _ sql: String, _ schema: String, on connection: Connection
    ) throws(StoreError) -> Bool {
      var parameters = Parameters()
      parameters.append(schema)
      let rows = try connection.run(sql, parameters, while: "Looking for the store")
      return rows.boolean(0, 0)
    }
  }
#endif
