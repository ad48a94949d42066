internal import CDEStore

// The end of an unsaved change of a relationship that is neither set nor saved: a merge brought the same value, or the change
// is given up. Both sides end the change together.
extension NSManagedObject {
  /// Ends an unsaved to-one value that equals the stored one. The property then has the row's value.
  final func endReference(_ info: PropertyInfo) {
    guard let overlay = _overlay, overlay.changed.contains(info.slot) else { return }
    let value = overlay.values[info.slot]
    if info.inverseSlot == nil { return keepUnchanged(info.slot) }
    clearUnsaved(info.slot)
    if info.inverseIsToMany {
      forgetAsMember(info, value)
    } else if case .toOne(let partner) = value {
      let theirs = partner.slot(of: info, info.inverseSlot!)
      if partner.changedSlots.contains(theirs), case .toOne(let other)? = partner._overlay?.values[theirs],
        other === self
      {
        partner.clearUnsaved(theirs)
        partner.noteIfUnchanged()
      }
    }
    noteIfUnchanged()
  }

  /// Ends the change in the to-many relationships of the owners that an unsaved to-one value concerns: the owner that it names,
  /// and the owner that the row names.
  final func forgetAsMember(_ info: PropertyInfo, _ value: _PropertyValue) {
    guard let inverse = info.inverseSlot else { return }
    if case .toOne(let owner) = value { owner.forgetMember(self, owner.slot(of: info, inverse)) }
    let root = _binding.model.entities[info.destination].root
    if let key = info.cells.first.flatMap({ _batch.integer(Int(_row), $0) }),
      let former = _registry?.object(root: root, key: key), info.destinations.contains(former._binding.index)
    {
      former.forgetMember(self, former.slot(of: info, inverse))
    }
  }

  /// Ends the unsaved addition or removal of a pair of two to-many relationships, on both sides.
  final func endPair(_ info: PropertyInfo, with object: NSManagedObject) {
    forgetMember(object, info.slot)
    guard let inverse = info.inverseSlot else { return }
    object.forgetMember(self, object.slot(of: info, inverse))
  }

  /// Ends the unsaved addition or removal of a member on this side.
  final func forgetMember(_ object: NSManagedObject, _ slot: SlotIndex) {
    guard let overlay = _overlay, case .toMany(let members) = overlay.values[slot] else { return }
    members.forget(object)
    if !members.hasChanges { keepUnchanged(slot) }
    noteIfUnchanged()
  }

  /// Stops counting an object without unsaved values as updated.
  final func noteIfUnchanged() {
    guard isMarkedUpdated, changedSlots.isEmpty, !hasProblems else { return }
    unmarkUpdated()
    _registry?.context?.noteEnded(self)
  }
}
