/// A store of rows: the interface between the object layer and an engine.
///
/// All calls are synchronous. They may be made on any thread and run on it. Reads run in parallel with each
/// other and with a write if the engine supports that. Parameters and results are values. No call keeps a
/// reference to its parameters, except that inserted and updated batches become the caller's new snapshots.
public protocol Store: AnyObject, Sendable {
  /// The schema of the rows. Entities and slots in calls refer to it.
  var schema: ResolvedSchema { get }

  /// The store's UUID, in upper case.
  var identifier: String { get }

  /// The metadata as they were when the store was opened, so that they are not read twice; nil if the engine does not keep them.
  var openedMetadata: StoreMetadata? { get }

  /// Whether writing calls throw `.readOnly`.
  var isReadOnly: Bool { get }

  /// Whether calls may wait for another machine. Contexts over such a store run on threads of their own.
  var mayWaitForNetwork: Bool { get }

  /// Fetches rows.
  ///
  /// - Parameters:
  ///   - query: the condition and the order.
  ///   - isKnown: called with root entity and key of each row found. If it returns true, the row's cells are
  ///     not decoded and only its key is reported. It runs on the calling thread during the fetch and must
  ///     not call the store.
  func fetch(
    _ query: StoreQuery, isKnown: ((_ root: RootIndex, _ key: Int64) -> Bool)?
  ) throws(StoreError) -> FetchedRows

  /// The keys of the rows that a query finds, in its order, in as little memory as the engine can read them with.
  ///
  /// The query's rows are of one tree.
  func keys(of query: StoreQuery) throws(StoreError) -> KeyList

  /// The number of rows that a query finds. The limit applies, but the order has no effect.
  func count(_ query: StoreQuery) throws(StoreError) -> Int

  /// How the engine would answer a query. Nothing is fetched.
  ///
  /// - Parameters:
  ///   - query: the condition and the order.
  ///   - prefersIndexes: whether the engine should plan as for tables of many rows, also if they have few.
  /// - Returns: the statements with their plans; none if the engine has no plans.
  func plans(of query: StoreQuery, prefersIndexes: Bool) throws(StoreError) -> [StatementPlan]

  /// Computes values from rows, one by one or in groups.
  func project(_ projection: StoreProjection) throws(StoreError) -> ProjectedRows

  /// The rows with these keys in the tree of `entity`, in the order of their keys. Keys without a row are
  /// omitted.
  func rows(entity: EntityIndex, keys: [Int64]) throws(StoreError) -> FetchedRows

  /// The row with this key in the tree of `entity`, or `nil`.
  func row(entity: EntityIndex, key: Int64) throws(StoreError) -> RowReference?

  /// The elements of a to-many relationship for each owner.
  ///
  /// - Parameters:
  ///   - entity: the index of the owners' entity.
  ///   - slot: the to-many relationship's slot in `entity`.
  ///   - owners: keys within the tree of `entity`.
  ///   - isKnown: as for ``fetch(_:isKnown:)``.
  /// - Returns: the elements of all owners, and for each owner the range of its elements, in the
  ///   relationship's order if it has one and by key otherwise.
  func related(
    entity: EntityIndex, slot: SlotIndex, owners: [Int64],
    isKnown: ((_ root: RootIndex, _ key: Int64) -> Bool)?
  ) throws(StoreError) -> RelatedRows

  /// Writes the whole transaction or nothing.
  ///
  /// References stay valid: each written reference leads to an existing row, and no reference to a deleted
  /// row is left, unless the deletion keeps it. Each reference costs one look-up in an index.
  ///
  /// - Parameters:
  ///   - transaction: the changes.
  ///   - committed: called after the transaction is durable and before another commit can begin, so the calls
  ///     have the order of the commits. Other writers wait meanwhile, so it must be short. It must not call
  ///     the store.
  /// - Throws: `.conflict` with all rows in conflict, `.danglingReference` with all references that would
  ///   lead to no row, `.uniqueness`, `.busy`, `.full` and so on. Then nothing is written, and the same
  ///   transaction may be tried again.
  func commit(
    _ transaction: StoreTransaction, committed: (CommitResult) -> Void
  ) throws(StoreError) -> CommitResult

