internal import CDEStore

/// A source of rows that asks stores: each request goes to the stores of its entity, or to the one that has the row.
protocol StoreReader: RowSource {
  /// The only store of an entity's rows; nil for none or several.
  func soleHandle(for entity: EntityBinding) -> StoreHandle?
}

extension StoreReader {
  var hasUnsavedRows: Bool { false }

  func loaded(_ entity: EntityBinding) throws(StoreError) -> StoreHandle {
    if let handle = handle(for: entity) { return handle }
    throw removed(entity)
  }

  func row(of entity: EntityBinding, key: Int64, for fault: FiredFault?) throws(StoreError) -> RowReference? {
    guard let handle = handle(for: entity, key: key) else {
      // Another store may have the entity, and not the row.
      _ = try loaded(entity)
      if removedHandle(for: entity, key: key) != nil { throw removed(entity) }
      return nil
    }
    let row = try store(of: handle).row(entity: entity.index, key: key)
    if let fault { handle.observer?.didFire(fault) }
    return row
  }

  func rows(of root: EntityBinding, keys: [Int64]) throws(StoreError) -> FetchedRows {
    try reader(of: root, in: nil).rows(of: root.index, keys: keys)
  }

  func related(
    to owners: [Int64], of entity: EntityBinding, slot: SlotIndex,
    isKnown: ((_ root: RootIndex, _ key: Int64) -> Bool)?,
    for fault: FiredFault?
  ) throws(StoreError) -> RelatedRows {
    let related = try reader(of: entity, in: nil).related(
      of: entity.index, slot: slot, owners: owners, isKnown: isKnown)
    // A fault has one owner.
    if let fault, let owner = owners.first { handle(for: entity, key: owner)?.observer?.didFire(fault) }
    return related
  }

  func fetch(
    _ query: StoreQuery, of entity: EntityBinding, in stores: [StoreHandle]?,
    isKnown: ((_ root: RootIndex, _ key: Int64) -> Bool)?
  ) throws(StoreError) -> FetchedRows {
    try reader(of: entity, in: stores).fetch(query, isKnown: isKnown)
  }

  func keys(
    of query: StoreQuery, of entity: EntityBinding, in stores: [StoreHandle]?
  ) throws(StoreError) -> KeyList {
    try reader(of: entity, in: stores).keys(of: query)
  }

  func count(_ query: StoreQuery, of entity: EntityBinding, in stores: [StoreHandle]?) throws(StoreError)
    -> Int
  {
    try reader(of: entity, in: stores).count(query)
  }

  func storedCount(
    _ query: StoreQuery, of entity: EntityBinding, in stores: [StoreHandle]?
  ) throws(StoreError) -> Int {
    try count(query, of: entity, in: stores)
  }

  func project(
    _ projection: StoreProjection, of entity: EntityBinding, in stores: [StoreHandle]?
  ) throws(StoreError) -> ProjectedRows {
    try reader(of: entity, in: stores).project(projection)
  }

  func externalValue(_ value: ExternalValue, of entity: EntityBinding) throws(StoreError) -> [UInt8] {
    try reader(of: entity, in: nil).externalValue(value)
  }

  private func removed(_ entity: EntityBinding) -> StoreError {
    StoreError(.closed, "The store of \(entity.name) was removed.", entity: entity.name)
  }

  /// The stores of an entity as one.
  ///
  /// - Parameter stores: the only stores to be read; nil for all.
  private func reader(of entity: EntityBinding, in stores: [StoreHandle]?) throws(StoreError) -> UnitedStores
  {
    if stores == nil, let sole = soleHandle(for: entity) { return UnitedStores(only: try store(of: sole)) }
    let loaded = handles(for: entity)
    if loaded.isEmpty { throw removed(entity) }
    let asked =
      stores.map { stores in loaded.filter { handle in stores.contains { $0 === handle } } } ?? loaded
    var read: [any Store] = []
    for handle in asked { read.append(try store(of: handle)) }
    return UnitedStores(read)
  }
}

extension NSPersistentStoreCoordinator: StoreReader, StoreSource {
  func store(of handle: StoreHandle) throws(StoreError) -> any Store { handle.store }

  func soleHandle(for entity: EntityBinding) -> StoreHandle? { soleHolder(of: entity.index) }

  func allocateKeys(
    _ count: Int, of root: EntityBinding, in handle: StoreHandle
  ) throws(StoreError) -> Int64 {
    let first = try handle.store.allocateKeys([root.root: count])
    return first[root.root]!
  }

  func commit(
    _ transaction: StoreTransaction, to handle: StoreHandle, committed: (CommitResult) -> Void
  ) throws(StoreError) -> CommitResult {
    let result = try handle.store.commit(transaction, committed: committed)
    noteCommit(to: handle, result.historyNumber)
    return result
  }

  func conflicts(
    of transaction: StoreTransaction, in handle: StoreHandle
  ) throws(StoreError) -> TransactionConflicts {
    try handle.store.conflicts(of: transaction)
  }

  func commit(_ insertion: StoreInsertion, to handle: StoreHandle) throws(StoreError) -> CommitResult {
    let result = try handle.store.commit(insertion)
    noteCommit(to: handle, result.historyNumber)
    return result
  }

  func commit(_ batch: StoreBatch, to handle: StoreHandle) throws(StoreError) -> StoreBatchResult {
    let result = try handle.store.commit(batch)
    noteCommit(to: handle, result.historyNumber)
    return result
  }
}
