internal import CDEStore

/// Where a context's rows come from, and where its saves go: the coordinator.
///
/// A context knows its source by this protocol alone. A parent context attaches here.
///
/// Every call may come from any isolation. What only a store can do, such as closing or metadata, is no part of it.
protocol RowSource: AnyObject, Sendable {
  /// The store that holds an entity's rows, or will; nil if none is loaded.
  func handle(for entity: EntityBinding) -> StoreHandle?

  /// The store that held an entity's rows until it was removed.
  func removedHandle(for entity: EntityBinding) -> StoreHandle?

  /// The same as ``handle(for:)``.
  ///
  /// - Throws: ``ManagedObjectError`` with code `.noStore`, which tells what to load.
  func requiredHandle(for entity: EntityBinding) throws -> StoreHandle

  /// One row of an entity or of one that inherits from it; nil if there is none.
  ///
  /// - Parameter fault: what needed the row, for the observer of the store's requests; nil for the context itself.
  /// - Throws: `StoreError`, with code `.closed` if no store holds the entity.
  func row(of entity: EntityBinding, key: Int64, for fault: FiredFault?) throws(StoreError) -> RowReference?

  /// Rows of an entity's inheritance tree, in any order; keys without a row are left out.
  ///
  /// - Parameter keys: ascending.
  func rows(of root: EntityBinding, keys: [Int64]) throws(StoreError) -> FetchedRows

  /// The members of one to-many relationship for several owners, see `Store.related`.
  func related(
    to owners: [Int64], of entity: EntityBinding, slot: Int, isKnown: ((_ root: Int, _ key: Int64) -> Bool)?,
    for fault: FiredFault?
  ) throws(StoreError) -> RelatedRows

  /// The rows that meet a query's condition, in its order. Rows for which `isKnown` holds come without values.
  func fetch(
    _ query: StoreQuery, of entity: EntityBinding, isKnown: ((_ root: Int, _ key: Int64) -> Bool)?
  ) throws(StoreError) -> FetchedRows

  /// The number of rows that meet a query's condition.
  func count(_ query: StoreQuery, of entity: EntityBinding) throws(StoreError) -> Int

  /// The bytes of a value that is kept beside the rows.
  func externalValue(_ value: ExternalValue, of entity: EntityBinding) throws(StoreError) -> [UInt8]

  /// Reserves keys for new objects of an inheritance tree.
  ///
  /// - Returns: the first of them; the others follow it.
  func allocateKeys(_ count: Int, of root: EntityBinding) throws(StoreError) -> Int64

  /// Writes a save, or nothing of it.
  ///
  /// - Parameters:
  ///   - entity: one of the save's; all are of one store.
  ///   - committed: called once, while other writers wait.
  func commit(
    _ transaction: StoreTransaction, of entity: EntityBinding, committed: (CommitResult) -> Void
  ) throws(StoreError) -> CommitResult

  /// The conflicts that refuse a save.
  func conflicts(of transaction: StoreTransaction, of entity: EntityBinding) throws(StoreError)
    -> TransactionConflicts

  /// Carries out a batch request in one transaction.
  func commit(_ batch: StoreBatch, of entity: EntityBinding) throws(StoreError) -> StoreBatchResult
}

extension RowSource {
  /// One row, which the context itself needs.
  func row(of entity: EntityBinding, key: Int64) throws(StoreError) -> RowReference? {
    try row(of: entity, key: key, for: nil)
  }

  /// The one store that some entities are in.
  ///
  /// - Throws: ``ManagedObjectError`` if there are several, or none.
  func handle(for entities: [EntityBinding]) throws -> StoreHandle {
    var found: StoreHandle?
    for entity in entities {
      let handle = try requiredHandle(for: entity)
      if let found, found !== handle {
        throw ManagedObjectError(
          .unsupportedRequest,
          "A save can't span two stores, because they can't commit together. Save the objects of each configuration by themselves.",
          entity: entity.name)
      }
      found = handle
    }
    guard let found else { throw ManagedObjectError(.noStore, "There is nothing to save.") }
    return found
  }
}
