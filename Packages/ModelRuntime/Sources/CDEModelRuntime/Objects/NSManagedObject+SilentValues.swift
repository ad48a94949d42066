internal import CDEStore

// Values that are set without a change: primitive values, and values set in awakeFromFetch. Reads return them
// as any other value. They are saved together with a change of the object.
extension NSManagedObject {
  /// Sets a value that does not count as a change.
  final func setSilently(_ slot: SlotIndex, _ value: _PropertyValue) {
    prepareToSet(slot)
    noteWritten()
    // The former value is released at the end, because its deinit may call this object.
    let former = overlay.values[slot]
    overlay.values[slot] = value
    silence(slot)
    withExtendedLifetime(former) {}
  }

  /// Replaces the members of a to-many relationship, on this side alone and without a change.
  final func setMembersSilently(_ slot: SlotIndex, _ objects: [NSManagedObject]) {
    prepareToSet(slot)
    let members = loadedMembers(slot)
    let wanted = Set(objects.map(ObjectIdentifier.init))
    for object in members.objects where !wanted.contains(ObjectIdentifier(object)) { members.remove(object) }
    for object in objects { members.add(object) }
    if members.isOrdered, !members.objects.elementsEqual(objects, by: ===) {
      var seen = Set<ObjectIdentifier>()
      members.reorder(objects.filter { seen.insert(ObjectIdentifier($0)).inserted })
    }
    silence(slot)
  }

  private func silence(_ slot: SlotIndex) {
    _registry?.context?.noteSilentValue(self, slot)
    if overlay.changed.contains(slot) { return }
    // A new object is saved with all its values.
    if _home == nil || isInserted {
      overlay.changed.insert(slot)
    } else {
      problems.silent.insert(slot)
    }
  }

  /// Unmarks changes made since the object was read.
  @inline(never)
  final func silenceChanges() {
    guard let overlay = _overlay, !overlay.changed.isEmpty else { return }
    problems.silent.formUnion(overlay.changed)
    overlay.changed = PropertySet()
  }

  /// Marks the values that were set without a change, so that a save of the object includes them.
  @inline(never)
  final func countSilentValues() {
    guard let overlay = _overlay, let problems = overlay.problems, !problems.silent.isEmpty else { return }
    overlay.changed.formUnion(problems.silent)
    problems.silent = PropertySet()
  }
}
