internal import CDEStore

// Merges and the unsaved changes of relationships: changes that the store has as well end, and both sides agree.
extension NSManagedObjectContext {
  /// Ends unsaved pairs that a commit has written, and releases the former partners of one-to-one relationships.
  ///
  /// - Parameter changes: the changes of this context's objects by the commit.
  func settle(_ commit: CommittedTransaction, _ changes: [ObjectChange]) {
    if commit.isForeign {
      settleByReading(changes)
    } else if !changed.isEmpty {
      for link in commit.links { settle(link) }
    }
    releaseRivals(rows: commit.changes)
  }

  private func settle(_ link: CommittedTransaction.Link) {
    let binding = registry.model.entities[link.entity]
    let info = binding.properties[link.slot]
    guard let owner = registry.object(root: binding.root, key: link.owner), owner._binding === binding,
      let members = owner._overlay?.members(link.slot), members.hasChanges,
      let member = registry.object(root: root(of: info.destination), key: link.member),
      members.change(of: member) == (link.isAdded ? .addition : .removal)
    else { return }
    owner.endPair(info, with: member)
  }

  /// Ends unsaved pairs that the store has meanwhile, in relationships whose changed pairs are not known.
  ///
  /// Reads the members of relationships that have unsaved pairs, and no others.
  func settleByReading(_ changes: [ObjectChange]) {
    for change in changes where change.kind != .deleted && change.object.isMarkedUpdated {
      let object = change.object
      let linked = object.withBinding(\.savedSlots.linked)
      for slot in object.changedSlots.intersection(change.properties.map(linked.intersection) ?? linked) {
        guard let members = object._overlay?.members(slot), !members.isLoaded else { continue }
        let unsaved = members.added.objects + members.removed.objects
        let info = object._binding.properties[slot]
        guard object.loadedMembers(slot).isLoaded else { continue }
        for member in unsaved where members.change(of: member) == .none { object.endPair(info, with: member) }
      }
    }
  }

  // MARK: One-to-one relationships

  func notePartner() { merging.hasUnsavedPartners = true }

  /// Notes an object with a new row that may relate objects to each other of which one has an unsaved one-to-one value.
  func noteRival(_ object: NSManagedObject, _ known: RowReference, _ row: RowReference) {
    if !merging.hasUnsavedPartners { return }
    let slots = object.withBinding(\.savedSlots.oneToOne)
    let isRival = slots.contains { slot in
      object.changedSlots.contains(slot)
        || !known.batch.sameValues(
          known.row, as: row.batch, row.row, cells: object._binding.properties[slot].cells)
    }
    if isRival { merging.rivals.append(object) }
  }

  /// Makes both sides of one-to-one relationships agree where the new row of one side contradicts an unsaved value of the other
  /// one, which stays. Both rows of a pair are merged before.
  ///
  /// - Parameter rows: changes with rows, from which objects are made that are not in memory.
  func releaseRivals(rows: [CommittedTransaction.Change] = []) {
    if merging.rivals.isEmpty { return }
    let rivals = merging.rivals
    merging.rivals = []
    for object in rivals where object._registry === registry && !object.isDeletedOrGone {
      for slot in object.withBinding(\.savedSlots.oneToOne) {
        let info = object._binding.properties[slot]
        guard let key = object.storedKey(info) else { continue }
        let root = root(of: info.destination)
        if object.changedSlots.contains(slot), registry.object(root: root, key: key)?.isFault != false,
          let change = rows.last(where: { $0.key == key && self.root(of: $0.entity) == root && $0.row != nil }
          )
        {
          take(change)
        }
      }
      releaseFormerPartners(of: object)
      releaseRival(object)
    }
  }

  /// Ends the one-to-one relationships in an object's row whose other side has an unsaved value that is another object.
  func releaseRival(_ object: NSManagedObject) {
    if !merging.hasUnsavedPartners || object.isDeletedOrGone { return }
    for slot in object.withBinding(\.savedSlots.oneToOne).subtracting(object.changedSlots) {
      let info = object._binding.properties[slot]
      guard let key = object.storedKey(info),
        let partner = registry.object(root: root(of: info.destination), key: key),
        partner.refers(elsewhereThan: object, info)
      else { continue }
      object.writeToOne(slot, nil)
    }
  }

  // MARK: Children

  /// Notes an object whose last unsaved change ended without a save.
  func noteEnded(_ object: NSManagedObject) {
    if !children.isEmpty { merging.ended.append(object) }
  }

  /// Makes the children read objects again whose unsaved changes ended. A child may have read these changes, or saved others to
  /// this context before, and no commit names the objects.
  func tellChildrenOfEnded() {
    if merging.ended.isEmpty { return }
    let objects = merging.ended
    merging.ended = []
    tellChildren(of: objects)
  }

  func tellChildren(of objects: [NSManagedObject]) {
    var ids = MergedIDs()
    for object in objects where object.isStored && !object.isGone { ids.add(.updated, object.objectID) }
    deliverToChildren(ids)
  }

  /// Gives an object its row without a query.
  private func take(_ change: CommittedTransaction.Change) {
    let object = objectOfArrival(change)
    guard object.isFault, let row = change.row, row.batch.layout === object._binding.layout else { return }
    object.take(row.batch, row.row)
    awaken(object)
  }
}

extension NSManagedObject {
  /// Whether an unsaved value relates the object to another one than its one-to-one partner.
  ///
  /// - Parameter info: the relationship of the partner.
  fileprivate final func refers(elsewhereThan partner: NSManagedObject, _ info: PropertyInfo) -> Bool {
    guard let inverse = info.inverseSlot, info.destinations.contains(_binding.index), !isDeletedOrGone,
      let overlay = _overlay
    else { return false }
    let theirs = slot(of: info, inverse)
    guard overlay.changed.contains(theirs) else { return false }
    if case .toOne(let other) = overlay.values[theirs] { return other !== partner }
    return true
  }
}
