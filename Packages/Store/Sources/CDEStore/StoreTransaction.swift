import Foundation

/// Everything one save writes, as values.
///
/// Inserted rows carry pending keys: below zero, `-1` for the first inserted row of an inheritance
/// tree, `-2` for the second. References to them, in to-one cells and links, use the same numbers.
/// The store replaces them by permanent keys inside the transaction, so keys are handed out in one
/// block per save and never leave a gap when a save fails. A row whose key is above zero keeps it: it was
/// handed out before by ``Store/allocateKeys(_:)``.
public struct StoreTransaction: Sendable {
  /// New rows; the version of each is 1, or higher for a row that was deleted and is written again.
  public var inserted: [RowBatch] = []
  /// Changed rows. A row that has another version by now is a conflict.
  public var updated: [RowUpdate] = []
  /// Rows to delete. A row that has another version by now is a conflict.
  public var deleted: [RowDeletion] = []
  /// Changes of relationships that no to-one cell describes.
  public var links: [LinkChange] = []
  /// Who writes, for the history and for observers.
  public var author: String?
  /// The name of the context that is saved, for the history and for observers.
  public var contextName: String?
  /// Whether a batch request asks for this, not a context's save. Observers tell the two apart; the store does
  /// not.
  public var isBatch = false

  /// Makes a transaction that writes nothing.
  public init() {}

  /// Whether there is nothing to write.
  public var isEmpty: Bool {
    inserted.isEmpty && updated.isEmpty && deleted.isEmpty && links.isEmpty
  }
}

/// Changed rows of one entity. Each row holds all its values as they stand after the save, and its new
/// version: the version read, plus one.
public struct RowUpdate: Sendable {
  /// The rows.
  public var batch: RowBatch
  /// For each row of the batch the slots whose columns are written. Rows with an empty set are
  /// checked against their version and get the new one, nothing else.
  public var changed: [PropertySet]

  /// Makes an update; see the properties. There are as many sets as rows.
  public init(batch: RowBatch, changed: [PropertySet]) {
    self.batch = batch
    self.changed = changed
  }
}

/// A row to delete, and what the delete rules of its relationships ask of the store.
public struct RowDeletion: Sendable {
  /// Index of the row's concrete entity.
  public var entity: Int
  /// The row's primary key.
  public var key: Int64
  /// The version read; the deletion is a conflict when the row has another one by now.
  public var version: Int64
  /// Relationships described by links that must have no member left which survives the transaction, because
  /// their delete rule cascades or denies. A member left is a ``ReferenceConflict``.
  public var emptied: PropertySet
  /// Relationships whose members may go on referring to the row when it is gone, because their delete rule
  /// takes no action.
  public var kept: PropertySet

  /// Makes a deletion; see the properties.
  public init(
    entity: Int, key: Int64, version: Int64, emptied: PropertySet = PropertySet(),
    kept: PropertySet = PropertySet()
  ) {
    self.entity = entity
    self.key = key
    self.version = version
    self.emptied = emptied
    self.kept = kept
  }
}

/// A pair added to, removed from or moved within a relationship that no to-one cell describes: many-to-many,
/// or to-many without an inverse.
public struct LinkChange: Hashable, Sendable {
  /// Whether a pair is added or removed.
  public enum Kind: Hashable, Sendable { case add, remove }

  /// Whether the pair is added or removed.
  public var kind: Kind
  /// Index of the entity that declares or inherits the relationship.
  public var entity: Int
  /// The relationship's slot in ``entity``.
  public var slot: Int
  /// Key of the object whose relationship this is.
  public var owner: Int64
  /// Key of the object at the other end.
  public var member: Int64
  /// Place of `member` in the order of `owner`'s relationship, when that is ordered. Adding a pair that
  /// exists already only moves it.
  public var order: Int64?
  /// Whether `member` goes behind all others that the store has in the order, which need not be known then. A pair
  /// that exists already keeps its place.
  public var isAppended: Bool

  /// Makes a change; see the properties.
  public init(
    kind: Kind, entity: Int, slot: Int, owner: Int64, member: Int64, order: Int64? = nil,
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

/// What a commit did.
public struct CommitResult: Sendable {
  /// For each entity index that is a root, the last key given out before: the pending key `-n`
  /// became `base + n`.
  public var keyBase: [Int64]
  /// Number of the commit in this store object, ascending from 1.
  public var sequence: UInt64
  /// Rows with attributes that the store derived, as they stand after the commit: written ones, and others
  /// whose values followed from what was written. A derived value alone does not raise a row's version.
  public var derived: [RowBatch]

  /// Makes a result from its parts; see the properties.
  public init(keyBase: [Int64], sequence: UInt64, derived: [RowBatch] = []) {
    self.keyBase = keyBase
    self.sequence = sequence
    self.derived = derived
  }

  /// The key that a row has after the commit.
  ///
  /// - Parameters:
  ///   - key: a key of the transaction. One above zero is permanent already and stays.
  ///   - root: index of the root of the row's inheritance tree.
  /// - Returns: the permanent key.
  public func permanentKey(for key: Int64, root: Int) -> Int64 {
    key < 0 ? keyBase[root] - key : key
  }
}
