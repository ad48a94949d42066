internal import CDEStore

/// A source of rows that asks stores: each request goes to the store of its entity.
protocol StoreReader: RowSource {}

extension StoreReader {
  var hasUnsavedRows: Bool { false }

  func loaded(_ entity: EntityBinding) throws(StoreError) -> StoreHandle {
    if let handle = handle(for: entity) { return handle }
    throw StoreError(.closed, "The store of \(entity.name) was removed.", entity: entity.name)
  }

  private func store(_ entity: EntityBinding) throws(StoreError) -> any Store {
    try store(of: try loaded(entity))
  }

  func row(of entity: EntityBinding, key: Int64, for fault: FiredFault?) throws(StoreError) -> RowReference? {
    let handle = try loaded(entity)
    let row = try store(of: handle).row(entity: entity.index, key: key)
    if let fault { handle.observer?.didFire(fault) }
    return row
  }

  func rows(of root: EntityBinding, keys: [Int64]) throws(StoreError) -> FetchedRows {
    try store(root).rows(entity: root.index, keys: keys)
  }

  func related(
    to owners: [Int64], of entity: EntityBinding, slot: SlotIndex,
    isKnown: ((_ root: RootIndex, _ key: Int64) -> Bool)?,
    for fault: FiredFault?
  ) throws(StoreError) -> RelatedRows {
    let handle = try loaded(entity)
    let related = try store(of: handle).related(
      entity: entity.index, slot: slot, owners: owners, isKnown: isKnown)
    if let fault { handle.observer?.didFire(fault) }
    return related
  }

  func fetch(
    _ query: StoreQuery, of entity: EntityBinding, isKnown: ((_ root: RootIndex, _ key: Int64) -> Bool)?
  ) throws(StoreError) -> FetchedRows {
    try store(entity).fetch(query, isKnown: isKnown)
  }

  func count(_ query: StoreQuery, of entity: EntityBinding) throws(StoreError) -> Int {
    try store(entity).count(query)
  }

  func externalValue(_ value: ExternalValue, of entity: EntityBinding) throws(StoreError) -> [UInt8] {
    try store(entity).externalValue(value)
  }
}

extension NSPersistentStoreCoordinator: StoreReader, StoreSource {
  func store(of handle: StoreHandle) throws(StoreError) -> any Store { handle.store }

  func allocateKeys(_ count: Int, of root: EntityBinding) throws(StoreError) -> Int64 {
    let first = try loaded(root).store.allocateKeys([root.root: count])
    return first[root.root]!
  }

  func commit(
    _ transaction: StoreTransaction, of entity: EntityBinding, committed: (CommitResult) -> Void
  ) throws(StoreError) -> CommitResult {
    let handle = try loaded(entity)
    let result = try handle.store.commit(transaction, committed: committed)
    noteCommit(to: handle, result.historyNumber)
    return result
  }

  func conflicts(
    of transaction: StoreTransaction, of entity: EntityBinding
  ) throws(StoreError) -> TransactionConflicts {
    try loaded(entity).store.conflicts(of: transaction)
  }

  func commit(_ batch: StoreBatch, of entity: EntityBinding) throws(StoreError) -> StoreBatchResult {
    let handle = try loaded(entity)
    let result = try handle.store.commit(batch)
    noteCommit(to: handle, result.historyNumber)
    return result
  }
}
