import CDESQLite
@_spi(CDE) public import CDEStore

extension SQLiteStore {
  public func fetch(
    _ query: StoreQuery, isKnown: ((_ root: Int, _ key: Int64) -> Bool)?
  ) throws(StoreError) -> FetchedRows {
    try checkEntity(query.entity)
    if query.limit == 0 { return FetchedRows(batches: []) }
    let plan = plans.select(query)
    let columns =
      query.keysOnly
      ? (plan.hasEntityColumn ? "t0.Z_PK, t0.Z_OPT, t0.Z_ENT" : "t0.Z_PK") : plan.columnList
    var compiler = QueryCompiler(physical)
    let compiled = try compiler.compile(query, .rows(columns: columns))
    let root = schema.entities[query.entity].root
    return try pool.read { (connection) throws(StoreError) in
      let collector = RowCollector(
        plan: plan, root: root, keysOnly: query.keysOnly, expectedRows: Self.expectedRows(query),
        isKnown: isKnown)
      try Self.withStatement(compiled, on: connection) { (statement) throws(StoreError) in
        try collector.collect(statement, on: connection)
      }
      return collector.finish().stamped(connection.asOf)
    }
  }

  /// A guess that spares the first batch some growing.
  private static func expectedRows(_ query: StoreQuery) -> Int {
    var guess = query.limit ?? 64
    if case .keys(let keys) = query.filter { guess = min(query.limit ?? keys.count, keys.count) }
    return min(guess, RowDecoder.rowsPerBatch)
  }

  public func count(_ query: StoreQuery) throws(StoreError) -> Int {
    try checkEntity(query.entity)
    var compiler = QueryCompiler(physical)
    let compiled = try compiler.compile(query, .count)
    return try pool.read { (connection) throws(StoreError) in
      var count: Int64 = 0
      try Self.withStatement(compiled, on: connection) { (statement) throws(StoreError) in
        let code = sqlite3_step(statement)
        guard code == SQLITE_ROW else { throw connection.error(code, while: "Counting rows") }
        count = sqlite3_column_int64(statement, 0)
      }
      return Int(count)
    }
  }

  public func row(entity: Int, key: Int64) throws(StoreError) -> RowReference? {
    try checkEntity(entity)
    let plan = plans.selects[entity]
    return try pool.read { (connection) throws(StoreError) in
      let statement = try pointSelect(entity, on: connection)
      defer { sqlite3_reset(statement) }
      sqlite3_bind_int64(statement, 1, key)
      let code = sqlite3_step(statement)
      if code == SQLITE_DONE { return nil }
      guard code == SQLITE_ROW else { throw connection.error(code, while: "Reading a row") }
      var concrete = plan.concretes[0]
      if plan.hasEntityColumn {
        guard let index = plan.numbers[sqlite3_column_int64(statement, 2)],
          plan.concretes.indices.contains(index - plan.firstEntity)
        else { return nil }
        concrete = plan.concretes[index - plan.firstEntity]
      }
      var builder = RowBatchBuilder(layout: concrete.layout, rows: 1, arenaBytes: 128)
      let fits = concrete.steps.withUnsafeBufferPointer { steps in
        RowDecoder.decode(statement, steps, numbers: plan.numbers, key: key, into: &builder)
      }
      guard fits else { throw RowCollector.tooBig(concrete.layout) }
      let batch = builder.finish()
      batch.asOf = connection.asOf
      return RowReference(batch: batch, row: 0)
    }
  }

  public func rows(entity: Int, keys: [Int64]) throws(StoreError) -> FetchedRows {
    try checkEntity(entity)
    var keys = keys
    if zip(keys, keys.dropFirst()).contains(where: { $0 >= $1 }) { keys = Array(Set(keys)).sorted() }
    return try pool.read { (connection) throws(StoreError) in
      try rows(entity: entity, ascending: keys, on: connection, isCancellable: true)
    }
  }

  /// Reads rows on a connection that the caller has, within its transaction.
  func rows(
    entity: Int, ascending keys: [Int64], on connection: Connection, isCancellable: Bool
  ) throws(StoreError) -> FetchedRows {
    let statement = try pointSelect(entity, on: connection)
    let collector = RowCollector(
      plan: plans.selects[entity], root: schema.entities[entity].root, expectedRows: keys.count, isKnown: nil)
    for (index, key) in keys.enumerated() {
      sqlite3_bind_int64(statement, 1, key)
      defer { sqlite3_reset(statement) }
      let code = sqlite3_step(statement)
      if code == SQLITE_ROW {
        try collector.append(statement)
      } else if code != SQLITE_DONE {
        throw connection.error(code, while: "Reading rows")
      }
      if isCancellable, index & 511 == 511 { try RowCollector.checkCancellation() }
    }
    return collector.finish().stamped(connection.asOf)
  }

  func checkEntity(_ entity: Int) throws(StoreError) {
    guard schema.entities.indices.contains(entity) else {
      throw StoreError(.unsupportedQuery, "The schema has no entity with the index \(entity).")
    }
    guard physical.numbers[entity] > 0 else {
      let name = schema.entities[entity].source.name
      throw StoreError(
        .unsupportedQuery, "The store holds a part of the schema, to which \(name) does not belong.",
        entity: name)
    }
  }

  private func pointSelect(_ entity: Int, on connection: Connection) throws(StoreError) -> OpaquePointer {
    if connection.pointSelects.isEmpty {
      connection.pointSelects = Array(repeating: nil, count: schema.entities.count)
    }
    if let statement = connection.pointSelects[entity] { return statement }
    let statement = try connection.prepareUncached(plans.pointSelects[entity], while: "Reading a row")
    connection.pointSelects[entity] = statement
    return statement
  }

  static func withStatement(
    _ query: CompiledQuery, on connection: Connection,
    _ body: (OpaquePointer) throws(StoreError) -> Void
  ) throws(StoreError) {
    let statement = try connection.prepare(query.sql, while: "Preparing a query")
    connection.isInterruptible = true
    defer {
      connection.isInterruptible = false
      Connection.reset(statement)
    }
    try connection.bind(query.bindings, to: statement)
    try body(statement)
  }
}

extension FetchedRows {
  /// Notes in rows that were just read the number of the last commit before the read.
  func stamped(_ asOf: UInt64) -> FetchedRows {
    for batch in batches { batch.asOf = asOf }
    return self
  }
}
