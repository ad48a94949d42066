internal import CDEStore

/// The source of a context's rows: the coordinator, or the parent context.
///
/// A context uses its source only through this protocol.
///
/// All calls may be made on any isolation. Operations of stores only, such as closing or metadata, are not
/// included.
protocol RowSource: AnyObject, Sendable {
  /// Whether the source has rows of objects that were never saved to a store. Their keys are temporary.
  var hasUnsavedRows: Bool { get }

  /// The store of an entity's rows; nil if none is loaded.
  func handle(for entity: EntityBinding) -> StoreHandle?

  /// The removed store that had an entity's rows.
  func removedHandle(for entity: EntityBinding) -> StoreHandle?

  /// The same as ``handle(for:)``.
  ///
  /// - Throws: ``ManagedObjectError`` with code `.noStore`, whose message names the store to load.
  func requiredHandle(for entity: EntityBinding) throws -> StoreHandle

  /// The store that is read: that of a handle, or a state of it that is kept.
  func store(of handle: StoreHandle) throws(StoreError) -> any Store

  /// One row of an entity or of one that inherits from it; nil if there is none.
  ///
  /// - Parameter fault: the fault that needs the row, for the observer of the store's requests; nil if the
  ///   context itself needs it.
  /// - Throws: `StoreError`, with code `.closed` if no store has the entity.
  func row(of entity: EntityBinding, key: Int64, for fault: FiredFault?) throws(StoreError) -> RowReference?

  /// Rows of an entity's inheritance tree, in any order. Keys without a row are omitted.
  ///
  /// - Parameter keys: in ascending order.
  func rows(of root: EntityBinding, keys: [Int64]) throws(StoreError) -> FetchedRows

  /// The members of one to-many relationship for several owners, see `Store.related`.
  func related(
    to owners: [Int64], of entity: EntityBinding, slot: SlotIndex,
    isKnown: ((_ root: RootIndex, _ key: Int64) -> Bool)?,
    for fault: FiredFault?
  ) throws(StoreError) -> RelatedRows

  /// The rows that meet a query's condition, in its order. Rows for which `isKnown` holds come without values.
  func fetch(
    _ query: StoreQuery, of entity: EntityBinding, isKnown: ((_ root: RootIndex, _ key: Int64) -> Bool)?
  ) throws(StoreError) -> FetchedRows

  /// The number of rows that meet a query's condition.
  func count(_ query: StoreQuery, of entity: EntityBinding) throws(StoreError) -> Int

  /// The bytes of a value that is stored outside the rows.
  func externalValue(_ value: ExternalValue, of entity: EntityBinding) throws(StoreError) -> [UInt8]

  /// Reserves keys for new objects of an inheritance tree.
  ///
  /// - Returns: the first key. The others follow it.
  func allocateKeys(_ count: Int, of root: EntityBinding) throws(StoreError) -> Int64
}

/// A source of rows that writes saves to stores: the coordinator.
protocol StoreSource: RowSource {
  /// Writes a save completely or not at all.
  ///
  /// - Parameters:
  ///   - entity: an entity of the save. All entities of a save are in one store.
  ///   - committed: called once, while other writers wait.
  func commit(
    _ transaction: StoreTransaction, of entity: EntityBinding, committed: (CommitResult) -> Void
  ) throws(StoreError) -> CommitResult

  /// The conflicts for which the store refuses a save.
  func conflicts(of transaction: StoreTransaction, of entity: EntityBinding) throws(StoreError)
    -> TransactionConflicts

  /// Executes a batch request in one transaction.
  func commit(_ batch: StoreBatch, of entity: EntityBinding) throws(StoreError) -> StoreBatchResult
}

extension RowSource {
  /// One row that the context itself needs.
  func row(of entity: EntityBinding, key: Int64) throws(StoreError) -> RowReference? {
    try row(of: entity, key: key, for: nil)
  }

  /// The common store of several entities.
  ///
  /// - Throws: ``ManagedObjectError`` if there are several stores, or none.
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
