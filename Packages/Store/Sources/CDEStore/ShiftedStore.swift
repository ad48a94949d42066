@_spi(CDE) internal import CDEExecutors

/// A store whose keys are shifted, see ``KeyShift``: one of several stores of the same entities.
///
/// Rows, references, results, conflicts and the history have shifted keys. Queries and transactions are given with shifted keys.
/// A key of another store finds nothing here. All other calls are passed on.
///
/// The rows of a transaction belong to the store until its commit returns. Their keys change meanwhile.
@_spi(CDE) public final class ShiftedStore: Store {
  /// The store with its own keys.
  public let base: any Store
  /// What is added to its keys.
  public let shift: KeyShift

  /// Shifts the keys of a store.
  public init(_ base: any Store, by shift: KeyShift) {
    self.base = base
    self.shift = shift
  }

  /// The schema of the rows.
  public var schema: ResolvedSchema { base.schema }
  /// The store's UUID.
  public var identifier: String { base.identifier }
  /// Whether writing calls throw `.readOnly`.
  public var isReadOnly: Bool { base.isReadOnly }
  /// Whether calls may wait for another machine.
  public var mayWaitForNetwork: Bool { base.mayWaitForNetwork }
  /// Whether commits are recorded in a history.
  public var recordsHistory: Bool { base.recordsHistory }

  // MARK: Reading

  /// Fetches rows, with shifted keys.
  public func fetch(
    _ query: StoreQuery, isKnown: ((_ root: RootIndex, _ key: Int64) -> Bool)?
  ) throws(StoreError) -> FetchedRows {
    try shift.shifted(try base.fetch(shift.own(query), isKnown: own(isKnown)))
  }

  /// The number of rows that a query finds.
  public func count(_ query: StoreQuery) throws(StoreError) -> Int { try base.count(shift.own(query)) }

  /// How the engine would answer a query.
  public func plans(of query: StoreQuery, prefersIndexes: Bool) throws(StoreError) -> [StatementPlan] {
    try base.plans(of: shift.own(query), prefersIndexes: prefersIndexes)
  }

  /// Computes values from rows. Objects among them have shifted keys.
  public func project(_ projection: StoreProjection) throws(StoreError) -> ProjectedRows {
    try shift.shifted(try base.project(shift.own(projection)))
  }

  /// The rows with these keys. Keys of other stores are left out.
  public func rows(entity: EntityIndex, keys: [Int64]) throws(StoreError) -> FetchedRows {
    let own = keys.compactMap { shift.contains($0) ? shift.own($0) : nil }
    if own.isEmpty { return FetchedRows(batches: []) }
    return try shift.shifted(try base.rows(entity: entity, keys: own))
  }

  /// The row with this key; nil for a key of another store.
  public func row(entity: EntityIndex, key: Int64) throws(StoreError) -> RowReference? {
    guard shift.contains(key), let row = try base.row(entity: entity, key: shift.own(key)) else { return nil }
    try shift.shift([row.batch])
    return row
  }

  /// The elements of a to-many relationship for each owner.
  public func related(
    entity: EntityIndex, slot: SlotIndex, owners: [Int64],
    isKnown: ((_ root: RootIndex, _ key: Int64) -> Bool)?
  ) throws(StoreError) -> RelatedRows {
    let found = try base.related(
      entity: entity, slot: slot, owners: owners.map(shift.own), isKnown: own(isKnown))
    return RelatedRows(
      rows: try shift.shifted(found.rows), ranges: found.ranges, entries: try shift.shifted(found.entries))
  }

  /// The bytes of an external value.
  public func externalValue(_ cell: ExternalValue) throws(StoreError) -> [UInt8] {
    try base.externalValue(cell)
  }

  private func own(
    _ isKnown: ((_ root: RootIndex, _ key: Int64) -> Bool)?
  ) -> ((_ root: RootIndex, _ key: Int64) -> Bool)? {
    guard let isKnown else { return nil }
    // A key outside the range is refused when the result is shifted.
    return { [shift] root, key in isKnown(root, key &+ shift.offset) }
  }

  // MARK: Writing

  /// Writes the whole transaction or nothing. Its rows have shifted keys afterwards.
  public func commit(
    _ transaction: StoreTransaction, committed: (CommitResult) -> Void
  ) throws(StoreError) -> CommitResult {
    let own = shift.own(transaction)
    var result: CommitResult?
    do throws(StoreError) {
      _ = try base.commit(own) { written in
        // Readers get the rows within this call, so they have their keys before.
        let shifted = finish(transaction, written)
        result = shifted
        committed(shifted)
      }
    } catch {
      restore(transaction)
      throw shift.shifted(error)
    }
    guard let result else { failPrecondition("A store has to report each transaction that it commits.") }
    return result
  }

  /// Gives rows and result of a committed transaction shifted keys.
  fileprivate func finish(_ transaction: StoreTransaction, _ written: CommitResult) -> CommitResult {
    var result = written
    for batch in transaction.writtenBatches + written.derived { forceShift(batch) }
    // A pending key -n became base + n. The last key before may be 0, which is shifted as well.
    for root in result.keyBase.indices { result.keyBase[root] += shift.offset }
    return result
  }

  fileprivate func restore(_ transaction: StoreTransaction) {
    for batch in transaction.writtenBatches { forceShift(batch) }
  }

