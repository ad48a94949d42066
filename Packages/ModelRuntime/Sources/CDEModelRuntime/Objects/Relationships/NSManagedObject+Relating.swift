internal import CDEStore

// Used when code of the application relates objects. The context itself calls the functions of relationships
// directly.
extension NSManagedObject {
  /// Sets a to-one relationship on both sides. If the object is deleted, the next save reports it instead.
  final func assignToOne(_ slot: SlotIndex, _ object: NSManagedObject?) {
    if hasProblems { overlay.problems?.refused[slot] = nil }
    if let object, !mayRelate(object, slot) { return }
    setToOne(slot, object)
    tellRelated()
  }

  /// Adds a member on both sides. If the member is deleted, the next save reports it instead.
  final func assignMember(_ slot: SlotIndex, _ object: NSManagedObject, at index: Int? = nil) {
    if mayRelate(object, slot) { addMember(slot, object, at: index) }
    tellRelated()
  }

  /// Removes a member on both sides, including a member that was refused.
  final func dropMember(_ slot: SlotIndex, _ object: NSManagedObject) {
    if hasProblems { overlay.problems?.refused[slot] = nil }
    removeMember(slot, object)
    tellRelated()
  }

  @inline(__always)
  private final func mayRelate(_ object: NSManagedObject, _ slot: SlotIndex) -> Bool {
    if !isDeletedOrGone, !object.isDeletedOrGone { return true }
    return mayRelateDeleted(object, slot)
  }

  @inline(never)
  private final func mayRelateDeleted(_ object: NSManagedObject, _ slot: SlotIndex) -> Bool {
    let info = _binding.properties[slot]
    checkSameContext(object, info)
    if isDeletedOrGone {
      // This side is not saved, but the other side may be saved.
      if let inverse = info.inverseSlot, !object.isDeletedOrGone {
        object.refuse(self, as: object._binding.properties[object.slot(of: info, inverse)])
      }
    } else {
      refuse(object, as: info)
    }
    return false
  }

  /// Does not change a relationship, because the object is deleted. The next save reports it.
  private final func refuse(_ object: NSManagedObject, as info: PropertyInfo) {
    willAccess()
    problems.refused[info.slot] = ManagedObjectError(
      .invalidValue,
      "\(_binding.name).\(info.name) can't hold an object of \(object._binding.name) that is deleted, and was left as it "
        + "was. \(info.isToMany ? "Remove that object from it" : "Set another object or nil"), and save again.",
      entity: _binding.name, property: info.name, objectID: objectID)
    enterUpdated()
  }
}