  /// Finds the reasons why a transaction was refused with `.conflict` or `.uniqueness`: all conflicts, not
  /// only the first.
  ///
  /// Reads the rows of the transaction by their keys and unique values. Writes nothing.
  func conflicts(of transaction: StoreTransaction) throws(StoreError) -> TransactionConflicts

  /// Changes or deletes all rows that a query finds, in one transaction.
  ///
  /// Versions of changed rows are raised but not checked. Attributes that the store derives are updated.
  ///
  /// - Throws: `.uniqueness`; `.constraint` when a delete rule denies a deletion, a required relationship
  ///   would lose its object, or a required attribute its value; `.tooBig` when a computed number does not
  ///   fit its attribute; `.busy`, `.full` and so on. Then nothing is written.
  func commit(_ batch: StoreBatch) throws(StoreError) -> StoreBatchResult

  /// Inserts all rows of an insertion in one transaction, or none.
  ///
  /// The rows are read while they are written, maybe several times. An engine that can't do so takes all of them into memory.
  /// The result has no derived values: nothing but the new rows depends on them.
  ///
  /// - Throws: the errors of ``commit(_:committed:)``, and those of reading the rows. Then nothing is written.
  func commit(_ insertion: StoreInsertion) throws(StoreError) -> CommitResult

  /// Holds the write lock while a body writes and commits, so that the commits of several stores can follow each other.
  ///
  /// - Throws: the errors of `body`, and those of taking the lock. What the body did not commit is rolled back.
  func writing(_ body: (any StoreWriting) throws(StoreError) -> Void) throws(StoreError)

  /// What the store has of saves over several stores, which other stores may lack.
  func pendingSaves() throws(StoreError) -> [PendingSave]

  /// Assigns permanent keys in advance of a save.
  ///
  /// - Parameter counts: the number of keys for each index of a root entity.
  /// - Returns: for each root the first of its keys. The others follow it.
  func allocateKeys(_ counts: [RootIndex: Int]) throws(StoreError) -> [RootIndex: Int64]

  /// For each root the last key that was given to a row, to a deleted one too, or that was assigned in advance.
  func lastKeys() throws(StoreError) -> [RootIndex: Int64]

  /// The bytes of an external value, which a cell of an attribute with external storage refers to.
  func externalValue(_ cell: ExternalValue) throws(StoreError) -> [UInt8]

  /// Whether each commit is recorded in a history of the store.
  var recordsHistory: Bool { get }

  /// The recorded transactions, in the order of their commits. They belong to one state of the store.
  ///
  /// Changes of entities that the schema lacks are left out. A store without a history has no transactions.
  func history(_ query: StoreHistoryQuery) throws(StoreError) -> [StoreHistoryTransaction]

  /// The numbers of the recorded transactions; `nil` for a store without a history.
  func historyExtent() throws(StoreError) -> StoreHistoryExtent?

  /// Reports commits that other connections made: other processes, and other stores of this process on the same file.
  ///
  /// - Parameter handler: called in the order of the commits, never at the same time as `committed` of a commit, so it must be
  ///   short and must not call the store. What it returns is called afterwards, outside any lock. Commits made at the same
  ///   time may be reported together.
  /// - Returns: why commits of others may not be noticed; `nil` if they are.
  func observeOthers(
    _ handler: @escaping @Sendable (StoreForeignCommits) -> @Sendable () -> Void
  ) throws(StoreError) -> String?

  /// Removes old transactions and their changes from the history. Numbers are not used again.
  ///
  /// - Returns: the number of removed transactions.
  func purgeHistory(_ limit: StoreHistoryLimit) throws(StoreError) -> Int

  /// The store's metadata, with the keys that Core Data uses.
  func metadata() throws(StoreError) -> StoreMetadata

  /// Replaces the metadata, except for the store's own keys.
  func setMetadata(_ metadata: StoreMetadata) throws(StoreError)

