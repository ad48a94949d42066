#if PostgreSQL
  @_spi(CDE) internal import CDESQL
  @_spi(CDE) public import CDEStore

  extension PostgreSQLStore {
    /// The statements that make the tables and indexes of an empty store, in order. Does not connect.
    ///
    /// - Parameter schema: the schema of the store.
    /// - Throws: `.invalidSchema` for a schema that this engine refuses.
    @_spi(CDE) public static func definitions(of schema: ResolvedSchema) throws(StoreError) -> [String] {
      let physical = PhysicalSchema.onServer(schema, numbers: PhysicalSchema.newNumbers(of: schema))
      return PhysicalSchema.Bookkeeping.allCases.map(\.createStatement)
        + (try physical.definitions().map(\.sql))
    }
  }
#endif
