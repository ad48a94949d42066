@_spi(CDE) internal import CDEExecutors
internal import CDEStore
internal import Foundation

extension NSManagedObjectContext {
  /// What is left to do for deletions.
  struct Deletions {
    /// Deleted objects whose delete rules the next save applies.
    var deferred: [NSManagedObject] = []
    /// Objects that deletions left, of which the observer is told when the deletion is complete.
    var unlinked: [(object: NSManagedObject, slots: PropertySet?)] = []
  }

  final func markDeleted(_ object: NSManagedObject) {
    preconditionIsolated(object._binding.name)
    guard object._registry === registry, registry != nil else {
      if object.isGone || object._home == nil { return }
      failPrecondition(
        "An NSManagedObjectContext cannot delete objects in other contexts. Look the object up here by its objectID."
      )
    }
    // The save repeats reads that fail in this function.
    let repeated = failedReads.areRepeated
    failedReads.areRepeated = true
    // Changes made by delete rules count as changes, also if awakeFromFetch deletes the object.
    let wasAwakening = isAwakening
    isAwakening = false
    defer {
      failedReads.areRepeated = repeated
      isAwakening = wasAwakening
    }
    // A list instead of a recursion, because a cascade can be as long as the data.
    var cascade = [object]
    var unsaved: [NSManagedObject] = []
    let isDeferred = !propagatesDeletesAtEndOfEvent && !isSaving
    while let next = cascade.popLast() {
      guard next._registry === registry, !next.isMarkedDeleted else { continue }
      if next.isFault { fire(next) }
      guard !next.isGone else { continue }
      failedReads.areRepeated = repeated
      next.prepareForDeletion()
      failedReads.areRepeated = true
      guard !next.isMarkedDeleted, next._registry === registry else { continue }
      next.markDeleted()
      if next.isInserted { unsaved.append(next) } else { noteChange(next) }
      if isDeferred, !next.isInserted {
        deletions.deferred.append(next)
      } else {
        applyDeleteRules(of: next, &cascade)
      }
    }
    if !unsaved.isEmpty {
      forgetUnsaved(unsaved)
      for object in unsaved { noteUnlinked(object, nil) }
    }
    if registry.hasKeyObservers { registry.tellKeyChanges() }
    tellUnlinked()
  }

  private func noteUnlinked(_ object: NSManagedObject, _ slot: SlotIndex?) {
    guard observer != nil, object.isTracked else { return }
    deletions.unlinked.append((object, slot.map { PropertySet([$0]) }))
  }

  func tellUnlinked() {
    if deletions.unlinked.isEmpty { return }
    let told = deletions.unlinked
    deletions.unlinked = []
    for (object, slots) in told { observer?.contextDidUnlink(object, slots) }
  }

  /// Lets the next save keep an object that it would delete. What delete rules did to related objects stays.
  ///
  /// Call ``unloadMembers()`` afterwards.
  func withdrawDeletion(of object: NSManagedObject) {
    object.unmarkDeleted()
    noteChange(object)
    pending.appeared.append(object)
  }

  /// Lets all members be read again. Those that were loaded since a deletion do not include the deleted objects.
  func unloadMembers() {
    for object in registry.all() { object._overlay?.unloadMembers() }
  }

  /// Applies the delete rules of objects that were deleted since the last save.
  func applyDeferredDeletions() {
    let objects = deletions.deferred
    deletions.deferred = []
    failedReads.areRepeated = true
    for object in objects where object._registry === registry && object.isMarkedDeleted {
      spreadDeletion(of: object)
    }
    tellUnlinked()
  }

  /// Applies delete rules that could not be applied when their objects were deleted.
  ///
  /// - Throws: ``ManagedObjectError`` when the rules still can't be applied.
  func finishDeletions() throws {
    while let object = failedReads.unfinishedDeletions.last {
      if object._registry === registry, object.isMarkedDeleted {
        if object.isFault { fire(object) }
        var cascade: [NSManagedObject] = []
        applyDeleteRules(of: object, &cascade)
        for member in cascade.reversed() { delete(member) }
        if let unread = failedReads.last { throw ManagedObjectError.store(unread) }
      }
      failedReads.unfinishedDeletions.removeAll { $0 === object }
    }
  }

  /// Removes new objects that were deleted before they were saved.
  func forgetUnsaved(_ objects: [NSManagedObject]) {
    for object in objects {
      if object.isAnnounced { pending.forgotten.append(object) }
      discardInserted(object)
    }
    removeListed(objects)
    if !pending.isEmpty { announceSoon() }
  }

