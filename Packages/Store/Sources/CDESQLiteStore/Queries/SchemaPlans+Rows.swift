@_spi(CDE) import CDESQL
import CDESQLite
@_spi(CDE) import CDEStore

extension SchemaPlans {
  /// Reads rows on the caller's connection, within its transaction.
  func rows(
    entity: EntityIndex, ascending keys: [Int64], on connection: Connection, isCancellable: Bool
  ) throws(StoreError) -> FetchedRows {
    let collector = RowCollector(
      plan: selects[entity], root: schema.entities[entity].root, expectedRows: keys.count, isKnown: nil,
      isCancellable: isCancellable)
    let statement = try connection.prepare(listSelects[entity], while: "Reading rows")
    connection.isInterruptible = isCancellable
    defer {
      connection.isInterruptible = false
      Connection.reset(statement)
    }
    try connection.bind([.blob(ListBytes.encoded(keys))], to: statement)
    try collector.collect(statement, on: connection)
    return collector.finish().stamped(connection.asOf)
  }

  /// A row by itself.
  ///
  /// - Returns: nil if its entity is outside the tree of `entity`.
  @inline(__always)
  func decoded(
    _ values: borrowing some RowValueSource & ~Copyable, entity: EntityIndex, key: Int64, asOf: UInt64
  ) throws(StoreError) -> RowReference? {
    let plan = selects[entity]
    var concrete = plan.concretes[0]
    if plan.hasEntityColumn {
      guard let index = plan.numbers[sqlite3_value_int64(values[2])],
        plan.concretes.indices.contains(plan.firstEntity.distance(to: index))
      else { return nil }
      concrete = plan.concretes[plan.firstEntity.distance(to: index)]
    }
    var builder = RowBatchBuilder(layout: concrete.layout, rows: 1, arenaBytes: 128)
    let fits = concrete.steps.withUnsafeBufferPointer { steps in
      RowDecoder.decode(values, steps, numbers: plan.numbers, key: key, into: &builder)
    }
    guard fits else { throw RowCollector.tooBig(concrete.layout) }
    let batch = builder.finish()
    batch.asOf = asOf
    return RowReference(batch: batch, row: 0)
  }

  func checkEntity(_ entity: EntityIndex) throws(StoreError) { try physical.checkEntity(entity) }

  func pointSelect(_ entity: EntityIndex, on connection: Connection) throws(StoreError) -> OpaquePointer {
    try connection.pointSelects.statement(of: entity, in: schema) { () throws(StoreError) in
      try connection.prepareUncached(pointSelects[entity], while: "Reading a row")
    }
  }
}

extension SchemaPlans {
  /// The look-up of an entity's rows on a connection.
  func lookUp(_ entity: EntityIndex, on connection: Connection) throws(StoreError) -> RowLookUp {
    if connection.lookUps.isEmpty {
      connection.lookUps = IndexedArray(repeating: nil, count: schema.entities.count)
    }
    if let lookUp = connection.lookUps[entity] { return lookUp }
    let statement = try connection.prepareUncached(lookUps[entity], while: "Reading a row")
    let lookUp = RowLookUp(statement, columns: selects[entity].columnCount)
    connection.lookUps[entity] = lookUp
    return lookUp
  }
}

extension FetchedRows {
  /// Records in newly read rows the number of the last commit before the read.
  func stamped(_ asOf: UInt64) -> FetchedRows {
    for batch in batches { batch.asOf = asOf }
    return self
  }
}

extension Connection {
  /// Runs a body with the bound statement of a query. A cancelled task stops the statement.
  func withStatement(
    _ query: CompiledQuery, _ body: (OpaquePointer) throws(StoreError) -> Void
  ) throws(StoreError) {
    let statement = try prepare(query.sql, while: "Preparing a query")
    isInterruptible = true
    defer {
      isInterruptible = false
      Connection.reset(statement)
    }
    try bind(query.bindings, to: statement)
    try body(statement)
  }
}
