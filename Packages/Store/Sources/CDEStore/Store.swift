/// A store of rows: the seam between the object layer and an engine.
///
/// All calls are synchronous, may come from any thread and run on it; reads run beside each other and beside
/// a write where the engine can do so. Values go in, values come out; no call keeps a reference to what it
/// was given, except that inserted and updated batches become the caller's new snapshots.
public protocol Store: AnyObject, Sendable {
  /// The schema of the rows. Entities and slots in calls are those of this schema.
  var schema: ResolvedSchema { get }

  /// The store's UUID, in upper case.
  var identifier: String { get }

  /// Whether calls that write throw `.readOnly`.
  var isReadOnly: Bool { get }

  /// Fetches rows.
  ///
  /// - Parameters:
  ///   - query: what to fetch, and in which order.
  ///   - isKnown: asked with root entity and key for each row found; when it says true the
  ///   row's cells are not decoded and only its key is reported. Runs on the calling thread, in the middle of
  ///   the fetch: it must not call the store.
  func fetch(
    _ query: StoreQuery, isKnown: ((_ root: Int, _ key: Int64) -> Bool)?
  ) throws(StoreError) -> FetchedRows

  /// The number of rows that a query finds. Its sorting counts for nothing, its limit does.
  func count(_ query: StoreQuery) throws(StoreError) -> Int

  /// The rows with these keys in the tree of `entity`; keys without a row are left out. In the
  /// order of their keys.
  func rows(entity: Int, keys: [Int64]) throws(StoreError) -> FetchedRows

  /// The row with this key in the tree of `entity`, or `nil`.
  func row(entity: Int, key: Int64) throws(StoreError) -> RowReference?

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
    entity: Int, slot: Int, owners: [Int64], isKnown: ((_ root: Int, _ key: Int64) -> Bool)?
  ) throws(StoreError) -> RelatedRows

  /// Writes everything or nothing.
  ///
  /// References stay whole: every reference that the transaction writes leads to a row that is there, and no
  /// reference is left to a row that it deletes, unless the deletion keeps it. Each costs one look-up in an index.
  ///
  /// - Parameters:
  ///   - transaction: what to write.
  ///   - committed: called once the transaction is durable, while no other commit can begin: the calls come in the
  ///     order of the commits. Other writers wait meanwhile, so it has to be short; it must not call the store.
  /// - Throws: `.conflict` with every row in conflict, `.danglingReference` with every reference that would lead
  ///   nowhere, `.uniqueness`, `.busy`, `.full` and so on; nothing is written then, and the same transaction may
  ///   be tried again.
  func commit(
    _ transaction: StoreTransaction, committed: (CommitResult) -> Void
  ) throws(StoreError) -> CommitResult

  /// Finds out why a transaction was refused with `.conflict` or `.uniqueness`: all conflicts, not only the first.
  ///
  /// Reads the rows of the transaction by their keys and unique values; writes nothing.
  func conflicts(of transaction: StoreTransaction) throws(StoreError) -> TransactionConflicts

  /// Changes or deletes all rows that a query finds, in one transaction.
  ///
  /// Versions of changed rows are raised, not checked. Attributes that the store derives follow.
  ///
  /// - Throws: `.uniqueness`; `.constraint` when a delete rule denies a deletion, a required relationship
  ///   would lose its object, or a required attribute its value; `.tooBig` when a computed number does not fit its
  ///   attribute; `.busy`, `.full` and so on. Nothing is written then.
  func commit(_ batch: StoreBatch) throws(StoreError) -> StoreBatchResult

  /// Hands out permanent keys ahead of a save.
  ///
  /// - Parameter counts: for root entity indexes, how many keys.
  /// - Returns: for each root the first of its keys; the others follow it.
  func allocateKeys(_ counts: [Int: Int]) throws(StoreError) -> [Int: Int64]

  /// The bytes of an external value: what `reference` in a cell of an attribute that allows
  /// external storage stands for.
  func externalValue(_ cell: ExternalValue) throws(StoreError) -> [UInt8]

  /// The store's metadata, with the keys that Core Data uses.
  func metadata() throws(StoreError) -> StoreMetadata

  /// Replaces the metadata keys that are not the store's own.
  func setMetadata(_ metadata: StoreMetadata) throws(StoreError)

  /// Finishes the work under way and closes all connections. Later calls throw `.closed`.
  func close() throws(StoreError)
}

extension Store {
  /// Writes everything or nothing, as ``commit(_:committed:)``.
  public func commit(_ transaction: StoreTransaction) throws(StoreError) -> CommitResult {
    try commit(transaction) { _ in }
  }
}

/// The elements of a to-many relationship for several owners.
public struct RelatedRows: Sendable {
  /// The decoded elements, each once, however many owners it has.
  public var rows: FetchedRows
  /// For each owner, in the order asked for, its part of `entries`.
  public var ranges: [Range<Int>]
  /// The elements; an element that belongs to several owners stands in several places.
  public var entries: [FetchedRows.Entry]

  /// Makes a result from its parts; see the properties.
  public init(rows: FetchedRows, ranges: [Range<Int>], entries: [FetchedRows.Entry]) {
    self.rows = rows
    self.ranges = ranges
    self.entries = entries
  }
}

/// How the bytes of an attribute that allows external storage stand in its cell: always behind a head byte.
///
/// Writers hand over a one, then the value; the engine moves large values into files, whose cells read a two,
/// then the file's name.
public enum ExternalValue: Sendable, Hashable {
  /// The value itself.
  case inline([UInt8])
  /// The name of a file beside the store.
  case file(name: String)

  /// Reads the cell's bytes: a head byte, then the value or a file's name.
  public init?(cell bytes: UnsafeRawBufferPointer) {
    switch bytes.first {
    case 1: self = .inline(Array(bytes.dropFirst()))
    case 2:
      // Some files end the name with a zero byte.
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

  /// The values by their keys; Core Data's own keys begin with `NS`.
  public var values: [String: Value]

  /// Makes metadata from values by key.
  public init(values: [String: Value] = [:]) { self.values = values }
}
