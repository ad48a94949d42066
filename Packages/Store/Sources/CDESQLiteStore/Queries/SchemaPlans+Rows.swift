@_spi(CDE) import CDESQL
import CDESQLite
@_spi(CDE) import CDEStore

extension SchemaPlans {
  /// Reads rows on the caller's connection, within its transaction.
  func rows(
    entity: EntityIndex, ascending keys: [Int64], on connection: Connection, isCancellable: Bool
  ) throws(StoreError) -> FetchedRows {
    let statement = try pointSelect(entity, on: connection)
    let collector = RowCollector(
      plan: selects[entity], root: schema.entities[entity].root, expectedRows: keys.count, isKnown: nil)
    for (index, key) in keys.enumerated() {
      sqlite3_bind_int64(statement, 1, key)
      defer { sqlite3_reset(statement) }
      let code = sqlite3_step(statement)
      if code == SQLITE_ROW {
        try collector.append(statement)
      } else if code != SQLITE_DONE {
        throw connection.error(
          code, while: "Reading the row \(key) of \(schema.entities[entity].source.name)")
      }
      if isCancellable, index & 511 == 511 { try RowCollector.checkCancellation() }
    }
    return collector.finish().stamped(connection.asOf)
  }

  func checkEntity(_ entity: EntityIndex) throws(StoreError) { try physical.checkEntity(entity) }

  func pointSelect(_ entity: EntityIndex, on connection: Connection) throws(StoreError) -> OpaquePointer {
    if connection.pointSelects.isEmpty {
      connection.pointSelects = IndexedArray(repeating: nil, count: schema.entities.count)
    }
    if let statement = connection.pointSelects[entity] { return statement }
    let statement = try connection.prepareUncached(pointSelects[entity], while: "Reading a row")
    connection.pointSelects[entity] = statement
    return statement
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
