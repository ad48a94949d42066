/// The state of an object between its context and the source of the context's rows.
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
/// A rollback makes an inserted object gone, and free again if the layer above says so.
///
/// A fault is a saved object whose row was not read. This is a state of its values, not of the object.
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
  /// The object has lost its row, or no row was found.
  case gone
}

/// What the next save does with an object.
enum UnsavedChange {
  case none, insertion, update, deletion
}

/// Why an object no longer has a row.
enum Disappearance {
  /// It was inserted, and deleted before it was saved.
  case neverSaved
  /// Its context saved its deletion.
  case deletionSaved
  /// Another writer deleted the row. A merge or a conflict reported this.
  case deletedByOthers
  /// A read did not find the row.
  case notFound
}

// MARK: The state of an object
extension NSManagedObject {
  final var state: ObjectState {
    if isGone { return .gone }
    if isMarkedDeleted { return .deleted }
    if isInserted { return .inserted }
    if _key == 0 || _home == nil { return .free }
    return hasTemporaryKey ? .savedToParent : .saved
  }

  /// Whether the object's ID is valid in this context only.
  final var hasTemporaryKey: Bool { _key < 0 }

  /// Whether the object's ID is valid in all contexts. A new object may have such an ID before it is saved.
  final var hasPermanentKey: Bool { _key > 0 }

  /// Whether the source of the context's rows has a row for the object, as far as the context was informed.
  final var isStored: Bool { !isInserted && (hasPermanentKey || (hasTemporaryKey && !isGone)) }

  /// Whether the next save deletes the object.
  final var isMarkedDeleted: Bool { _flags.contains(.deleted) }

  /// Whether the object was saved before and has unsaved changes. Also true if it is to be deleted.
  final var isMarkedUpdated: Bool { _flags.contains(.updated) }

  final var isGone: Bool { _flags.contains(.gone) }

  /// Whether the object is to be deleted, or no longer has a row, whichever writer deleted it.
  final var isDeletedOrGone: Bool { !_flags.isDisjoint(with: [.deleted, .gone]) }

  /// Whether the object has its values: the values of its row, or those of a new object.
  final var isRealized: Bool { _flags.isDisjoint(with: [.fault, .gone]) }

  final var hasProblems: Bool { _flags.contains(.hasProblems) }

  /// What the next save does with the object. It skips an object that was inserted and deleted again.
  final var unsavedChange: UnsavedChange {
    switch _flags.intersection([.inserted, .updated, .deleted]) {
    case .inserted, [.inserted, .updated]: .insertion
    case .deleted, [.deleted, .updated]: .deletion
    case .updated: .update
    default: .none
    }
  }
}

// MARK: Changes of an object's state
extension NSManagedObject {
  /// saved -> deleted, inserted -> deleted.
  final func markDeleted() {
    assert(state != .deleted && state != .free, "An object that is \(state) can't be marked as deleted.")
    _flags.insert(.deleted)
  }

  /// deleted -> saved: a policy keeps another writer's row.
  final func unmarkDeleted() { _flags.remove(.deleted) }

  /// inserted -> saved: its context saved it.
  final func becomeSaved() {
    assert(state == .inserted, "An object that is \(state) is not saved for the first time.")
    _flags.remove(.inserted)
  }

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
    case .neverSaved:
      _flags.subtract([.inserted, .deleted, .updated, .listed, .pending, .announced, .inEvent])
    case .deletionSaved:
      _flags.subtract([.deleted, .updated])
      _flags.insert(.deletionSaved)
    case .deletedByOthers: _flags.subtract([.updated, .deleted, .inserted, .listed, .pending, .inEvent])
    case .notFound: _flags.remove(.fault)
    }
    _flags.insert(.gone)
  }

  /// gone -> free: a rollback has dropped the insertion. The object has its values, and may be related and inserted again.
  @_spi(CDE) public final func _cdBecomeFree() {
    guard isGone, _home == nil else { return }
    _flags.remove(.gone)
    _key = 0
  }

  /// gone -> gone: whether `isDeleted` tells of the deletion that a save has written, as it does in `didSave()`.
  final func showDeletion(_ isShown: Bool) {
    guard isGone else { return }
    if isShown { _flags.remove(.deletionSaved) } else { _flags.insert(.deletionSaved) }
  }

  /// A row was read. A row that had vanished may exist again, because another context saved it under the same
  /// key.
  final func becomeRealized() { _flags.subtract([.fault, .gone, .deletionSaved]) }

  /// The values were dropped. The next access reads the row again.
  final func becomeFault() {
    _flags.subtract([.updated, .deleted])
    _flags.insert(.fault)
  }

  /// The context dropped the object's unsaved changes.
  final func dropMarks() { _flags.subtract([.updated, .deleted]) }

  /// The object no longer has unsaved values.
  final func unmarkUpdated() { _flags.remove(.updated) }

  /// The context dropped all its objects.
  final func forgetContext() {
    _flags.subtract([.inserted, .updated, .deleted, .pending, .listed, .inEvent])
  }
}

// MARK: The context's lists that contain an object
extension NSManagedObject {
  /// Whether a notification named the object as inserted.
  final var isAnnounced: Bool { _flags.contains(.announced) }

  /// Whether the object is in the list for the next notification.
  final var isPending: Bool { _flags.contains(.pending) }

  /// Whether the object is in one of its context's lists.
  final var isListed: Bool { !_flags.isDisjoint(with: [.listed, .pending]) }

  /// - Returns: whether the object was not among the changed ones before.
  final func enterChanged() -> Bool { _flags.insert(.listed).inserted }

  final func leaveChanged() { _flags.remove(.listed) }

  /// Whether the object changed since the last announcement.
  final var isInEvent: Bool { _flags.contains(.inEvent) }

  final func leaveEvent() { _flags.remove(.inEvent) }

  /// - Returns: whether the object was not among the pending ones before.
  final func enterPending() -> Bool {
    let isNew = !_flags.contains(.pending)
    _flags.insert([.pending, .inEvent])
    return isNew
  }

  /// - Returns: whether the object was among the pending ones.
  @discardableResult
  final func leavePending() -> Bool { _flags.remove(.pending) != nil }

  /// - Returns: whether the index of unsaved values did not have the object.
  final func enterIndex() -> Bool { _flags.insert(.indexed).inserted }

  final func leaveIndex() { _flags.remove(.indexed) }

  /// Notes that values of an indexed object change.
  @inline(__always)
  final func noteWritten() {
    if _flags.contains(.indexed) { noteWrittenSlowly() }
  }

  @inline(never)
  private final func noteWrittenSlowly() {
    _flags.remove(.indexed)
    _registry?.context?.noteWritten(self)
  }

  /// - Returns: whether no notification had named the object as inserted.
  final func noteAnnounced() -> Bool { _flags.insert(.announced).inserted }
}
