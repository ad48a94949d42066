internal import CDEStore

// Conflicts between an object and its row. Three states count: the row that the context read, the values to
// be saved, and the row in the store now.
extension ConflictResolution {
  /// Makes an object use the store's current row, with the unsaved values that the policy keeps.
  func resolve(_ object: NSManagedObject, _ row: RowReference?, by type: NSMergePolicyType) throws {
    // A policy may have reset the context or changed the object, so that no conflict is left.
    guard object._registry === context.registry, !object.isFault else { return }
    noteResolved(object)
    let isDeleted = object.isMarkedDeleted
    guard let row, row.batch.layout.entity == object._binding.index else {
      // An object whose row was never read can't be written again.
      let isKnown = object._batch !== object._binding.defaults
      if isDeleted || type.storeTrumps || !isKnown {
        forget(object)
      } else {
        try object.requireFiles()
        insertAgain(object)
      }
      return
    }
    if object.isInserted {
      // Another writer wrote the row again before this context did.
      object.takeOverRow()
    }
    if !isDeleted {
      rebase(object, onto: row, by: type)
    } else if type.storeTrumps {
      takeBackDeletion(of: object)
      rebase(object, onto: row, by: .rollbackMergePolicyType)
    } else {
      object.take(row.batch, row.row)
      object._overlay?.unloadMembers()
      context.spreadDeletion(of: object)
    }
  }

  private func rebase(_ object: NSManagedObject, onto row: RowReference, by type: NSMergePolicyType) {
    let base = RowReference(batch: object._batch, row: Int(object._row))
    let theirs = object.slotsThatDiffer(base, row)
    let mine = object.changedSlots
    var taken = theirs
    var restored: [(PropertyInfo, NSManagedObject?)] = []
    switch type {
    case .errorMergePolicyType, .mergeByPropertyObjectTrumpMergePolicyType:
      taken = theirs.subtracting(mine)
    case .mergeByPropertyStoreTrumpMergePolicyType:
      for slot in mine.intersection(theirs) { object.giveUp(slot) }
    case .rollbackMergePolicyType:
      for slot in mine where !object._binding.properties[slot].isOwnedByMembers { object.giveUp(slot) }
      taken.formUnion(mine)
    case .overwriteMergePolicyType:
      taken = PropertySet()
      for slot in theirs.subtracting(mine) {
        let info = object._binding.properties[slot]
        if info.derivation != nil {
          taken.insert(slot)
        } else if info.kind == .toOne {
          restored.append((info, object.toOne(slot)))
        } else {
          object.setUnsaved(slot, to: object.storedValue(info))
        }
      }
    }
    object.take(row.batch, row.row)
    object._overlay?.unloadMembers()
    noteTouched(context.unloadOwners(of: object, base, row))
    notePartners(of: object, theirs)
    // Sets both sides. The row now names the object that this one has become a member of.
    for (info, destination) in restored { object.setToOne(info.slot, destination) }
    object.noteIfUnchanged()
    note(object, taken)
  }

  /// Writes the whole object again under the same key, because another writer deleted the row.
  private func insertAgain(_ object: NSManagedObject) {
    for info in object._binding.properties where !info.cells.isEmpty {
      object.setUnsaved(info.slot, to: wholeValue(info, of: object))
    }
    for info in object._binding.properties where info.isOneToOne { notePartner(of: object, info.slot) }
    noteTouched(context.unloadPairs(ofWrittenAgain: [object]))
    object.becomeInsertedAgain()
    context.noteChange(object)
  }

  /// The value of a property in a row that is written again.
  private func wholeValue(_ info: PropertyInfo, of object: NSManagedObject) -> _PropertyValue {
    let held = object.overlay.values[info.slot]
    if info.kind == .toOne, !object.changedSlots.contains(info.slot) {
      return object.toOne(info.slot).map { .toOne($0) } ?? .null
    }
    return held.isUnset && info.kind != .toOne ? object.storedValue(info) : held
  }

  /// Undoes the deletion of an object, and the effects of the delete rules.
  private func takeBackDeletion(of object: NSManagedObject) {
    var revived = [object]
    while let next = revived.popLast() {
      guard next.isMarkedDeleted else { continue }
      next.unmarkDeleted()
      next._overlay?.unloadMembers()
      for info in next._binding.properties where info.isRelationship && !info.isTransient {
        revived += context.takeBackDeleteRule(info, of: next)
      }
      note(next, PropertySet(allBelow: next._binding.properties.count))
    }
    context.unloadMembers()
  }
}

