@_spi(CDE) internal import CDEExecutors
internal import CDEStore
internal import Foundation

// A child's save, as unsaved changes of this context. All functions run on this context's executor.
extension NSManagedObjectContext {
  /// The result of a child's save.
  struct AdoptedSave {
    /// The commit, with its number among those of this context's children.
    var commit: CommittedTransaction
    /// Objects whose changes were dropped, because this context has deleted them.
    var deleted: [RowKey] = []
  }

  /// Applies a child's changes to this context's objects.
  ///
  /// A property that both contexts changed gets the child's value. An object that this context has deleted, or whose row is
  /// gone, is a conflict: with the error policy the save fails, with any other policy the deletion stays.
  ///
  /// - Parameter policy: the child's merge policy.
  /// - Throws: ``ManagedObjectError``; then nothing has changed.
  func adopt(
    _ changes: ChildChanges, _ commit: CommittedTransaction, from member: ChildContexts.Member,
    _ policy: NSMergePolicy
  ) throws -> AdoptedSave {
    guard registry != nil else { throw missingCoordinator }
    var outcome = AdoptedSave(commit: commit)
    let objects = try adoptable(changes.updated, policy, &outcome)
    // The child's changes count as changes, also if code of awakeFromFetch waits for the child.
    let wasAwakening = isAwakening
    isAwakening = false
    announcing.blockDepth += 1
    defer {
      isAwakening = wasAwakening
      endAdopting()
    }
    // Relationships may lead to objects that come later in the save.
    let new = adoptInserted(changes)
    for (object, change) in objects { setValues(change, of: object) }
    for (object, change) in new.copied { setRelationships(change, of: object) }
    for link in new.links { setDestination(link) }
    for (object, change) in objects { setRelationships(change, of: object) }
    for (object, change) in new.copied { setOrders(change, of: object) }
    for (object, change) in objects { setOrders(change, of: object) }
    for reference in changes.deleted {
      let object = object(reference)
      if !object.isDeletedOrGone { delete(object) }
    }
    registry.tellKeyChanges()
    outcome.commit = children.deliver(commit, from: member)
    return outcome
  }

  /// Announces the changes now if this context is between two blocks, and otherwise with those of the current block.
  private func endAdopting() {
    announcing.blockDepth -= 1
    if pending.isEmpty || announcing.blockDepth > 0 { return }
    if isSaving || merging.isRunning || !executor.isOnOwnThread {
      announceSoon()
    } else {
      processPendingChanges()
    }
  }

  /// The object that a child names.
  private func object(_ reference: ChildChanges.Reference) -> NSManagedObject {
    registeredForChild(reference.row)
      ?? object(entity: reference.entity, key: children.presentKey(of: reference.row))
  }

  /// The objects of a child's updates, with their rows.
  private func adoptable(
    _ changes: [ChildChanges.Object], _ policy: NSMergePolicy, _ outcome: inout AdoptedSave
  ) throws -> [(NSManagedObject, ChildChanges.Object)] {
    let found = changes.map { (object($0.reference), $0) }
    failedReads.last = nil
    fireAll(found.map(\.0))
    if let unread = failedReads.last { throw ManagedObjectError.store(unread) }
    // Faults that are left have no row. Firing one notes that.
    for (object, _) in found where object.isFault { fire(object) }
    if let unread = failedReads.last { throw ManagedObjectError.store(unread) }
    let lost = found.filter { $0.0.isDeletedOrGone }
    if lost.isEmpty { return found }
    if policy.mergeType == .errorMergePolicyType {
      let names = Set(lost.map(\.0._binding.name)).sorted().joined(separator: ", ")
      throw ManagedObjectError(
        .saveConflict,
        "The parent context has deleted \(lost.count == 1 ? "an object" : "\(lost.count) objects") (\(names)) that the "
          + "child context changed. Delete the child's objects or roll it back, or set a mergePolicy in the child: the "
          + "deletion then stays.",
        entity: lost[0].0._binding.name, objectID: lost[0].0.objectID, conflicts: lost.map(\.0.objectID))
    }
    outcome.deleted = lost.map(\.1.reference.row)
    return found.filter { !$0.0.isDeletedOrGone }
  }

  // MARK: New objects

  /// A to-one relationship of a new object.
  private struct Link {
    let object: NSManagedObject
    let slot: SlotIndex
    let destination: ChildChanges.Reference?
  }

