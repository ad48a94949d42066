#if PostgreSQL
  @_spi(CDE) internal import CDESQL
  @_spi(CDE) internal import CDEStore

  /// Makes a transaction of a batch, from the rows that it finds and those that delete rules concern.
  ///
  /// All rows are read from one state of the store. The commit of the transaction compares their versions, so a batch for which
  /// another writer was faster is built again.
  ///
  /// - Precondition: the connection's transaction sees one state.
  struct BatchBuilder {
    let plans: SchemaPlans
    let connection: Connection
    let asOf: UInt64
    var transaction = StoreTransaction()
    var result = StoreBatchResult()
    /// The rows that the query finds, by key.
    private(set) var found: [RowReference] = []

    var schema: ResolvedSchema { plans.schema }

    /// The greatest number of rows in one batch of written rows. A batch lives as long as any of its rows.
    private static let rowsPerBatch = 512

    init(_ plans: SchemaPlans, _ connection: Connection, asOf: UInt64) {
      self.plans = plans
      self.connection = connection
      self.asOf = asOf
      transaction.isBatch = true
    }

    mutating func build(_ batch: StoreBatch) throws(StoreError) {
      switch batch {
      case .update(let update):
        transaction.author = update.author
        transaction.contextName = update.contextName
        try find(update.query)
        try self.update(update)
      case .delete(let delete):
        transaction.author = delete.author
        transaction.contextName = delete.contextName
        try find(delete.query)
        try self.delete(delete)
      }
    }

    private mutating func find(_ query: StoreQuery) throws(StoreError) {
      var query = query
      query.keysOnly = false
      let (connection, asOf) = (connection, asOf)
      let rows = try QueryReader(plans, query).fetch(isKnown: nil) { (_, body) throws(StoreError) in
        try body(connection, asOf)
      }
      found = rows.references.sorted { $0.key < $1.key }
      result.rows = found.map { .init(entity: $0.batch.layout.entity, key: $0.key) }
    }

    // MARK: Updating

    private mutating func update(_ update: StoreBatchUpdate) throws(StoreError) {
      let groups = Dictionary(grouping: found) { $0.batch.layout.entity }
      for (index, values) in update.values.enumerated() {
        guard let rows = groups[values.batch.layout.entity] else { continue }
        try set(values, update.computed.isEmpty ? [] : update.computed[index], in: rows)
      }
    }

    private mutating func set(
      _ values: RowUpdate, _ computed: [StoreBatchUpdate.Computed], in rows: [RowReference]
    ) throws(StoreError) {
      let entity = schema.entities[values.batch.layout.entity]
      let constant = values.changed[0].filter { !entity.layout.properties[$0].cells.isEmpty }
      let results = try ComputedValues(computed, of: entity, schema)
      var changed = PropertySet(constant)
      for value in computed { changed.insert(value.slot) }
      if changed.isEmpty { return }
      // Expressions read the rows as they were, and what these refer to is read for all of them at once.
      let cohort = RowCohort(plans, connection, rows)
      for block in Blocks(cohort.rows, size: Self.rowsPerBatch) {
        var builder = RowBatchBuilder(layout: entity.layout, rows: block.count)
        for row in block {
          let old = row.reference
          builder.beginRow(copying: old.batch, old.row, key: old.key, version: old.version &+ 1)
          for slot in constant {
            for cell in entity.layout.properties[slot].cells { builder.copy(cell, of: values.batch, 0) }
          }
          try results.set(for: row, in: &builder)
        }
        transaction.updated.append(
          RowUpdate(batch: builder.finish(), changed: Array(repeating: changed, count: block.count)))
      }
    }
  }

  extension RowBatchBuilder {
    /// Sets a cell of the last row to that of a row of the same layout.
    fileprivate mutating func copy(_ cell: CellIndex, of batch: RowBatch, _ row: Int) {
      if batch.isNull(row, cell) { return setNull(cell) }
      switch layout.cells[cell].kind {
      case .integer, .real: setWord(cell, batch.word(row, cell))
      case .text, .blob: setBytes(cell, batch.bytes(row, cell))
      }
    }
  }
#endif
