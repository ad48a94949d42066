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

  /// Notes an object that has a new row and an unsaved one-to-one value, which stays.
  func noteRival(_ object: NSManagedObject) {
    guard object.isMarkedUpdated else { return }
    let slots = object.withBinding(\.savedSlots.oneToOne)
    if !slots.isEmpty, slots.intersects(object.changedSlots) { merging.rivals.append(object) }
  }

  /// Releases the objects that new rows relate to objects whose unsaved values stay. Both rows of a pair are merged before.
  ///
  /// - Parameter rows: changes with rows, from which objects are made that are not in memory.
  func releaseRivals(rows: [CommittedTransaction.Change] = []) {
    if merging.rivals.isEmpty { return }
    let rivals = merging.rivals
    merging.rivals = []
    for object in rivals where object._registry === registry && !object.isDeletedOrGone {
      for slot in object.changedSlots.intersection(object.withBinding(\.savedSlots.oneToOne)) {
        let info = object._binding.properties[slot]
        guard let key = object.storedKey(info) else { continue }
        let root = root(of: info.destination)
        if registry.object(root: root, key: key)?.isFault != false,
          let change = rows.last(where: { $0.key == key && self.root(of: $0.entity) == root && $0.row != nil })
        {
          take(change)
        }
      }
      releaseFormerPartners(of: object)
    }
  }

  /// Gives an object its row without a query.
  private func take(_ change: CommittedTransaction.Change) {
    let object = objectOfArrival(change)
    guard object.isFault, let row = change.row, row.batch.layout === object._binding.layout else { return }
    object.take(row.batch, row.row)
    awaken(object)
  }
}
