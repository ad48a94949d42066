@_spi(CDE) import CDESQL
import CDESQLite
@_spi(CDE) public import CDEStore

extension SQLiteStore {
  /// Fetches rows, in one read of one state of the store.
  ///
  /// - Parameters:
  ///     - query: the condition and the order.
  ///     - isKnown: called with root entity and key of each row found. The cells of known rows are not
  ///       decoded. It must not call the store.
  /// - Throws: `.unsupportedQuery`, `.tooBig` for a query beyond SQLite's limits, `.cancelled` when the
  ///   calling task is cancelled, `.busy`, `.io`, `.closed` and so on.
  public func fetch(
    _ query: StoreQuery, isKnown: ((_ root: RootIndex, _ key: Int64) -> Bool)?
  ) throws(StoreError) -> FetchedRows {
    try plans.checkEntity(query.entity)
    if query.limit == 0 { return FetchedRows(batches: []) }
    let plan = plans.select(query)
    let takesKeys =
      query.keysOnly && !plan.hasEntityColumn && query.sort.isEmpty && query.limit == nil && query.offset <= 0
    let columns =
      !query.keysOnly
      ? plan.columnList
      : plan.hasEntityColumn
        ? "t0.Z_PK, t0.Z_OPT, t0.Z_ENT" : takesKeys ? "\(KeySink.name)(t0.Z_PK)" : "t0.Z_PK"
    var compiler = QueryCompiler(plans.physical)
    let compiled = try compiler.compile(query, .rows(columns: columns))
    let root = schema.entities[query.entity].root
    return try pool.read { (connection) throws(StoreError) in
      let collector = RowCollector(
        plan: plan, root: root, keysOnly: query.keysOnly, expectedRows: Self.expectedRows(query),
        isKnown: isKnown)
      try connection.withStatement(compiled) { (statement) throws(StoreError) in
        if takesKeys {
          try collector.takeKeys(statement, on: connection)
        } else {
          try collector.collect(statement, on: connection)
        }
      }
      return collector.finish().stamped(connection.asOf)
    }
  }

  /// Reads the keys of rows, in one read of one state of the store. A key takes eight bytes at the most.
  ///
  /// - Throws: the errors of ``fetch(_:isKnown:)``.
  public func keys(of query: StoreQuery) throws(StoreError) -> KeyList {
    try plans.checkEntity(query.entity)
    var keys = KeyList()
    if query.limit == 0 { return keys }
    let plan = plans.select(query)
    var compiler = QueryCompiler(plans.physical)
    let compiled = try compiler.compile(
      query, .rows(columns: plan.hasEntityColumn ? "t0.Z_PK, t0.Z_OPT, t0.Z_ENT" : "t0.Z_PK"))
    try pool.read { (connection) throws(StoreError) in
      try connection.withStatement(compiled) { (statement) throws(StoreError) in
        while true {
          let code = sqlite3_step(statement)
          if code == SQLITE_DONE { break }
          guard code == SQLITE_ROW else {
            throw connection.error(code, while: "Fetching keys of \(plan.concretes[0].layout.entityName)")
          }
          // Rows of entities outside of the schema are left out.
          if plan.hasEntityColumn, plan.numbers[sqlite3_column_int64(statement, 2)] == nil { continue }
          let key = sqlite3_column_int64(statement, 0)
          guard key > 0 else { throw RowCollector.damagedKey(key, plan.concretes[0].layout) }
          keys.append(key)
          if keys.count.isMultiple(of: RowDecoder.rowsPerBatch) { try RowCollector.checkCancellation() }
        }
      }
    }
    return keys
  }

  /// An estimate, so that the first batch grows less often.
  private static func expectedRows(_ query: StoreQuery) -> Int {
    var guess = query.limit ?? 64
    if case .keys(let keys) = query.filter { guess = min(query.limit ?? keys.count, keys.count) }
    return min(guess, RowDecoder.rowsPerBatch)
  }

