internal import CDEStore

// The other object of a one-to-one relationship, which is stored in two rows. Each save that writes one of the rows has to write the
// other one as well, and so has to find it by the row that the store has.

extension NSManagedObjectContext {
  /// Makes the other rows of an object's unsaved one-to-one relationships match, before they are saved.
  ///
  /// A row of the partner that contradicts the object's row is read again. Another process writes both rows at once, and a refresh or
  /// a fetch may have brought the context one of them alone. A change that equals an outdated row would not be written.
  ///
  /// Cost: one query for each such row; none otherwise.
  ///
  /// - Returns: whether an object was changed.
  @discardableResult
  func settlePartners(of object: NSManagedObject) -> Bool {
    let slots = object.withBinding(\.savedSlots.oneToOne)
    if slots.isEmpty || object.isMarkedDeleted { return false }
    var hasChanged = false
    // They may have been settled before, by the outdated row.
    var readAgain: [NSManagedObject] = []
    for slot in slots.intersection(object.changedSlots) {
      let info = object._binding.properties[slot]
      let partner = object.toOne(slot)
      if let former = storedPartner(of: object, info), former !== partner {
        if readIfContradicting(former, object, info, isStoredPartner: true) { readAgain.append(former) }
        if release(former, from: object, info) { hasChanged = true }
      }
      guard let partner, !partner.isDeletedOrGone else { continue }
      if object.storedKey(info) != partner._key,
        readIfContradicting(partner, object, info, isStoredPartner: false)
      {
        readAgain.append(partner)
      }
      if settle(object, info, with: partner) { hasChanged = true }
    }
    for partner in readAgain where settlePartners(of: partner) { hasChanged = true }
    return hasChanged
  }

  /// Does so for all unsaved changes, until nothing changes any more.
  func settlePartners() {
    var hasChanged = false
    repeat {
      hasChanged = false
      for object in changed where object.hasChanges {
        if settlePartners(of: object) { hasChanged = true }
      }
    } while hasChanged
  }

  /// Makes the partner of an unsaved one-to-one relationship refer to the object, unless the partner has another unsaved value.
  private func settle(_ object: NSManagedObject, _ info: PropertyInfo, with partner: NSManagedObject) -> Bool
  {
    let theirs = partner.slot(of: info, info.inverseSlot!)
    let other = partner.toOne(theirs)
    if other === object || partner.isDeletedOrGone { return false }
    if other != nil, partner.changedSlots.contains(theirs) {
      object.writeToOne(info.slot, nil)
    } else {
      partner.writeToOne(theirs, object)
    }
    return true
  }

  /// Releases the objects that an object's row refers to, if its unsaved one-to-one relationships have other
  /// values.
  ///
  /// The setter released the partner of that time. Since then a merge may have brought a row with another
  /// partner. Makes no query for rows that are known.
  func releaseFormerPartners(of object: NSManagedObject) {
    let slots = object.withBinding(\.savedSlots.oneToOne)
    if slots.isEmpty || object.isMarkedDeleted { return }
    for slot in slots.intersection(object.changedSlots) {
      let info = object._binding.properties[slot]
      guard let former = storedPartner(of: object, info), former !== object.toOne(slot) else { continue }
      release(former, from: object, info)
    }
  }

  /// Reads a row again if it does not refer to the object whose row refers to it, or if it alone refers to that object.
  ///
  /// A partner with other unsaved values keeps its row, so that the save finds the conflict and the policy decides about it.
  ///
  /// - Parameter isStoredPartner: whether the object's row refers to the row.
  /// - Returns: whether the partner has another row now.
  private func readIfContradicting(
    _ partner: NSManagedObject, _ object: NSManagedObject, _ info: PropertyInfo, isStoredPartner: Bool
  ) -> Bool {
    guard partner.isRealized, partner.isStored, !partner.isDeletedOrGone else { return false }
    let theirs = partner._binding.properties[partner.slot(of: info, info.inverseSlot!)]
    guard (partner.storedKey(theirs) == object._key) != isStoredPartner else { return false }
    let unsaved = partner.changedSlots.intersection(partner.withBinding(\.savedSlots.withCells))
    if !unsaved.isSubset(of: [theirs.slot]) { return false }
    do {
      guard let row = try loadedSource(of: partner._binding).row(of: partner._binding, key: partner._key),
        row.batch.layout === partner._binding.layout
      else { return false }
      let known = partner._batch.version(Int(partner._row))
      partner.takeAgain(row.batch, row.row)
      return row.batch.version(row.row) != known
    } catch {
      noteUnread(partner, theirs.name, error)
      return false
    }
  }

  func storedPartner(of object: NSManagedObject, _ info: PropertyInfo) -> NSManagedObject? {
    object.storedKey(info).map { self.object(entity: object.storedEntity(info), key: $0) }
  }

  /// - Returns: whether the former partner referred to the object.
  @discardableResult
  func release(_ former: NSManagedObject, from object: NSManagedObject, _ info: PropertyInfo) -> Bool {
    let theirs = former.slot(of: info, info.inverseSlot!)
    guard !former.isDeletedOrGone, former.toOne(theirs) === object, !former.isDeletedOrGone else {
      return false
    }
    former.writeToOne(theirs, nil)
    return true
  }
}
