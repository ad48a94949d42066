#if PostgreSQL
  @_spi(CDE) internal import CDESQL
  @_spi(CDE) internal import CDEStore

  /// Runs a query: the server decides what it can, and this process the remainder.
  struct QueryReader {
    let plans: SchemaPlans
    let query: StoreQuery
    private let plan: RowPlan

    /// - Throws: `.unsupportedQuery` for an index of no entity.
    init(_ plans: SchemaPlans, _ query: StoreQuery) throws(StoreError) {
      try plans.checkEntity(query.entity)
      self.plans = plans
      self.query = query
      plan = plans.plan(query.entity, includesSubentities: query.includesSubentities)
    }

    private func compile(_ selection: QueryCompiler.Selection) throws(StoreError) -> CompiledQuery {
      var compiler = QueryCompiler(plans.physical, dialect: PostgreSQLDialect())
      return try compiler.compile(query, selection)
    }

    /// The statement of ``fetch(isKnown:read:)``.
    func compiledRows() throws(StoreError) -> CompiledQuery {
      try compile(.rows(columns: query.keysOnly ? plan.keyColumnList : plan.columnList))
    }

    private var task: String { "Fetching rows of \(plans.schema.entities[query.entity].source.name)" }

    // MARK: Rows

    /// - Parameter read: runs a body on a connection, in a transaction of one state if the body takes several statements.
    func fetch(
      isKnown: ((_ root: RootIndex, _ key: Int64) -> Bool)?,
      read: (_ inSteps: Bool, (Connection, UInt64) throws(StoreError) -> FetchedRows) throws(StoreError) ->
        FetchedRows
    ) throws(StoreError) -> FetchedRows {
      var compiled = try compile(.rows(columns: query.keysOnly ? plan.keyColumnList : plan.columnList))
      guard compiled.remainder != nil else {
        return try read(false) { (connection, asOf) throws(StoreError) in
          var collector = RowCollector(plan, asOf: asOf, isKnown: isKnown, keysOnly: query.keysOnly)
          try collector.append(try connection.run(compiled.sql, Parameters(compiled.bindings), while: task))
          return collector.finish()
        }
      }
      if query.keysOnly { compiled = try compile(.rows(columns: plan.columnList)) }
      return try read(true) { (connection, asOf) throws(StoreError) in
        let rows = try decided(compiled, connection, asOf)
        return result(rows, isKnown, asOf)
      }
    }

    /// Keys are read so many at a time: the client library keeps a whole result in memory.
    private static let keysPerPart = 100_000

    /// - Parameter read: as for ``fetch(isKnown:read:)``.
    func keys(
      read: (_ inSteps: Bool, (Connection, UInt64) throws(StoreError) -> KeyList) throws(StoreError) ->
        KeyList
    ) throws(StoreError) -> KeyList {
      let compiled = try compile(.rows(columns: plan.keyColumnList))
      let whole = compiled.remainder == nil ? nil : try compile(.rows(columns: plan.columnList))
      return try read(true) { (connection, asOf) throws(StoreError) in
        var keys = KeyList()
        if let whole {
          for row in try decided(whole, connection, asOf) { keys.append(row.key) }
          return keys
        }
        // Otherwise the server plans for the first tenth of the rows.
        try connection.enqueue("SET LOCAL cursor_tuple_fraction TO 1", while: task)
        _ = try connection.run(
          "DECLARE keys NO SCROLL CURSOR FOR \(compiled.sql)", Parameters(compiled.bindings), while: task)
        // The transaction of a kept state goes on.
        defer { try? connection.execute("CLOSE keys", while: task) }
        while true {
          if Task.isCancelled {
            throw StoreError(.cancelled, "The fetch was cancelled before it had read all keys.")
          }
          let part = try connection.run("FETCH \(Self.keysPerPart) FROM keys", while: task)
          var collector = RowCollector(plan, asOf: asOf, keysOnly: true)
          try collector.append(part)
          for entry in collector.finish().order ?? [] { keys.append(entry.key) }
          if part.count < Self.keysPerPart { return keys }
        }
      }
    }

    /// The rows of the result in its order, with what they lead to.
    ///
    /// - Precondition: the connection's transaction sees one state.
    func rows(on connection: Connection) throws(StoreError) -> [StoredRow] {
      try decided(try compile(.rows(columns: plan.columnList)), connection, 0)
    }

    /// The rows of the result, in its order.
    private func decided(
      _ compiled: CompiledQuery, _ connection: Connection, _ asOf: UInt64
    ) throws(StoreError) -> [StoredRow] {
      var collector = RowCollector(plan, asOf: asOf, keepsOrder: true)
      try collector.append(try connection.run(compiled.sql, Parameters(compiled.bindings), while: task))
      let candidates = RowCohort(plans, connection, collector.finish()).rows
      guard let remainder = compiled.remainder else { return candidates }
      let evaluator = FilterEvaluator<StoredRow>(plans.schema)
      var rows: [StoredRow] = []
      for row in candidates where try evaluator.holds(remainder.filter, for: row, of: query.entity) {
        rows.append(row)
      }
      if !remainder.sort.isEmpty {
        var keyed: [(row: StoredRow, keys: [StoreValue])] = []
        for row in rows {
          keyed.append((row, try evaluator.sortKeys(remainder.sort, for: row, of: query.entity)))
        }
        keyed.sort { ValueOrder.precedes($0.keys, $1.keys, in: remainder.sort) }
        rows = keyed.map(\.row)
      }
      let rest = rows.dropFirst(remainder.offset)
      // A limit below zero is none, as in SQL.
      return Array(remainder.limit.flatMap { $0 < 0 ? nil : rest.prefix($0) } ?? rest)
    }

    /// The rows as a result, with batches that contain no others.
    private func result(
      _ rows: [StoredRow], _ isKnown: ((_ root: RootIndex, _ key: Int64) -> Bool)?, _ asOf: UInt64
    ) -> FetchedRows {
      var order: [FetchedRows.Entry] = []
      var places: [EntityIndex: [Int]] = [:]
      for (place, row) in rows.enumerated() {
        order.append(FetchedRows.Entry(key: row.key, entity: NarrowIndex(row.concreteEntity)))
        if query.keysOnly || isKnown?(plan.root, row.key) == true { continue }
        places[row.concreteEntity, default: []].append(place)
      }
      var batches: [RowBatch] = []
      for (entity, places) in places.sorted(by: { $0.key < $1.key }) {
        for block in Blocks(places, size: RowCollector.rowsPerBatch) {
          var builder = RowBatchBuilder(layout: plans.schema.entities[entity].layout, rows: block.count)
          for (index, place) in block.enumerated() {
            let reference = rows[place].reference
            builder.beginRow(
              copying: reference.batch, reference.row, key: reference.key, version: reference.version)
            order[place].batch = Int32(batches.count)
            order[place].row = Int32(index)
          }
          let batch = builder.finish()
          batch.asOf = asOf
          batches.append(batch)
        }
      }
      return FetchedRows(batches: batches, order: order)
    }

    // MARK: Counts

    func count(
      read: (_ inSteps: Bool, (Connection, UInt64) throws(StoreError) -> Int) throws(StoreError) -> Int
    ) throws(StoreError) -> Int {
      let compiled = try compile(.count(candidates: plan.columnList))
      return try read(compiled.remainder != nil) { (connection, asOf) throws(StoreError) in
        if compiled.remainder != nil { return try decided(compiled, connection, asOf).count }
        let rows = try connection.run(compiled.sql, Parameters(compiled.bindings), while: task)
        return Int(rows.integer(0, 0))
      }
    }
  }
#endif
