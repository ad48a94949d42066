internal import CDEStore

// All unsaved values of an object are written here. Accessors, the other side of a relationship, delete rules,
// merge policies and undo call these functions.
//
// Values that are no changes are written elsewhere: cached copies of the row's values, and values set without
// a change (``setSilently(_:_:)``).
extension NSManagedObject {
  // MARK: Changes

  /// Sets a value and reports the change to the context.
  @inline(__always)
  final func change(_ slot: SlotIndex, to value: consuming _PropertyValue) {
    if _overlay == nil { makeOverlay() }
    if _flags.intersection(.listedOrInEvent) == .listed { keepFormerValues() }
    // The object owns its overlay during the call, so the overlay is not retained for each value. The former
    // value is released at the end, because its deinit may call this object.
    Borrowed(_overlay.unsafelyUnwrapped).with { overlay in
      swap(&value, &overlay.values[slot])
      overlay.changed.insert(slot)
    }
    markUpdated(slot)
  }

  final func writeToOne(_ slot: SlotIndex, _ object: NSManagedObject?) {
    if _flags.contains(.checked) { checkIsolation() }
    change(slot, to: object.map { .toOne($0) } ?? .null)
  }

  /// - Parameter change: the change that both sides of a pair then have; nil if the other side is no to-many relationship.
  final func writeAdd(
    _ slot: SlotIndex, _ object: NSManagedObject, at index: Int? = nil, as change: ToManyMembers.Change? = nil
  ) {
    if _flags.contains(.checked) { checkIsolation() }
    let members = membersToChange(slot)
    if _flags.intersection(.listedOrInEvent) == .listed { keepFormerValues() }
    if let change = change ?? changeOfMember(slot, object, isAdded: true) {
      members.include(object, at: index, as: change)
    } else {
      members.add(object, at: index)
    }
    noteChanged(slot)
  }

  final func writeRemove(
    _ slot: SlotIndex, _ object: NSManagedObject, as change: ToManyMembers.Change? = nil
  ) {
    if _flags.contains(.checked) { checkIsolation() }
    let members = membersToChange(slot)
    if _flags.intersection(.listedOrInEvent) == .listed { keepFormerValues() }
    if let change = change ?? changeOfMember(slot, object, isAdded: false) {
      members.exclude(object, as: change)
    } else {
      members.remove(object)
    }
    noteChanged(slot)
  }

  /// The change that an owner records of a member whose row stores the relationship; nil for other relationships, and if the row
  /// is not known.
  ///
  /// The members in memory do not tell: they may be newer than the member's row, or older.
  private func changeOfMember(
    _ slot: SlotIndex, _ object: NSManagedObject, isAdded: Bool
  ) -> ToManyMembers.Change? {
    withProperty(slot) { info in
      guard let inverse = info.inverseSlot, !info.inverseIsToMany else { return nil }
      if !object.isStored { return isAdded ? .addition : ToManyMembers.Change.none }
      guard object.isRealized, object._batch !== object._binding.defaults else { return nil }
      let isStored = object.withProperty(object.slot(of: info, inverse), object.storedKey) == _key
      if isStored == isAdded { return ToManyMembers.Change.none }
      return isAdded ? .addition : .removal
    }
  }

  /// The members of a relationship that is to be changed. An order can only be set if all members are loaded.
  final func membersToChange(_ slot: SlotIndex) -> ToManyMembers {
    withProperty(slot, \.isOrdered) ? loadedMembers(slot) : members(slot)
  }

  /// Keeps the unsaved values of an object that changes for the first time since the last announcement.
  @inline(never)
  private func keepFormerValues() {
    if let overlay = _overlay { _registry?.context?.keepFormerValues(FormerValues(overlay), of: self) }
  }

  /// Marks a property as changed whose value, or a part of it, was changed in place.
  final func noteChanged(_ slot: SlotIndex) {
    if _overlay == nil { makeOverlay() }
    withOverlay { $0.changed.insert(slot) }
    markUpdated(slot)
  }

  /// Takes the unsaved values of an object of another context, which has none afterwards.
  ///
  /// - Precondition: both objects have the same entity, this one has no values and is known to be new, and the other context
  ///   waits.
  final func takeOverlay(of other: NSManagedObject) -> Overlay? {
    guard let overlay = other._overlay else { return nil }
    other.dropOverlay()
    noteWritten()
    _overlay = overlay
    _flags.insert(.hasOverlay)
    return overlay
  }

  // MARK: Changes made for a conflict

  /// Makes a value unsaved that must stay although the row has changed. The caller announces the object.
  final func setUnsaved(_ slot: SlotIndex, to value: _PropertyValue) {
    noteWritten()
    // The former value is released at the end, because its deinit may call this object.
    let former = overlay.values[slot]
    overlay.values[slot] = value
    overlay.changed.insert(slot)
    withExtendedLifetime(former) {}
  }

  /// Drops an unsaved value. The property has the row's value again.
  final func clearUnsaved(_ slot: SlotIndex) {
    guard let overlay = _overlay else { return }
    noteWritten()
    let former = overlay.values[slot]
    overlay.values[slot] = .unset
    overlay.changed.remove(slot)
    withExtendedLifetime(former) {}
  }

  /// Unmarks a changed property. Its value stays.
  final func keepUnchanged(_ slot: SlotIndex) { withOverlay { $0.changed.remove(slot) } }
}