  /// Counts the rows that a query finds, without reading them.
  ///
  /// - Throws: the errors of ``fetch(_:isKnown:)``.
  public func count(_ query: StoreQuery) throws(StoreError) -> Int {
    try plans.checkEntity(query.entity)
    var compiler = QueryCompiler(plans.physical)
    let compiled = try compiler.compile(query, .count())
    return try pool.read { (connection) throws(StoreError) in
      var count: Int64 = 0
      try connection.withStatement(compiled) { (statement) throws(StoreError) in
        let code = sqlite3_step(statement)
        guard code == SQLITE_ROW else { throw connection.error(code, while: "Counting rows") }
        count = sqlite3_column_int64(statement, 0)
      }
      return Int(count)
    }
  }

  /// Reads one row by its key, by one look-up in the table's tree with a cached statement.
  ///
  /// - Returns: `nil` when there is no such row, or when its entity is outside the tree of `entity`.
  /// - Throws: the errors of ``fetch(_:isKnown:)``.
  public func row(entity: EntityIndex, key: Int64) throws(StoreError) -> RowReference? {
    try plans.checkEntity(entity)
    return try pool.read { (connection) throws(StoreError) in
      func isFound(_ code: Int32) throws(StoreError) -> Bool {
        if code == SQLITE_ROW || code == SQLITE_DONE { return code == SQLITE_ROW }
        throw connection.error(
          code, while: "Reading the row \(key) of \(schema.entities[entity].source.name)")
      }
      // An observer is told of each statement that begins, and a look-up's does not begin again.
      if connection.snapshot.isKept, connection.collector == nil {
        let lookUp = try plans.lookUp(entity, on: connection)
        guard try isFound(lookUp.find(key, connection.askedKey)) else { return nil }
        return try plans.decoded(lookUp.row, entity: entity, key: key, asOf: connection.asOf)
      }
      let statement = try plans.pointSelect(entity, on: connection)
      defer { sqlite3_reset(statement) }
      sqlite3_bind_int64(statement, 1, key)
      guard try isFound(sqlite3_step(statement)) else { return nil }
      return try plans.decoded(
        SingleRow(statement: statement), entity: entity, key: key, asOf: connection.asOf)
    }
  }

  /// Reads rows by their keys, with one look-up for each, in ascending order of the keys.
  ///
  /// - Throws: the errors of ``fetch(_:isKnown:)``.
  public func rows(entity: EntityIndex, keys: [Int64]) throws(StoreError) -> FetchedRows {
    try plans.checkEntity(entity)
    var keys = keys
    if zip(keys, keys.dropFirst()).contains(where: { $0 >= $1 }) { keys = Array(Set(keys)).sorted() }
    return try pool.read { (connection) throws(StoreError) in
      try plans.rows(entity: entity, ascending: keys, on: connection, isCancellable: true)
    }
  }

  /// Reads the elements of a to-many relationship for many owners.
  ///
  /// Reads the elements of each owner by an index. If there are at least 16 owners and a quarter of the
  /// table's rows, it reads all elements once instead.
  ///
  /// - Parameters:
  ///     - entity: the index of the owners' entity.
  ///     - slot: the relationship's slot in `entity`.
  ///     - owners: the keys of the owners. If one occurs twice, both results have its elements.
  ///     - isKnown: as for ``fetch(_:isKnown:)``.
  /// - Throws: the errors of ``fetch(_:isKnown:)``.
  public func related(
    entity: EntityIndex, slot: SlotIndex, owners: [Int64],
    isKnown: ((_ root: RootIndex, _ key: Int64) -> Bool)?
  ) throws(StoreError) -> RelatedRows {
    try plans.checkEntity(entity)
    let source = try plans.physical.toMany(slot, of: entity)
    let destination = schema.end(of: slot, in: entity).destination
    let plan = plans.selects[destination]
    if owners.isEmpty { return RelatedRows(rows: FetchedRows(batches: []), ranges: [], entries: []) }
    return try pool.read { (connection) throws(StoreError) in
      let reader = RelatedReader(
        plans: plans, connection: connection, source: source, destination: destination, plan: plan,
        isKnown: isKnown)
      let related =
        owners.count == 1
        ? try reader.single(owners[0])
        : try reader.isWorthScanning(owners, of: entity) ? try reader.scan(owners) : try reader.each(owners)
      for batch in related.rows.batches { batch.asOf = connection.asOf }
      return related
    }
  }
}