  /// A commit is done or has left the rows as they were, so this must not fail. Keys outside the range were refused before.
  private func forceShift(_ batch: RowBatch) {
    try? batch.changeKeys { [shift] (key) throws(StoreError) in key > 0 ? key &+ shift.offset : key }
  }

  /// The reasons why a transaction was refused.
  public func conflicts(of transaction: StoreTransaction) throws(StoreError) -> TransactionConflicts {
    let own = shift.own(transaction)
    defer { restore(transaction) }
    return try shift.shifted(try base.conflicts(of: own))
  }

  /// Changes or deletes all rows that a query finds.
  public func commit(_ batch: StoreBatch) throws(StoreError) -> StoreBatchResult {
    let result: StoreBatchResult
    do throws(StoreError) { result = try base.commit(shift.own(batch)) } catch { throw shift.shifted(error) }
    return try shift.shifted(result)
  }

  /// Inserts all rows of an insertion, or none. They refer to no others, and their own keys are pending, so only the result is shifted.
  public func commit(_ insertion: StoreInsertion) throws(StoreError) -> CommitResult {
    var own = insertion
    own.keyLimit = KeyShift.span - 1
    do throws(StoreError) { return finish(StoreTransaction(), try base.commit(own)) } catch {
      throw shift.shifted(error)
    }
  }

  /// Assigns permanent keys in advance.
  public func allocateKeys(_ counts: [RootIndex: Int]) throws(StoreError) -> [RootIndex: Int64] {
    var keys = try base.allocateKeys(counts)
    for (root, first) in keys {
      _ = try shift.shifted(first + Int64(max(counts[root] ?? 1, 1)) - 1)
      keys[root] = try shift.shifted(first)
    }
    return keys
  }

  /// For each root the last key that was given, shifted.
  public func lastKeys() throws(StoreError) -> [RootIndex: Int64] {
    var keys = try base.lastKeys()
    for (root, last) in keys { keys[root] = try shift.shifted(last) }
    return keys
  }

  /// Holds the write lock while a body runs.
  public func writing(_ body: (any StoreWriting) throws(StoreError) -> Void) throws(StoreError) {
    try base.writing { (writing) throws(StoreError) in
      let shifted = ShiftedWriting(writing, self)
      defer { shifted.end() }
      try body(shifted)
    }
  }

  /// What the store has of saves over several stores.
  public func pendingSaves() throws(StoreError) -> [PendingSave] { try base.pendingSaves() }

  // MARK: History

  /// The recorded transactions, with shifted keys.
  public func history(_ query: StoreHistoryQuery) throws(StoreError) -> [StoreHistoryTransaction] {
    try shift.shifted(try base.history(query))
  }

  /// The numbers of the recorded transactions.
  public func historyExtent() throws(StoreError) -> StoreHistoryExtent? { try base.historyExtent() }

  /// Removes old transactions from the history.
  public func purgeHistory(_ limit: StoreHistoryLimit) throws(StoreError) -> Int {
    try base.purgeHistory(limit)
  }

  /// Reports commits of other connections, with shifted keys.
  public func observeOthers(
    _ handler: @escaping @Sendable (StoreForeignCommits) -> @Sendable () -> Void
  ) throws(StoreError) -> String? {
    try base.observeOthers { [shift] report in
      guard let transactions = report.transactions else { return handler(report) }
      do {
        return handler(StoreForeignCommits(transactions: try shift.shifted(transactions)))
      } catch {
        // Rows that can't be named may have changed. Reading them fails.
        return handler(StoreForeignCommits(transactions: nil))
      }
    }
  }

  // MARK: The rest

  /// The store's metadata.
  public func metadata() throws(StoreError) -> StoreMetadata { try base.metadata() }

  /// Replaces the metadata.
  public func setMetadata(_ metadata: StoreMetadata) throws(StoreError) { try base.setMetadata(metadata) }

  /// The store as it is now, for reading.
  public func pinned() throws(StoreError) -> (any Store)? {
    try base.pinned().map { ShiftedStore($0, by: shift) }
  }

  /// Closes the store.
  public func close() throws(StoreError) { try base.close() }
}

/// A shifted store whose write lock is held.
private final class ShiftedWriting: StoreWriting {
  private let writing: any StoreWriting
  private let store: ShiftedStore
  /// A transaction whose rows have the store's own keys, until the end.
  private var open: StoreTransaction?

  init(_ writing: any StoreWriting, _ store: ShiftedStore) {
    self.writing = writing
    self.store = store
  }

  func write(_ transaction: StoreTransaction) throws(StoreError) {
    open = transaction
    let own = store.shift.own(transaction)
    do throws(StoreError) { try writing.write(own) } catch { throw store.shift.shifted(error) }
  }

  func archive() throws(StoreError) -> [UInt8] { try writing.archive() }

  func repeatWriting(_ archive: [UInt8], mark: PendingSave) throws(StoreError) {
    try writing.repeatWriting(archive, mark: mark)
  }

  func commit() throws(StoreError) -> CommitResult {
    let written = try writing.commit()
    guard let transaction = open else { return written }
    open = nil
    return store.finish(transaction, written)
  }

  func pendingSaves() throws(StoreError) -> [PendingSave] { try writing.pendingSaves() }

  func forget(_ save: PendingSave) throws(StoreError) { try writing.forget(save) }

  func end() { if let open { store.restore(open) } }
}
