@_spi(CDE) import CDESQL
import CDESQLite
@_spi(CDE) import CDEStore

/// Writes one transaction, inside an SQLite transaction that the caller began.
final class TransactionWriter {
  // Guard: one transaction uses the writer, on one thread. No access runs other code before it ends.
  let plans: SchemaPlans
  let connection: Connection
  let transaction: StoreTransaction
  let cells: CellWriter
  private let checksReferences: Bool
  /// For each index of a root entity, the last key assigned before.
  var keyBase: IndexedArray<RootIndex, Int64> { cells.keyBase }
  @exclusivity(unchecked) var conflicts: [StoreError.RowConflict] = []
  /// References of other writers that a deletion found.
  var references: [ReferenceConflict] = []
  /// External files that this transaction wrote.
  var writtenFiles: [String] { cells.writtenFiles }
  /// External files that are not needed after its commit.
  @exclusivity(unchecked) var obsoleteFiles: [String] = []
  /// Whether everything was written. Only SQLite's own commit is left.
  private(set) var isComplete = false
  /// The last positions in ordered relationships to which this transaction appends.
  var orderEnds = OrderEnds()
  /// The links of the transaction as they are written, without those of pairs that stay as they are.
  var links: [LinkChange]
  /// Nil if the store records no history.
  private(set) lazy var history = HistoryWriter(plans, connection)
  /// Rows with derived attributes, in their final state.
  @exclusivity(unchecked) private(set) var derived: [RowBatch] = []

  init(
    _ plans: SchemaPlans, _ connection: Connection, _ transaction: StoreTransaction,
    externals: ExternalStorage?, checksReferences: Bool
  ) {
    self.plans = plans
    self.connection = connection
    self.transaction = transaction
    links = transaction.links
    cells = CellWriter(plans, connection, externals)
    self.checksReferences = checksReferences
  }

  /// Makes a writer that binds and reads for requests without a transaction.
  convenience init(_ plans: SchemaPlans, _ connection: Connection) {
    self.init(plans, connection, StoreTransaction(), externals: nil, checksReferences: false)
  }

  func write() throws(StoreError) {
    connection.derived.clear()
    if !plans.physical.foreign.isEmpty { try plans.physical.checkDerivations(transaction) }
    try takeKeys()
    // Pairs are removed first. Pairs that a deleted row still has afterwards belong to other writers.
    try removeLinks()
    // Deletions are next, because they free unique values for other rows of the transaction.
    try delete()
    try update()
    try check()
    if !conflicts.isEmpty { throw StoreError.changedRows(conflicts, plans.schema) }
    for batch in transaction.inserted { try insert(batch) }
    try addLinks()
    if checksReferences { try checkReferences() }
    keepNamedFiles()
    try readDerived()
    if let history {
      try history.record(transaction, links) { permanent($0, root: $1) }
    }
    try PendingSaveTable.add(transaction.pending, on: connection)
    isComplete = true
  }

  /// Inserts rows that the transaction does not have in memory.
  func write(_ insertion: StoreInsertion) throws(StoreError) {
    for derivation in plans.physical.foreign { try derivation.checkInsertion(of: insertion.entity) }
    let root = plans.schema.entities[insertion.entity].root
    cells.keyBase[root] = try plans.takeKeys(
      insertion.count, upTo: insertion.keyLimit, root: root, on: connection)
    try insertion.forEachBatch { (batch) throws(StoreError) in
      try insert(batch)
      // Triggers note each new row. Only results of saves have derived values.
      connection.derived.clear()
    }
    try history?.record(insertion, after: keyBase[root])
    isComplete = true
  }

  /// Reads the rows whose derived attributes may differ from those in the transaction.
  ///
  /// Written rows are included even if no trigger ran. Their derived values are as old as the written object,
  /// because changes of other rows do not raise its version.
  func readDerived() throws(StoreError) {
    guard plans.physical.hasDerivedColumns else { return }
    var keys: [RootIndex: Set<Int64>] = [:]
    for (number, noted) in connection.derived.keys() {
      guard let entity = plans.physical.indexes[number] else { continue }
      keys[plans.schema.entities[entity].root, default: []].formUnion(noted)
    }
    for batch in transaction.updated.map(\.batch) + transaction.inserted
    where plans.physical.derivedEntities.contains(batch.layout.entity) {
      for row in 0..<batch.count {
        keys[batch.layout.root, default: []].insert(permanent(batch.key(row), root: batch.layout.root))
      }
    }
    for (root, keys) in keys.sorted(by: { $0.key < $1.key }) {
      derived += try plans.rows(
        entity: root.entity, ascending: keys.sorted(), on: connection, isCancellable: false
      ).batches
    }
  }