  /// Drops objects from the lists of changed and pending ones.
  func removeListed(_ objects: [NSManagedObject]) {
    if objects.count == 1 {
      // Both lists start with the oldest change. The removed objects are mostly new.
      if let index = changed.lastIndex(where: { $0 === objects[0] }) {
        changed.remove(at: index)
        pendingIndex?.noteRemoved(at: index)
      }
      if let index = pending.objects.lastIndex(where: { $0 === objects[0] }) {
        pending.objects.remove(at: index)
      }
    } else {
      dropPendingIndex()
      let ids = Set(objects.map(ObjectIdentifier.init))
      changed.removeAll { ids.contains(ObjectIdentifier($0)) }
      pending.objects.removeAll { ids.contains(ObjectIdentifier($0)) }
    }
  }

  /// Removes a new object from the context. The caller removes it from the lists of changed and pending
  /// objects.
  func discardInserted(_ object: NSManagedObject) {
    object.becomeGone(.neverSaved)
    object._overlay?.dropRelationships(keepingChanged: false)
    object.detach()
    registry.vanished += 1
  }

  /// Applies the delete rules of a deleted object again, because another writer changed its relationships.
  func spreadDeletion(of object: NSManagedObject) {
    var cascade: [NSManagedObject] = []
    applyDeleteRules(of: object, &cascade)
    for other in cascade { delete(other) }
  }

  private func applyDeleteRules(of object: NSManagedObject, _ cascade: inout [NSManagedObject]) {
    var isUnread = object.isFault
    if !isUnread {
      for info in object._binding.properties where info.isRelationship && !info.isTransient {
        if !applyDeleteRule(info, of: object, &cascade) { isUnread = true }
      }
    }
    if isUnread { failedReads.unfinishedDeletions.append(object) }
  }

  /// - Returns: false when the rule concerns members that can't be read.
  private func applyDeleteRule(
    _ info: PropertyInfo, of object: NSManagedObject, _ cascade: inout [NSManagedObject]
  ) -> Bool {
    switch info.kind {
    case .toOne:
      if info.deleteRule == .cascade {
        if let other = object.toOne(info.slot), !hasOtherPartner(other, than: object, info) {
          cascade.append(other)
        }
      } else if info.inverseSlot != nil, info.deleteRule == .nullify {
        leave(object, info)
      }
    case .toMany:
      guard info.deleteRule == .cascade || info.deleteRule == .nullify else { return true }
      // Without an inverse only the pairs refer to the members. The pairs are deleted with the row.
      if info.deleteRule != .cascade, info.inverseSlot == nil { return true }
      let members = object.loadedMembers(info.slot)
      guard members.isLoaded else { return false }
      if info.deleteRule == .cascade {
        cascade += members.objects.reversed()
      } else {
        for member in members.objects where !member.isMarkedDeleted {
          unlink(member, info, from: object)
        }
      }
    case .attribute, .composite: break
    }
    return true
  }

  /// Removes a deleted object from the inverse of its to-one destination, if that is in memory.
  private func leave(_ object: NSManagedObject, _ info: PropertyInfo) {
    guard let inverse = info.inverseSlot else { return }
    let theirInfo = registry.model.entities[info.destination].properties[inverse]
    let destination: NSManagedObject?
    if case .toOne(let known)? = object._overlay?.values[info.slot] {
      destination = known
    } else if case .null? = object._overlay?.values[info.slot] {
      destination = nil
    } else if let key = info.cells.first.flatMap({ object._batch.integer(Int(object._row), $0) }) {
      let entity = object.storedEntity(info)
      // An owner that is not registered needs no object, because the commit names it as touched. It needs one
      // if the validation counts its members.
      destination =
        info.inverseIsToMany && !theirInfo.countsMembers
        ? registry.object(root: registry.model.entities[entity].root, key: key)
        : self.object(entity: entity, key: key)
    } else {
      destination = nil
    }
    guard let destination, !destination.isDeletedOrGone,
      info.destinations.contains(destination._binding.index)
    else { return }
    let theirs = destination._binding.layout.slot(named: theirInfo.name)!
    if info.inverseIsToMany {
      destination.writeRemove(theirs, object)
    } else {
      destination.leave(theirs, object)
    }
    noteUnlinked(destination, theirs)
  }

  /// Whether the other object of a one-to-one relationship has an unsaved reference to a third object. A
  /// merge can bring a row that still refers to the other object.
  private func hasOtherPartner(
    _ other: NSManagedObject, than object: NSManagedObject, _ info: PropertyInfo
  ) -> Bool {
    guard info.isOneToOne, let inverse = info.inverseSlot else { return false }
    return other.changedSlots.contains(other.slot(of: info, inverse))
      && other.toOne(other.slot(of: info, inverse)) !== object
  }

  private func unlink(_ member: NSManagedObject, _ info: PropertyInfo, from owner: NSManagedObject) {
    guard let inverse = info.inverseSlot else { return }
    let theirs = member._binding.layout.slot(
      named: registry.model.entities[info.destination].properties[inverse].name)!
    if info.inverseIsToMany { member.writeRemove(theirs, owner) } else { member.writeToOne(theirs, nil) }
    noteUnlinked(member, theirs)
  }
}
