internal import CDEStore

// The other object of a one-to-one relationship, which is stored in two rows.

extension NSManagedObjectContext {
  /// Releases the objects that an object's row refers to, if its unsaved one-to-one relationships have other
  /// values.
  ///
  /// The setter released the partner of that time. Since then a merge may have brought a row with another
  /// partner.
  ///
  /// - Parameter reads: whether partners are read again whose rows contradict the object's. A save does that; a merge makes no
  ///   query.
  func releaseFormerPartners(of object: NSManagedObject, reads: Bool = false) {
    let slots = object.withBinding(\.savedSlots.oneToOne)
    if slots.isEmpty || object.isMarkedDeleted { return }
    for slot in slots.intersection(object.changedSlots) {
      let info = object._binding.properties[slot]
      guard let former = storedPartner(of: object, info), former !== object.toOne(slot) else { continue }
      if reads { readAgain(former, partnerOf: object, info) }
      release(former, from: object, info)
    }
  }

  /// Reads the row of a former partner again if it does not refer to the object whose row refers to it.
  ///
  /// Another process writes both rows at once. A refresh or a fetch may have brought the context the object's row alone, and its
  /// save would then leave the partner's row as it is.
  private func readAgain(_ former: NSManagedObject, partnerOf object: NSManagedObject, _ info: PropertyInfo) {
    guard former.isRealized, former.isStored, !former.isDeletedOrGone else { return }
    let theirs = former._binding.properties[former.slot(of: info, info.inverseSlot!)]
    guard former.storedKey(theirs) != object._key, !former.changedSlots.contains(theirs.slot) else { return }
    do {
      guard let row = try loadedSource(of: former._binding).row(of: former._binding, key: former._key),
        row.batch.layout === former._binding.layout
      else { return }
      former.takeNews(row.batch, row.row)
    } catch {
      noteUnread(former, theirs.name, error)
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
