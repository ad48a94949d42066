#if PostgreSQL
  @_spi(CDE) internal import CDESQL
  internal import CDEStore
  internal import Foundation

  /// Creates the tables of a store, all or none.
  struct StoreCreator {
    let schema: ResolvedSchema
    let configuration: PostgreSQLConfiguration

    /// Creates the store, unless another process has done so meanwhile.
    ///
    /// - Throws: `.invalidSchema` before anything is sent; `.readOnly` for a role without the right to create tables.
    func create(on connection: Connection) throws(StoreError) {
      let task = "Creating the store"
      let physical = PhysicalSchema.onServer(schema, numbers: PhysicalSchema.newNumbers(of: schema))
      let definitions =
        PhysicalSchema.Bookkeeping.allCases.map(\.createStatement) + (try physical.definitions().map(\.sql))
      try connection.inTransaction { () throws(StoreError) in
        // Two transactions that create one table at the same time fail with a message about the catalogue. The lock ends with
        // the transaction. Each statement sees what was committed before it, so the second process then finds the tables.
        var parameters = Parameters()
        parameters.append("CoreDataEvolution store in " + configuration.schema)
        _ = try connection.run(
          "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", parameters, while: task)
        guard try !Self.exists(in: configuration.schema, on: connection) else { return }
        let schemaExists = try Self.find(
          "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1)", configuration.schema, on: connection)
        if !schemaExists {
          try connection.execute("CREATE SCHEMA \(quoted(configuration.schema))", while: task)
        }
        try connection.execute(definitions.joined(separator: ";\n"), while: task)
        try EntityTable.insert(physical, on: connection, while: task)
        try MetadataTable.insert(
          identifier: UUID().uuidString, MetadataTable.initial(for: schema), on: connection)
        if let model = configuration.modelCache?() {
          try MetadataTable.insert(modelCache: model, on: connection)
        }
      }
    }

    /// Whether a schema of the server contains a store.
    ///
    /// Reads the catalogue's tables. A look-up by the search path would not see a schema that another process has created since
    /// this transaction began.
    static func exists(in schema: String, on connection: Connection) throws(StoreError) -> Bool {
      try find(
        "SELECT EXISTS (SELECT FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace "
          + "WHERE nspname = $1 AND relname = 'Z_METADATA')", schema, on: connection)
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
