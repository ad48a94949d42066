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

extension NSManagedObjectContext {
  /// Releases the objects that an object's row refers to, if its unsaved one-to-one relationships have other
  /// values.
  ///
  /// The setter released the partner of that time. Since then a merge may have brought a row with another
  /// partner.
  func releaseFormerPartners(of object: NSManagedObject) {
    let slots = object.withBinding(\.savedSlots.oneToOne)
    if slots.isEmpty || object.isMarkedDeleted { return }
    for slot in slots.intersection(object.changedSlots) {
      let info = object._binding.properties[slot]
      guard let former = storedPartner(of: object, info), former !== object.toOne(slot) else { continue }
      release(former, from: object, info)
    }
  }

  fileprivate func storedPartner(of object: NSManagedObject, _ info: PropertyInfo) -> NSManagedObject? {
    object.storedKey(info).map { self.object(entity: object.storedEntity(info), key: $0) }
  }

  fileprivate func release(_ former: NSManagedObject, from object: NSManagedObject, _ info: PropertyInfo) {
    let theirs = former.slot(of: info, info.inverseSlot!)
    guard !former.isDeletedOrGone, former.toOne(theirs) === object, !former.isDeletedOrGone else { return }
    former.writeToOne(theirs, nil)
  }
}

extension NSManagedObject {
  /// The key of the object that a to-one relationship's row refers to.
  final func storedKey(_ info: PropertyInfo) -> Int64? {
    info.cells.first.flatMap { _batch.integer(Int(_row), $0) }
  }
}
