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

  /// The first store of an entity's rows; nil if none is loaded.
  func handle(for entity: EntityBinding) -> StoreHandle?

  /// All stores of an entity's rows, in the order in which they were added.
  func handles(for entity: EntityBinding) -> [StoreHandle]

  /// The store of one row; nil if it is not loaded.
  func handle(for entity: EntityBinding, key: Int64) -> StoreHandle?

  /// The removed store that had a row; any that had the entity for a key that is not above zero.
  func removedHandle(for entity: EntityBinding, key: Int64) -> StoreHandle?

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

  /// The rows that meet a query's condition, in its order. Rows for which `isKnown` holds may come without values.
  ///
  /// - Parameter stores: the stores whose rows are found; nil for all.
  func fetch(
    _ query: StoreQuery, of entity: EntityBinding, in stores: [StoreHandle]?,
    isKnown: ((_ root: RootIndex, _ key: Int64) -> Bool)?
  ) throws(StoreError) -> FetchedRows

  /// The keys of the rows that meet a query's condition, in its order.
  func keys(of query: StoreQuery, of entity: EntityBinding, in stores: [StoreHandle]?) throws(StoreError)
    -> KeyList

  /// The number of rows that meet a query's condition.
  func count(_ query: StoreQuery, of entity: EntityBinding, in stores: [StoreHandle]?) throws(StoreError)
    -> Int

  /// The number of rows that stores find, without unsaved changes of a parent context.
  func storedCount(
    _ query: StoreQuery, of entity: EntityBinding, in stores: [StoreHandle]?
  ) throws(StoreError) -> Int

  /// The values that stores compute from their rows. Rows that are not saved have none.
  func project(
    _ projection: StoreProjection, of entity: EntityBinding, in stores: [StoreHandle]?
  ) throws(StoreError) -> ProjectedRows

  /// The bytes of a value that is stored outside the rows.
  func externalValue(_ value: ExternalValue, of entity: EntityBinding) throws(StoreError) -> [UInt8]

  /// Reserves keys for new objects of an inheritance tree.
  ///
  /// - Parameter handle: the store that will have the objects.
  /// - Returns: the first key. The others follow it.
  func allocateKeys(
    _ count: Int, of root: EntityBinding, in handle: StoreHandle
  ) throws(StoreError) -> Int64
}

/// A source of rows that writes saves to stores: the coordinator.
protocol StoreSource: RowSource {
  /// Writes a save to one store, completely or not at all.
  ///
  /// - Parameter committed: called once, while other writers wait.
  func commit(
    _ transaction: StoreTransaction, to handle: StoreHandle, committed: (CommitResult) -> Void
  ) throws(StoreError) -> CommitResult

  /// The conflicts for which the store refuses a save.
  func conflicts(
    of transaction: StoreTransaction, in handle: StoreHandle
  ) throws(StoreError) -> TransactionConflicts

  /// Inserts the rows of a batch request in one transaction.
  func commit(_ insertion: StoreInsertion, to handle: StoreHandle) throws(StoreError) -> CommitResult

  /// Executes a batch request in one transaction.
  func commit(_ batch: StoreBatch, to handle: StoreHandle) throws(StoreError) -> StoreBatchResult
}

extension RowSource {
  func keys(
    of query: StoreQuery, of entity: EntityBinding, in stores: [StoreHandle]?
  ) throws(StoreError) -> KeyList {
    var query = query
    query.keysOnly = true
    return KeyList(of: try fetch(query, of: entity, in: stores, isKnown: nil))
  }

  /// One row that the context itself needs.
  func row(of entity: EntityBinding, key: Int64) throws(StoreError) -> RowReference? {
    try row(of: entity, key: key, for: nil)
  }
}
