import Foundation

/// All changes of one save, as values.
///
/// Inserted rows have pending keys below zero: `-1` for the first inserted row of an inheritance tree, `-2`
/// for the second. References to them, in to-one cells and links, use the same numbers. The store replaces
/// them by permanent keys inside the transaction. Keys are therefore assigned in one block for each save, and
/// a failed save leaves no gap. A row with a key above zero keeps it. ``Store/allocateKeys(_:)`` has assigned
/// it before.
public struct StoreTransaction: Sendable {
  /// New rows. Their version is 1, or higher for a row that was deleted and is written again.
  public var inserted: [RowBatch] = []
  /// Changed rows. A row whose stored version has changed is a conflict.
  public var updated: [RowUpdate] = []
  /// Rows to delete. A row whose stored version has changed is a conflict.
  public var deleted: [RowDeletion] = []
  /// Rows that the transaction does not write. A row whose stored version has changed is a conflict all the same.
  public var checked: [RowCheck] = []
  /// Changes of relationships that no to-one cell stores.
  public var links: [LinkChange] = []
  /// Objects whose to-many relationships change, for the history. Other stores ignore them.
  public var touched: [StoreTouch] = []
  /// The author of the transaction, for the history and for observers.
  public var author: String?
  /// The name of the saved context, for the history and for observers.
  public var contextName: String?
  /// Whether the transaction belongs to a batch request and not to a context's save. Only observers
  /// distinguish the two.
  public var isBatch = false
  /// The greatest key that a new row may get. A transaction whose rows would get a greater one fails with `.full`.
  public var keyLimit = Int64.max
  /// Records and marks of saves over several stores, written with the transaction.
  public var pending: [PendingSave] = []
  /// Whether contexts or observers get the commit, in the order of commits; nil if that is not known.
  ///
  /// An engine whose commits overlap may ask once the transaction is committed. If none gets it, the caller need not wait for the
  /// commits that were sent before it.
  public var hasRecipients: (@Sendable () -> Bool)?

  /// Makes a transaction that writes nothing.
  public init() {}

  /// Whether there is nothing to write.
  public var isEmpty: Bool {
    inserted.isEmpty && updated.isEmpty && deleted.isEmpty && links.isEmpty
  }
}

/// Changed rows of one entity. Each row contains all its values after the save, and its new version: the
/// version read, plus one.
public struct RowUpdate: Sendable {
  /// The rows.
  public var batch: RowBatch
  /// For each row of the batch the slots whose columns are written. For rows with an empty set, only the
  /// version is checked and raised.
  public var changed: [PropertySet]

  /// Makes an update; see the properties. There are as many sets as rows.
  public init(batch: RowBatch, changed: [PropertySet]) {
    self.batch = batch
    self.changed = changed
  }
}

/// A row whose version a transaction compares, and that it does not write.
public struct RowCheck: Sendable {
  /// Index of the row's concrete entity.
  public var entity: EntityIndex
  /// The row's primary key.
  public var key: Int64
  /// The version read. If the stored version differs, or the row does not exist, the transaction is a conflict.
  public var version: Int64

  /// Makes a check; see the properties.
  public init(entity: EntityIndex, key: Int64, version: Int64) {
    self.entity = entity
    self.key = key
    self.version = version
  }
}

/// A row to delete, with the checks that the delete rules of its relationships require.
public struct RowDeletion: Sendable {
  /// Index of the row's concrete entity.
  public var entity: EntityIndex
  /// The row's primary key.
  public var key: Int64
  /// The version read. If the stored version differs, the deletion is a conflict.
  public var version: Int64
  /// Relationships stored by links whose members must all be deleted by the transaction, because their delete
  /// rule cascades or denies. A remaining member is a ``ReferenceConflict``.
  public var emptied: PropertySet
  /// Relationships whose members may keep their references to the deleted row, because their delete rule
  /// takes no action.
  public var kept: PropertySet

  /// Makes a deletion; see the properties.
  public init(
    entity: EntityIndex, key: Int64, version: Int64, emptied: PropertySet = PropertySet(),
    kept: PropertySet = PropertySet()
  ) {
    self.entity = entity
    self.key = key
    self.version = version
    self.emptied = emptied
    self.kept = kept
  }
}

/// A pair added to, removed from or moved within a relationship that no to-one cell stores: many-to-many, or
/// to-many without an inverse.
public struct LinkChange: Hashable, Sendable {
  /// Whether a pair is added or removed.
  public enum Kind: Hashable, Sendable { case add, remove }

  /// Whether the pair is added or removed.
  public var kind: Kind
  /// Index of the entity that declares or inherits the relationship.
  public var entity: EntityIndex
  /// The relationship's slot in ``entity``.
  public var slot: SlotIndex
  /// Key of the object that owns the relationship.
  public var owner: Int64
  /// Key of the object at the other end.
  public var member: Int64
  /// Position of `member` in the order of `owner`'s relationship, if that is ordered. Adding an existing pair
  /// only moves it.
  public var order: Int64?
  /// Whether `member` is appended to the stored order, whose members need not be known. An existing pair
  /// keeps its position.
  public var isAppended: Bool
  /// Whether ``order`` says only where `member` stands among the owner's members that the transaction names. They keep the positions
  /// that they have in the store, as many as can, and the others get positions between those. A pair that keeps its position is not
  /// written.
  public var isRanked = false

  /// Makes a change; see the properties.
  public init(
    kind: Kind, entity: EntityIndex, slot: SlotIndex, owner: Int64, member: Int64, order: Int64? = nil,
    isAppended: Bool = false
  ) {
    self.kind = kind
    self.entity = entity
    self.slot = slot
    self.owner = owner
    self.member = member
    self.order = order
    self.isAppended = isAppended
  }
}

/// The result of a commit.
public struct CommitResult: Sendable {
  /// For each index of a root entity, the last key assigned before. The pending key `-n` became `base + n`.
  public var keyBase: IndexedArray<RootIndex, Int64>
  /// Number of the commit in this store object. Numbers ascend from 1.
  public var number: UInt64
  /// Rows with attributes that the store derived, as after the commit: written rows, and others whose values
  /// depend on written rows. A changed derived value alone does not raise a row's version.
  public var derived: [RowBatch]
  /// The number of the transaction in the store's history; `nil` if it was not recorded.
  public var historyNumber: Int64?
  /// Whether a later commit, which no context gets, may have been numbered before this one; nil if that can't be. The rows of this commit
  /// may then be older than the stored ones, so contexts that merge it read them. Asked when it is known which contexts get this commit.
  public var isOvertaken: (@Sendable () -> Bool)?

  /// Makes a result from its parts; see the properties.
  public init(
    keyBase: IndexedArray<RootIndex, Int64>, number: UInt64, derived: [RowBatch] = [],
    historyNumber: Int64? = nil
  ) {
    self.keyBase = keyBase
    self.number = number
    self.derived = derived
    self.historyNumber = historyNumber
  }

  /// The key that a row has after the commit.
  ///
  /// - Parameters:
  ///   - key: a key of the transaction. A key above zero is permanent and does not change.
  ///   - root: index of the root of the row's inheritance tree.
  /// - Returns: the permanent key.
  public func permanentKey(for key: Int64, root: RootIndex) -> Int64 {
    key < 0 ? keyBase[root] - key : key
  }
}