  private struct NewObjects {
    var copied: [(NSManagedObject, ChildChanges.Object)] = []
    var links: [Link] = []
  }

  /// Makes the objects that the child inserted, with their attributes.
  private func adoptInserted(_ changes: ChildChanges) -> NewObjects {
    var new = NewObjects()
    for (place, child) in changes.inserted.enumerated() {
      if let change = changes.copied.isEmpty ? nil : changes.copied[place] {
        let made = insert(change.reference).object
        setValues(change, of: made)
        new.copied.append((made, change))
      } else {
        let (made, isNew) = insert(ChildChanges.Reference(child))
        // Unsaved values that code of awakeFromInsert or an earlier save set are overwritten one by one.
        if isNew, made._overlay == nil, made._flags.isDisjoint(with: [.keyObserved, .slowWrite]) {
          moveValues(of: child, to: made, &new.links)
        } else {
          overwriteValues(of: made, by: child, &new.links)
        }
      }
    }
    return new
  }

  /// Makes an object that the child inserted.
  ///
  /// Core Data calls `awakeFromInsert` in each context that gets the object, before the object has the child's values.
  private func insert(_ reference: ChildChanges.Reference) -> (object: NSManagedObject, isNew: Bool) {
    if let known = registeredForChild(reference.row) { return (known, false) }
    let binding = registry.model.entities[reference.entity]
    let made = materialize(
      binding, binding.objectClass, key: reference.row.key, batch: binding.defaults, row: 0,
      flags: baseFlags.union(.inserted))
    registry.register(made)
    noteChange(made)
    made.awakeFromInsert()
    return (made, true)
  }

  private func moveValues(
    of child: NSManagedObject, to made: NSManagedObject, _ links: inout [Link]
  ) {
    guard let overlay = made.takeOverlay(of: child) else { return }
    for slot in overlay.slots {
      guard case .toOne(let destination) = overlay.values[slot] else { continue }
      if !destination.isDeletedOrGone {
        links.append(Link(object: made, slot: slot, destination: ChildChanges.Reference(destination)))
      }
      overlay.values[slot] = .unset
      overlay.changed.remove(slot)
    }
  }

  private func overwriteValues(
    of object: NSManagedObject, by child: NSManagedObject, _ links: inout [Link]
  ) {
    for info in object._binding.properties {
      let value = child._overlay?.values[info.slot] ?? .unset
      switch info.kind {
      case .attribute, .composite:
        object.prepareToSet(info.slot)
        object.change(info.slot, to: value.isUnset ? info.defaultValue : value)
      case .toOne:
        var destination: ChildChanges.Reference?
        if case .toOne(let found) = value, !found.isDeletedOrGone {
          destination = ChildChanges.Reference(found)
        }
        links.append(Link(object: object, slot: info.slot, destination: destination))
      case .toMany: continue
      }
    }
  }

  private func setDestination(_ link: Link) {
    let destination = link.destination.map(object).flatMap { $0.isDeletedOrGone ? nil : $0 }
    if link.object.toOne(link.slot) !== destination { link.object.setToOne(link.slot, destination) }
  }

  private func setValues(_ change: ChildChanges.Object, of object: NSManagedObject) {
    for (slot, value) in change.values {
      object.prepareToSet(slot)
      object.change(slot, to: value)
    }
  }

  private func setRelationships(_ change: ChildChanges.Object, of object: NSManagedObject) {
    for (slot, destination) in change.toOne {
      let destination = destination.map(self.object).flatMap { $0.isDeletedOrGone ? nil : $0 }
      if object.toOne(slot) !== destination { object.setToOne(slot, destination) }
    }
    for (slot, members) in change.toMany {
      let info = object._binding.properties[slot]
      // The other side of such a relationship is to-one, and is set on the members.
      if info.inverseSlot != nil, !info.inverseIsToMany { continue }
      for member in members.removed { object.removeMember(slot, self.object(member)) }
      for member in members.added {
        let member = self.object(member)
        if !member.isDeletedOrGone { object.addMember(slot, member) }
      }
    }
  }

  /// Gives ordered relationships the child's order. Members that the child does not know come last.
  private func setOrders(_ change: ChildChanges.Object, of object: NSManagedObject) {
    for (slot, members) in change.toMany {
      if let order = members.order { object.setOrder(slot, order.map(self.object)) }
    }
  }
}