  // MARK: Keys

  private func takeKeys() throws(StoreError) {
    var counts: [RootIndex: Int64] = [:]
    for batch in transaction.inserted {
      var lowest: Int64 = 0
      for row in 0..<batch.count { lowest = min(lowest, batch.key(row)) }
      if lowest < 0 { counts[batch.layout.root] = max(counts[batch.layout.root] ?? 0, 0 - lowest) }
    }
    for (root, count) in counts {
      cells.keyBase[root] = try plans.takeKeys(
        Int(count), upTo: transaction.keyLimit, root: root, on: connection)
    }
  }

  @inline(__always)
  func permanent(_ key: Int64, root: RootIndex) -> Int64 { cells.permanent(key, root: root) }

  // MARK: Inserting

  private func insert(_ batch: RowBatch) throws(StoreError) {
    // An observer is told the values of each row.
    if batch.count < 2 || connection.collector != nil { return try insertRowByRow(batch) }
    let plan = plans.writes[batch.layout.entity]
    let task = "Inserting rows of \(batch.layout.entityName)"
    let rows = try InsertedRows.of(connection)
    // A statement with a conflict clause replaces those of the triggers that it fires.
    if try rows.hasTrigger(plan.table, on: connection) { return try insertRowByRow(batch) }
    let statement = try connection.tableInserts.statement(of: plan.entity, in: plans.schema) {
      () throws(StoreError) in
      try connection.prepareUncached(plan.tableInsert, while: task)
    }
    defer { sqlite3_reset(statement) }
    sqlite3_set_last_insert_rowid(connection.handle, 0)
    let code = plan.steps.elements.withUnsafeBufferPointer { steps in
      rows.lend(batch, steps, root: plan.root, by: cells, to: statement)
    }
    if code == SQLITE_DONE { return }
    if let failure = rows.failure { throw failure }
    if code == CDE_SQLITE_CONSTRAINT_PRIMARYKEY {
      // The statement keeps the rows before the one that failed.
      let last = sqlite3_last_insert_rowid(connection.handle)
      let written = (0..<batch.count).first { permanent(batch.key($0), root: plan.root) == last }
      throw takenKey(batch, written.map { min($0 + 1, batch.count - 1) } ?? 0)
    }
    throw failure(code, plan.entity, task)
  }

  private func insertRowByRow(_ batch: RowBatch) throws(StoreError) {
    let plan = plans.writes[batch.layout.entity]
    let task = "Inserting a row of \(batch.layout.entityName)"
    let statement = try connection.inserts.statement(of: plan.entity, in: plans.schema) {
      () throws(StoreError) in
      try connection.prepareUncached(plan.insert, while: task)
    }
    // The batch owns the bound memory. No statement may refer to it afterwards.
    defer { Connection.reset(statement) }
    for row in 0..<batch.count {
      sqlite3_bind_int64(statement, 1, permanent(batch.key(row), root: plan.root))
      sqlite3_bind_int64(statement, 2, batch.version(row))
      try cells.bind(batch, row, plan.steps.elements, to: statement, from: 3)
      let code = sqlite3_step(statement)
      if code == CDE_SQLITE_CONSTRAINT_PRIMARYKEY { throw takenKey(batch, row) }
      guard code == SQLITE_DONE else { throw failure(code, plan.entity, task) }
      sqlite3_reset(statement)
    }
  }

  /// The error if another writer has already written a deleted row again.
  private func takenKey(_ batch: RowBatch, _ row: Int) -> StoreError {
    StoreError(
      .conflict, "A deleted row of \(batch.layout.entityName) was written again by another writer.",
      entity: batch.layout.entityName,
      conflicts: [
        .init(entity: batch.layout.entity, key: batch.key(row), expectedVersion: 0, foundVersion: nil)
      ])
  }

  func failure(_ code: Int32, _ entity: EntityIndex, _ task: String) -> StoreError {
    var error = connection.error(code, while: task)
    error.entity = plans.schema.entities[entity].source.name
    guard code == CDE_SQLITE_CONSTRAINT_UNIQUE,
      let violated = plans.physical.constraint(in: String(cString: sqlite3_errmsg(connection.handle)))
    else { return error }
    return error.violating(violated)
  }
}
