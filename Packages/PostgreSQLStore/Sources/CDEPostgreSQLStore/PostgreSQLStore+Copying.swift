#if PostgreSQL
  @_spi(CDE) internal import CDESQL
  @_spi(CDE) public import CDEStore

  extension PostgreSQLStore {
    /// For each root the last key that was given to a row, or that was assigned in advance. Costs one round trip.
    ///
    /// - Throws: `.busy`, `.io`, `.closed` and so on.
    public func lastKeys() throws(StoreError) -> [RootIndex: Int64] {
      try request(.upkeep) { (connection) throws(StoreError) in
        try EntityTable.lastKeys(physical, on: connection)
      }
    }

    /// Makes a store with everything that another store has: rows with their keys and versions, UUID and metadata.
    ///
    /// The other store may belong to another engine. The new one is made in one transaction: if the call fails, there is none. Its
    /// history begins anew. Costs one round trip for some thousand rows.
    ///
    /// - Parameters:
    ///   - configuration: how the server is reached, and the schema that gets the store. ``PostgreSQLConfiguration/modelCache`` gives
    ///     the copy of the model.
    ///   - copy: the other store. Its schema becomes that of the new one.
    /// - Throws: `.cannotOpen` if the server's schema has a store; `.invalidValue` for a value that the server can't store, with its
    ///   attribute; `.readOnly` for a role that may not create tables; `.cancelled`, `.full`, `.io` and so on. `.unknownOutcome` if the
    ///   connection was lost during the commit.
    public static func make(
      _ configuration: PostgreSQLConfiguration, from copy: StoreCopy
    ) throws(StoreError) {
      let schema = copy.source.schema
      try StoreOpener.check(schema, configuration)
      let connection = try Connection(
        ConnectionOptions(configuration), configuration, joinsUsers: true)
      try connection.execute(
        "SET idle_in_transaction_session_timeout TO 0; SET statement_timeout TO 0", while: "Copying a store")
      try StoreCreator(schema: schema, configuration: configuration).create(from: copy, on: connection)
    }
  }
#endif