extension NSManagedObject {
  /// Throws if a value of this object is in a file that the deletion of its row removed.
  fileprivate final func requireFiles() throws {
    let row = RowReference(batch: _batch, row: Int(_row))
    for info in _binding.properties where !info.isRelationship && overlay.values[info.slot].isUnset {
      do { _ = try row.value(of: info, external: externalData) } catch let error as StoreError
        where error.code == .externalValueMissing
      {
        let id = objectID
        throw ManagedObjectError(
          .unreadValue,
          "The row of \(id.uriRepresentation().absoluteString) was deleted, and with it the file of \(_binding.name).\(info.name), so "
            + "the object can't be written again as it was. Set \(info.name), delete the object, or roll back.",
          cause: error, entity: _binding.name, property: info.name, objectID: id)
      } catch {
        // Other values that can't be read are noted where the row is written.
      }
    }
  }
}

extension NSManagedObject {
  /// Drops the unsaved value of one property, on both sides of a relationship.
  final func giveUp(_ slot: SlotIndex) {
    guard let overlay = _overlay, overlay.changed.contains(slot) else { return }
    let info = _binding.properties[slot]
    let value = overlay.values[slot]
    // This is the first step, because the other side may call this function for the same property.
    keepUnchanged(slot)
    switch value {
    case .toMany(let members):
      if let inverse = info.inverseSlot, info.inverseIsToMany {
        for other in members.added.objects + members.removed.objects {
          other.forgetMember(self, other.slot(of: info, inverse))
        }
      }
      members.clearChanges()
      members.unload()
    case .toOne, .null:
      clearUnsaved(slot)
      if info.kind == .toOne { giveUpOtherSide(info, value) }
    default:
      clearUnsaved(slot)
    }
    noteIfUnchanged()
  }

  private func giveUpOtherSide(_ info: PropertyInfo, _ value: _PropertyValue) {
    guard let inverse = info.inverseSlot else { return }
    if info.inverseIsToMany { return forgetAsMember(info, value) }
    var others: [NSManagedObject] = []
    if case .toOne(let wanted) = value { others.append(wanted) }
    let root = _binding.model.entities[info.destination].root
    if let key = info.cells.first.flatMap({ _batch.integer(Int(_row), $0) }),
      let former = _registry?.object(root: root, key: key), info.destinations.contains(former._binding.index)
    {
      others.append(former)
    }
    for other in others {
      let theirs = other.slot(of: info, inverse)
      if other !== self || theirs != info.slot { other.giveUp(theirs) }
    }
  }

  /// Restores the relationship to an object that this object left because the other object was deleted.
  fileprivate final func takeBackLeaving(_ object: NSManagedObject, _ slot: SlotIndex) {
    guard let overlay = _overlay, overlay.changed.contains(slot) else { return }
    let info = _binding.properties[slot]
    switch overlay.values[slot] {
    case .null where info.kind == .toOne:
      guard let cell = info.cells.first, _batch.integer(Int(_row), cell) == object._key else { return }
      giveUp(slot)
    case .toMany: forgetMember(object, slot)
    default: break
    }
  }
}

extension NSManagedObjectContext {
  /// Undoes the effects of a delete rule, because the deletion of the object is withdrawn.
  ///
  /// - Returns: objects that were deleted with it.
  fileprivate func takeBackDeleteRule(_ info: PropertyInfo, of object: NSManagedObject) -> [NSManagedObject] {
    let destination = registry.model.entities[info.destination]
    if let inverse = info.inverseSlot {
      // Members whose reference was cleared by the deletion are no longer members.
      let name = destination.properties[inverse].name
      for other in changed where other._overlay != nil {
        guard registry.model.schema.entities[destination.index].subtree.contains(other._binding.index),
          let slot = other._binding.layout.slot(named: name)
        else { continue }
        other.takeBackLeaving(object, slot)
      }
    }
    guard info.deleteRule == .cascade else { return [] }
    let related =
      info.isToMany
      ? storedMembers(of: object, slot: info.slot) ?? [] : [object.toOne(info.slot)].compactMap { $0 }
    return related.filter { $0.isMarkedDeleted }
  }
}
