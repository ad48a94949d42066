/// Where an object stands between its context and the source of the context's rows.
///
/// ```text
///         insert                save               delete            save
///  free ─────────▶ inserted ──────────▶ saved ────────────▶ deleted ────────▶ gone
///                     │                   ▲                    │                ▲
///                     │ save, in a child  │ save of the parent │ rollback       │ its row vanished,
///                     ▼                   │                    ▼                │ or another writer deleted it
///                savedToParent ───────────┘                  saved ─────────────┘
/// ```
///
/// A fault is a saved object whose row was not read: a state of its values, not of the object.
enum ObjectState: Sendable {
  /// In no context.
  case free
  /// In a context, and without a row.
  case inserted
  /// The row is in the parent context, which has not saved it. A context whose source is a coordinator has no such objects.
  case savedToParent
  /// The row is in the store.
  case saved
  /// The next save deletes the row.
  case deleted
  /// Without a row from now on, or without one that could be found.
  case gone
}

/// What the next save does with an object.
enum UnsavedChange {
  case none, insertion, update, deletion
}

/// Why an object has no row any more.
enum Disappearance {
  /// It was inserted, and deleted before it was saved.
  case neverSaved
  /// Its context saved its deletion.
  case deletionSaved
  /// Another writer deleted the row, as a merge or a conflict tells.
  case deletedByOthers
  /// A read did not find the row.
  case notFound
}

// MARK: What state an object is in
extension NSManagedObject {
  final var state: ObjectState {
    if isGone { return .gone }
    if isMarkedDeleted { return .deleted }
    if isInserted { return .inserted }
    if _key == 0 || _home == nil { return .free }
    return hasTemporaryKey ? .savedToParent : .saved
  }

  /// Whether the object's ID is its own in this context alone.
  final var hasTemporaryKey: Bool { _key < 0 }

  /// Whether the object's ID names it in every context. A new object may have such an ID before it is saved.
  final var hasPermanentKey: Bool { _key > 0 }

  /// Whether the source of the context's rows has a row for the object, or had one when that was last known.
  final var isStored: Bool { !isInserted && (hasPermanentKey || (hasTemporaryKey && !isGone)) }

  /// Whether the next save deletes the object.
  final var isMarkedDeleted: Bool { _flags.contains(.deleted) }

  /// Whether the object has unsaved changes and was saved before; also of one that is to be deleted.
  final var isMarkedUpdated: Bool { _flags.contains(.updated) }

  final var isGone: Bool { _flags.contains(.gone) }

  /// Whether the object is to be deleted, or has no row any more, whichever writer deleted it.
  final var isDeletedOrGone: Bool { !_flags.isDisjoint(with: [.deleted, .gone]) }

  /// Whether the object has its values: those of its row, or those of a new object.
  final var isRealized: Bool { _flags.isDisjoint(with: [.fault, .gone]) }

  final var hasProblems: Bool { _flags.contains(.hasProblems) }

  /// What the next save does with the object. An object that was inserted and deleted again is left out.
  final var unsavedChange: UnsavedChange {
    switch _flags.intersection([.inserted, .updated, .deleted]) {
    case .inserted, [.inserted, .updated]: .insertion
    case .deleted, [.deleted, .updated]: .deletion
    case .updated: .update
    default: .none
    }
  }
}

// MARK: How an object changes its state
extension NSManagedObject {
  /// saved -> deleted, inserted -> deleted.
  final func markDeleted() { _flags.insert(.deleted) }

  /// deleted -> saved: a policy lets another writer's row stay.
  final func unmarkDeleted() { _flags.remove(.deleted) }

  /// inserted -> saved: its context saved it.
  final func becomeSaved() { _flags.remove(.inserted) }

  /// inserted -> saved, with unsaved values: the object takes over a row that another writer wrote.
  final func takeOverRow() {
    _flags.subtract([.inserted, .announced])
    _flags.insert(.updated)
  }

  /// saved -> inserted: another writer deleted the row, and the next save writes it again.
  final func becomeInsertedAgain() {
    _flags.subtract([.updated, .gone])
    _flags.insert(.inserted)
  }

  /// Any state -> gone.
  final func becomeGone(_ reason: Disappearance) {
    switch reason {
    case .neverSaved: _flags.subtract([.inserted, .deleted, .updated, .listed, .pending, .announced])
    case .deletionSaved:
      _flags.subtract([.deleted, .updated])
      _flags.insert(.deletionSaved)
    case .deletedByOthers: _flags.subtract([.updated, .deleted, .inserted, .listed, .pending])
    case .notFound: _flags.remove(.fault)
    }
    _flags.insert(.gone)
  }

  /// A row was read. One that had vanished may exist again: another context saved it under a key that was used before.
  final func becomeRealized() { _flags.subtract([.fault, .gone, .deletionSaved]) }

  /// The values were forgotten; the row is read again when it is needed.
  final func becomeFault() {
    _flags.subtract([.updated, .deleted])
    _flags.insert(.fault)
  }

  /// The context dropped the object's unsaved changes.
  final func dropMarks() { _flags.subtract([.updated, .deleted]) }

  /// The object has unsaved values no more.
  final func unmarkUpdated() { _flags.remove(.updated) }

  /// The context forgot all it knew.
  final func forgetContext() { _flags.subtract([.inserted, .updated, .deleted, .pending, .listed]) }
}

// MARK: In which of its context's lists an object stands
extension NSManagedObject {
  /// Whether a notification named the object as inserted.
  final var isAnnounced: Bool { _flags.contains(.announced) }

  /// Whether the object stands in the list of what the next notification names.
  final var isPending: Bool { _flags.contains(.pending) }

  /// Whether the object stands in one of its context's lists.
  final var isListed: Bool { !_flags.isDisjoint(with: [.listed, .pending]) }

  /// - Returns: whether the object was not among the changed ones before.
  final func enterChanged() -> Bool { _flags.insert(.listed).inserted }

  final func leaveChanged() { _flags.remove(.listed) }

  /// - Returns: whether the object was not among the pending ones before.
  final func enterPending() -> Bool { _flags.insert(.pending).inserted }

  /// - Returns: whether the object was among the pending ones.
  @discardableResult
  final func leavePending() -> Bool { _flags.remove(.pending) != nil }

  /// - Returns: whether no notification had named the object as inserted.
  final func noteAnnounced() -> Bool { _flags.insert(.announced).inserted }
}
