internal import CDEStore

// Every unsaved value of an object is written here, set by accessors, the other side of a relationship, delete
// rules, merge policies. Undo attaches to these functions.
//
// Values that are no changes come and go elsewhere: kept copies of what the row says, and values set without a change
// (``setSilently(_:_:)``).
extension NSManagedObject {
  // MARK: Changes

  /// Sets a value and makes the change known to the context.
  @inline(__always)
  final func change(_ slot: Int, to value: consuming _PropertyValue) {
    if _overlay == nil { makeOverlay() }
    // The object keeps its overlay meanwhile, so it is not retained for each value. The former value is
    // released at the end, because its deinit may come back here.
    Borrowed(_overlay.unsafelyUnwrapped).with { overlay in
      swap(&value, &overlay.values[slot])
      overlay.changed.insert(slot)
    }
    markUpdated()
  }

  final func writeToOne(_ slot: Int, _ object: NSManagedObject?) {
    if _flags.contains(.checked) { checkIsolation() }
    change(slot, to: object.map { .toOne($0) } ?? .null)
  }

  final func writeAdd(_ slot: Int, _ object: NSManagedObject, at index: Int? = nil) {
    if _flags.contains(.checked) { checkIsolation() }
    // An order can only be kept if all members are loaded.
    let members = withProperty(slot, \.isOrdered) ? loadedMembers(slot) : members(slot)
    members.add(object, at: index)
    noteChanged(slot)
  }

  final func writeRemove(_ slot: Int, _ object: NSManagedObject) {
    if _flags.contains(.checked) { checkIsolation() }
    let members = withProperty(slot, \.isOrdered) ? loadedMembers(slot) : members(slot)
    members.remove(object)
    noteChanged(slot)
  }

  /// Counts a property as changed whose value, or something inside it, was changed in place.
  final func noteChanged(_ slot: Int) {
    if _overlay == nil { makeOverlay() }
    withOverlay { $0.changed.insert(slot) }
    markUpdated()
  }

  // MARK: Changes of a conflict

  /// Makes a value unsaved that is to stay although the row beneath it changed. The caller announces the object.
  final func setUnsaved(_ slot: Int, to value: _PropertyValue) {
    // The former value is released at the end, because its deinit may come back here.
    let former = overlay.values[slot]
    overlay.values[slot] = value
    overlay.changed.insert(slot)
    withExtendedLifetime(former) {}
  }

  /// Drops an unsaved value: the property reads from the row again.
  final func clearUnsaved(_ slot: Int) {
    guard let overlay = _overlay else { return }
    let former = overlay.values[slot]
    overlay.values[slot] = .unset
    overlay.changed.remove(slot)
    withExtendedLifetime(former) {}
  }

  /// Stops counting a property as changed, whose value stays.
  final func keepUnchanged(_ slot: Int) { withOverlay { $0.changed.remove(slot) } }
}
