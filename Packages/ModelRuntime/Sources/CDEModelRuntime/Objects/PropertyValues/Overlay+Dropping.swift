internal import CDEStore

// Values that an overlay drops: for a new row, a save, a rollback, or the end of its context.
extension Overlay {
  /// Releases related objects, so that objects that refer to each other can be freed.
  func dropRelationships(keepingChanged: Bool) {
    for slot in slots where !keepingChanged || !changed.contains(slot) {
      switch values[slot] {
      case .toOne, .toMany: values[slot] = .unset
      default: break
      }
    }
  }

  /// Drops copies of the old row's values. To-many members stay, because the row does not contain them.
  func dropKeptAttributes() {
    let unsaved = unsaved
    for slot in slots where !unsaved.contains(slot) {
      if case .toMany = values[slot] { continue }
      values[slot] = .unset
    }
  }

  /// Drops stored members. Added and removed members stay.
  func unloadMembers() {
    for slot in slots {
      if case .toMany(let members) = values[slot] { members.unload() }
    }
  }

  /// Drops unsaved values and the to-many members that belong to them.
  func rollBack() {
    for slot in unsaved {
      if case .toMany(let members) = values[slot] {
        members.clearChanges()
        members.unload()
      }
      values[slot] = .unset
    }
    changed = PropertySet()
  }

  /// Marks the changes as saved.
  ///
  /// - Returns: whether the row contains all values that are left.
  func markSaved(but transient: PropertySet) -> Bool {
    if isCopy(but: transient) { return true }
    changed = PropertySet()
    for slot in slots {
      switch values[slot] {
      case .unset, .object: continue
      case .toMany(let members): members.clearChanges()
      default:
        if !transient.contains(slot) { values[slot] = .unset }
      }
    }
    return false
  }

  /// Whether the row contains each value as well, or will contain it.
  func isCopy(but transient: PropertySet) -> Bool {
    for slot in slots {
      switch values[slot] {
      case .unset: continue
      case .toMany, .object: return false
      default: if transient.contains(slot) { return false }
      }
    }
    return true
  }
}
