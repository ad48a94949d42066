internal import CDEStore

// Used when code of the application relates objects. The context itself calls the functions of relationships
// directly.
extension NSManagedObject {
  /// Sets a to-one relationship on both sides. If the object is deleted, the next save reports it instead.
  final func assignToOne(_ slot: SlotIndex, _ object: NSManagedObject?) {
    if refusesRelating(object) { return }
    if hasProblems { overlay.problems?.refused[slot] = nil }
    if let object, !mayRelate(object, slot) { return }
    setToOne(slot, object)
    tellRelated()
  }

  /// Adds a member on both sides. If the member is deleted, the next save reports it instead.
  final func assignMember(_ slot: SlotIndex, _ object: NSManagedObject, at index: Int? = nil) {
    if refusesRelating(object) { return }
    if mayRelate(object, slot) { addMember(slot, object, at: index) }
    tellRelated()
  }

  /// Removes a member on both sides, including a member that was refused.
  final func dropMember(_ slot: SlotIndex, _ object: NSManagedObject) {
    if refusesRelating(object) { return }
    if hasProblems { overlay.problems?.refused[slot] = nil }
    removeMember(slot, object)
    tellRelated()
  }

  /// Whether one of the objects belongs to another isolation than the caller's.
  @inline(__always)
  private final func refusesRelating(_ object: NSManagedObject?) -> Bool {
    if _flags.contains(.checked), refusesWrite() { return true }
    guard let object, object._flags.contains(.checked) else { return false }
    return object.refusesWrite()
  }

  @inline(__always)
  private final func mayRelate(_ object: NSManagedObject, _ slot: SlotIndex) -> Bool {
    if !isDeletedOrGone, !object.isDeletedOrGone, _home?.address == object._home?.address { return true }
    return mayRelateAfterJoining(object, slot)
  }

  @inline(never)
  private final func mayRelateAfterJoining(_ object: NSManagedObject, _ slot: SlotIndex) -> Bool {
    let info = _binding.properties[slot]
    // An object does not join the context of one that is deleted.
    if isDeletedOrGone || object.isDeletedOrGone {
      checkDestination(object, info)
    } else {
      checkSameContext(object, info)
    }
    if isDeletedOrGone || hasLostContext {
      // This side is not saved, but the other side may be saved.
      guard !object.isDeletedOrGone, !object.hasLostContext else { return !isDeletedOrGone }
      if let inverse = info.inverseSlot {
        object.refuse(self, as: object._binding.properties[object.slot(of: info, inverse)])
      }
      return false
    }
    guard object.isDeletedOrGone || object.hasLostContext else { return true }
    refuse(object, as: info)
    return false
  }

  /// Does not change a relationship, because the object is deleted or has no context any more. The next save reports it.
  final func refuse(_ object: NSManagedObject, as info: PropertyInfo) {
    willAccess()
    let state = object.isDeletedOrGone ? "that is deleted" : "whose context was freed or reset"
    problems.refused[info.slot] = ManagedObjectError(
      .invalidValue,
      "\(_binding.name).\(info.name) can't hold an object of \(object._binding.name) \(state), and was left as it "
        + "was. \(info.isToMany ? "Remove that object from it" : "Set another object or nil"), and save again.",
      entity: _binding.name, property: info.name, objectID: objectID)
    enterUpdated()
  }
}
