internal import CDEStore

// The other object of a one-to-one relationship, which is stored in two rows.

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

  func storedPartner(of object: NSManagedObject, _ info: PropertyInfo) -> NSManagedObject? {
    object.storedKey(info).map { self.object(entity: object.storedEntity(info), key: $0) }
  }

  func release(_ former: NSManagedObject, from object: NSManagedObject, _ info: PropertyInfo) {
    let theirs = former.slot(of: info, info.inverseSlot!)
    guard !former.isDeletedOrGone, former.toOne(theirs) === object, !former.isDeletedOrGone else { return }
    former.writeToOne(theirs, nil)
  }
}
