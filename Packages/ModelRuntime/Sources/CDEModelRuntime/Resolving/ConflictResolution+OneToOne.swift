internal import CDEStore

// A one-to-one relationship is stored in two rows. If only one of them is in conflict, the other one must be
// changed to match.
extension ConflictResolution {
  /// Notes the one-to-one relationships of an object whose unsaved value stays although the store has another
  /// value.
  func notePartners(of object: NSManagedObject, _ differing: PropertySet) {
    for slot in differing where object._binding.properties[slot].isOneToOne { notePartner(of: object, slot) }
  }

  func notePartner(of object: NSManagedObject, _ slot: SlotIndex) { partners.append((object, slot)) }

  /// Makes the other rows of such relationships match.
  func resolvePartners() throws {
    if partners.isEmpty { return }
    var rows: [ReferenceConflict.Row] = []
    for (object, slot) in partners {
      let info = object._binding.properties[slot]
      if let key = object.storedKey(info) { rows.append(.init(entity: info.destination, key: key)) }
      if let other = object.toOne(slot), other.isStored {
        rows.append(.init(entity: other._binding.index, key: other._key))
      }
    }
    try read(rows)
    for (object, slot) in partners where object._registry === context.registry {
      let info = object._binding.properties[slot]
      let partner = object.toOne(slot)
      if let former = context.storedPartner(of: object, info), former !== partner {
        context.release(former, from: object, info)
      }
      guard let partner, !object.isMarkedDeleted, !partner.isDeletedOrGone else { continue }
      let theirs = partner.slot(of: info, info.inverseSlot!)
      switch partner.toOne(theirs) {
      case object?: break
      case nil where object.changedSlots.contains(slot): partner.writeToOne(theirs, object)
      default: object.writeToOne(slot, nil)
      }
    }
    partners = []
  }
}
