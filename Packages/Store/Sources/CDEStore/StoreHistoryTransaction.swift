/// A committed transaction, as a store's history keeps it.
public struct StoreHistoryTransaction: Sendable, Hashable {
  /// The transaction's number. Numbers ascend in the order of the commits and are never used again.
  public var number: Int64
  /// Seconds since 2001 at the time of the commit.
  public var timestamp: Double
  /// The author given for the transaction; `nil` without one.
  public var author: String?
  /// The name of the context that saved; `nil` without one.
  public var contextName: String?
  /// The identifier of the program's bundle; `nil` without one.
  public var bundleIdentifier: String?
  /// The name of the process.
  public var processName: String?
  /// The changes of single rows, in the order of their numbers; empty if the query leaves them out.
  public var changes: [StoreHistoryChange]

  /// Makes a transaction from its parts; see the properties.
  public init(
    number: Int64, timestamp: Double, author: String? = nil, contextName: String? = nil,
    bundleIdentifier: String? = nil, processName: String? = nil, changes: [StoreHistoryChange] = []
  ) {
    self.number = number
    self.timestamp = timestamp
    self.author = author
    self.contextName = contextName
    self.bundleIdentifier = bundleIdentifier
    self.processName = processName
    self.changes = changes
  }
}

/// The change of one row by a transaction of the history.
public struct StoreHistoryChange: Sendable, Hashable {
  /// What happened to the row. The numbers are those of Core Data's files.
  public enum Kind: Int64, Sendable, Hashable { case inserted = 0, updated = 1, deleted = 2 }

  /// The change's number, unique in the store.
  public var number: Int64
  /// What happened to the row.
  public var kind: Kind
  /// Index of the row's concrete entity.
  public var entity: EntityIndex
  /// The row's primary key.
  public var key: Int64
  /// The slots of the properties that an update changed; to-many relationships whose members changed are included.
  /// All stored ones if the history names columns that the schema does not explain; `nil` if it names none.
  public var properties: PropertySet?
  /// The last values of a deleted row, of attributes that the history preserves.
  public var tombstone: [SlotIndex: StoreValue]
  /// The same of composites: the values of their leaves in declared order.
  public var compositeTombstone: [SlotIndex: [StoreValue]] = [:]

  /// Makes a change from its parts; see the properties.
  public init(
    number: Int64, kind: Kind, entity: EntityIndex, key: Int64, properties: PropertySet? = nil,
    tombstone: [SlotIndex: StoreValue] = [:]
  ) {
    self.number = number
    self.kind = kind
    self.entity = entity
    self.key = key
    self.properties = properties
    self.tombstone = tombstone
  }
}

/// Which part of a store's history is read.
public struct StoreHistoryQuery: Sendable, Hashable {
  /// Only transactions with higher numbers.
  public var after: Int64
  /// Only transactions that were committed later, in seconds since 2001; `nil` for all.
  public var since: Double?
  /// At most so many transactions, the oldest ones; `nil` for all.
  public var limit: Int?
  /// Whether the changes of the transactions are read, too.
  public var includesChanges: Bool

  /// Makes a query; see the properties.
  public init(after: Int64 = 0, since: Double? = nil, limit: Int? = nil, includesChanges: Bool = true) {
    self.after = after
    self.since = since
    self.limit = limit
    self.includesChanges = includesChanges
  }
}

/// The numbers of the transactions in a store's history.
public struct StoreHistoryExtent: Sendable, Hashable {
  /// The oldest transaction; `nil` if the history is empty.
  public var first: Int64?
  /// The last transaction, even if it was purged; 0 if there was none.
  public var last: Int64

  /// Makes an extent; see the properties.
  public init(first: Int64?, last: Int64) {
    self.first = first
    self.last = last
  }

  /// Whether transactions after a number were purged, so that the history after it has a gap.
  ///
  /// - Parameter number: the last transaction that is known to the caller; 0 for the place before the first one.
  public func isPurged(after number: Int64) -> Bool {
    number < (first ?? last + 1) - 1
  }

  /// Whether transactions after a number were purged that are not among these.
  ///
  /// - Parameters:
  ///   - number: the last transaction that is known to the caller.
  ///   - own: transactions that the caller has committed itself.
  @_spi(CDE) public func lacks(after number: Int64, otherThan own: Set<Int64>) -> Bool {
    guard isPurged(after: number) else { return false }
    let first = first ?? last + 1
    return first - 1 - number > own.count { $0 > number && $0 < first }
  }
}

/// The transactions that a purge removes.
public enum StoreHistoryLimit: Sendable, Hashable {
  /// Those with lower numbers.
  case before(number: Int64)
  /// Those committed earlier, in seconds since 2001.
  case beforeTime(Double)
}

/// An object whose to-many relationships a transaction changes without writing its row. Only the history records it.
public struct StoreTouch: Sendable, Hashable {
  /// Index of an entity of the object. The object may be of a sub-entity.
  public var entity: EntityIndex
  /// The row's key.
  public var key: Int64
  /// The slots of the relationships in that entity.
  public var properties: PropertySet

  /// Makes a touch; see the properties.
  public init(entity: EntityIndex, key: Int64, properties: PropertySet) {
    self.entity = entity
    self.key = key
    self.properties = properties
  }
}

/// Commits that other connections made to a store.
public struct StoreForeignCommits: Sendable {
  /// The transactions, in the order of the commits; `nil` if the store has no history, so that any row may have changed.
  public var transactions: [StoreHistoryTransaction]?

  /// Makes a report from its parts.
  public init(transactions: [StoreHistoryTransaction]?) { self.transactions = transactions }
}
