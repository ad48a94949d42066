#if PostgreSQL
  @_spi(CDE) internal import CDESQL
  @_spi(CDE) internal import CDEStore

  /// Makes the tables of a store and fills them from another store, in the open transaction of a connection.
  struct StoreFiller {
    private let plans: SchemaPlans
    private let writes: IndexedArray<EntityIndex, WritePlan>
    private let connection: Connection

    private var physical: PhysicalSchema { plans.physical }

    init(_ physical: PhysicalSchema, _ connection: Connection) {
      plans = SchemaPlans(physical)
      writes = plans.schema.entities.mapped { WritePlan(entity: $0.index, physical: physical) }
      self.connection = connection
    }

    /// - Throws: `.invalidValue` for a value that the server can't store, `.uniqueness`, `.cancelled`, and the errors of reading.
    func fill(from copy: StoreCopy) throws(StoreError) {
      let definitions = try physical.definitions()
      for definition in definitions where definition.kind == .table {
        try connection.execute(definition.sql, while: "Creating \(definition.name)")
      }
      let noKeys = IndexedArray<RootIndex, Int64>(repeating: 0, count: plans.schema.entities.count)
      try copy.forEachTransaction { (transaction) throws(StoreError) in
        try TransactionWriter(
          plans, writes, connection, transaction, keyBase: noKeys, derivations: nil, history: nil
        ).load()
      }
      // Rows are written faster without indexes.
      for definition in definitions where definition.kind != .table {
        do throws(StoreError) {
          try connection.execute(
            definition.sql, while: "Creating \(definition.name)", asking: copy.pace)
        } catch {
          throw named(error, definition)
        }
      }
      for definition in definitions where definition.kind == .table {
        // Without it the server plans queries as for an empty table, until it has looked by itself.
        try connection.execute(
          "ANALYZE \(quoted(definition.name))", while: "Analysing \(definition.name)", asking: copy.pace)
      }
      for plan in try DerivedPlan.all(physical) {
        try connection.execute(
          plan.recomputation, while: "Computing derived attributes of \(plan.entity.source.name)",
          asking: copy.pace)
      }
    }

    /// The error of a constraint that the rows violate, with the names of the model.
    private func named(_ error: StoreError, _ definition: PhysicalSchema.Definition) -> StoreError {
      guard definition.kind == .constraint, error.code == .uniqueness,
        let violated = physical.constraint(named: definition.name)
      else { return error }
      var error = error
      (error.entity, error.properties) = (violated.entity, violated.properties)
      error.message =
        "Several \(violated.entity) have the same \(violated.properties.joined(separator: ", ")). Change the values first."
      return error
    }
  }
#endif