  /// The store as it is now, for reading, whatever is committed later.
  ///
  /// The engine keeps what the state needs until the result is freed. Closing the store does not end it.
  ///
  /// - Returns: nil if the engine can't keep states.
  func pinned() throws(StoreError) -> (any Store)?

  /// Completes the current work and closes all connections. Later calls throw `.closed`.
  func close() throws(StoreError)
}

extension Store {
  /// The metadata are read when they are needed.
  public var openedMetadata: StoreMetadata? { nil }

  /// All calls need this machine alone.
  public var mayWaitForNetwork: Bool { false }

  /// The engine does not know. A copy of the store may give the keys of deleted rows again.
  public func lastKeys() throws(StoreError) -> [RootIndex: Int64] { [:] }

  /// No states are kept.
  public func pinned() throws(StoreError) -> (any Store)? { nil }

  /// The keys are read as ``fetch(_:isKnown:)`` reads them.
  public func keys(of query: StoreQuery) throws(StoreError) -> KeyList {
    var query = query
    query.keysOnly = true
    return KeyList(of: try fetch(query, isKnown: nil))
  }

  /// All rows are taken into memory.
  public func commit(_ insertion: StoreInsertion) throws(StoreError) -> CommitResult {
    var result = try commit(insertion.transaction())
    result.derived = []
    return result
  }

  /// An engine without open transactions takes part in no save over several stores.
  public func writing(
    _ body: (any StoreWriting) throws(StoreError) -> Void
  ) throws(StoreError) {
    throw StoreError(
      .unsupportedQuery,
      "This engine can't commit together with others. Save the objects of each store by themselves.")
  }

  /// No saves are recorded.
  public func pendingSaves() throws(StoreError) -> [PendingSave] { [] }

  /// Writes the whole transaction or nothing, as ``commit(_:committed:)`` does.
  public func commit(_ transaction: StoreTransaction) throws(StoreError) -> CommitResult {
    try commit(transaction) { _ in }
  }
}

/// The elements of a to-many relationship for several owners.
public struct RelatedRows: Sendable {
  /// The decoded elements. Each occurs once, even if it has several owners.
  public var rows: FetchedRows
  /// For each owner, in the given order, its range of `entries`.
  public var ranges: [Range<Int>]
  /// The elements. An element with several owners occurs several times.
  public var entries: [FetchedRows.Entry]

  /// Makes a result from its parts; see the properties.
  public init(rows: FetchedRows, ranges: [Range<Int>], entries: [FetchedRows.Entry]) {
    self.rows = rows
    self.ranges = ranges
    self.entries = entries
  }
}

/// The bytes in a cell of an attribute with external storage. The first is always a head byte.
///
/// Writers provide a one, then the value. The engine moves large values into files. Their cells contain a
/// two, then the file's name.
public enum ExternalValue: Sendable, Hashable {
  /// The value itself.
  case inline([UInt8])
  /// The name of a file outside the database.
  case file(name: String)

  /// Reads the cell's bytes: a head byte, then the value or a file's name.
  public init?(cell bytes: UnsafeRawBufferPointer) {
    switch bytes.first {
    case 1: self = .inline(Array(bytes.dropFirst()))
    case 2:
      // Some stores end the name with a zero byte.
      let name = bytes.dropFirst().prefix { $0 != 0 }
      self = .file(name: String(decoding: name, as: UTF8.self))
    default: return nil
    }
  }
}

/// A store's metadata: a property list, as values.
public struct StoreMetadata: Sendable, Hashable {
  /// A value of a property list.
  public indirect enum Value: Sendable, Hashable {
    case string(String)
    case integer(Int64)
    case real(Double)
    case boolean(Bool)
    /// Seconds since 2001.
    case date(Double)
    case data([UInt8])
    case array([Value])
    case dictionary([String: Value])
  }

  /// The values by key. Core Data's own keys begin with `NS`.
  public var values: [String: Value]

  /// Makes metadata from values by key.
  public init(values: [String: Value] = [:]) { self.values = values }
}
