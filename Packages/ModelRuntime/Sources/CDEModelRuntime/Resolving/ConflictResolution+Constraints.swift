internal import CDEStore

// Conflicts over unique values. The result is the same as if the objects had been saved one after the other.
extension ConflictResolution {
  /// Chooses the one object that keeps the values of a constraint.
  ///
  /// - Returns: that object; nil if none of the clash is left.
  func resolve(_ clash: UniquenessClash, by type: NSMergePolicyType) -> NSManagedObject? {
    let objects = clash.objects.filter(isPending)
    guard !objects.isEmpty else { return nil }
    return type.storeTrumps ? keepOldest(objects, clash, type) : keepNewest(objects, clash, type)
  }

  /// Whether a change of an object is still to be saved. A policy, or an earlier clash, may have removed the object.
  func isPending(_ object: NSManagedObject) -> Bool {
    object._registry === context.registry && object.hasChanges && !object.isMarkedDeleted
  }

  /// Keeps the row in the store or, without one, the first object. Later objects drop the values.
  private func keepOldest(
    _ objects: [NSManagedObject], _ clash: UniquenessClash, _ type: NSMergePolicyType
  ) -> NSManagedObject {
    let known = objects.filter { !$0.isInserted }
    let survivor = clash.stored.map(object(for:)) ?? known.first ?? objects[0]
    for object in objects where object !== survivor {
      if object.isInserted {
        replace(object, by: survivor, clash, values: .none)
      } else {
        giveUp(object, clash, type)
      }
    }
    return survivor
  }

  private func giveUp(
    _ object: NSManagedObject, _ clash: UniquenessClash, _ type: NSMergePolicyType
  ) {
    var slots = PropertySet()
    for name in clash.constraint {
      let head = name.split(separator: ".").first.map(String.init) ?? name
      if let slot = object._binding.layout.slot(named: head) { slots.insert(slot) }
    }
    if type == .rollbackMergePolicyType {
      for slot in object.changedSlots where !object._binding.properties[slot].isOwnedByMembers {
        slots.insert(slot)
      }
    }
    slots = slots.intersection(object.changedSlots)
    for slot in slots { object.giveUp(slot) }
    note(object, slots)
  }

  /// Keeps the context's objects and replaces the row in the store. Among several objects their order
  /// decides. A saved object keeps its identity, and other objects with the values are deleted.
  private func keepNewest(
    _ objects: [NSManagedObject], _ clash: UniquenessClash, _ type: NSMergePolicyType
  ) -> NSManagedObject {
    var new = objects.filter { $0.isInserted }
    let survivor: NSManagedObject
    if let last = objects.last(where: { !$0.isInserted }) {
      for other in objects where other !== last && !other.isInserted { context.delete(other) }
      // An earlier clash, over another constraint, may have made it the object of the stored row.
      if let row = clash.stored.map(object(for:)), row !== last { context.delete(row) }
      survivor = last
    } else if let stored = clash.stored {
      let known = context.registry.object(root: stored.batch.layout.root, key: stored.key)
      if known == nil,
        let heir = new.first(where: { $0.hasTemporaryKey && $0._binding.index == stored.batch.layout.entity })
      {
        become(stored, heir, clash, type)
        new.removeAll { $0 === heir }
        survivor = heir
      } else {
        survivor = object(for: stored)
      }
    } else {
      survivor = new.removeFirst()
    }
    for object in new {
      replace(
        object, by: survivor, clash, values: type == .overwriteMergePolicyType ? .all : .explicit)
    }
    return survivor
  }

  /// Makes a new object the object of an existing row. The object takes the row's key and version, and the
  /// row's values of properties that were not set on the object itself.
  private func become(
    _ row: RowReference, _ object: NSManagedObject, _ clash: UniquenessClash,
    _ type: NSMergePolicyType
  ) {
    let defaults = RowReference(batch: object._binding.defaults, row: 0)
    let differing = object.slotsThatDiffer(defaults, row)
    context.registry.rekey([object]) { _ in row.key }
    object.takeOverRow()
    object._overlay?.unloadMembers()
    object.take(row.batch, row.row)
    for info in object._binding.properties where !info.cells.isEmpty {
      if clash.constraint.contains(info.name) {
        // The values are equal, otherwise there would be no conflict.
        object.clearUnsaved(info.slot)
      } else if type == .overwriteMergePolicyType, !object.changedSlots.contains(info.slot),
        info.derivation == nil,
        differing.contains(info.slot)
      {
        object.setUnsaved(info.slot, to: info.kind == .toOne ? .null : info.defaultValue)
      }
    }
    noteTouched(context.unloadOwners(of: object, defaults, row))
    note(object, differing.subtracting(object.changedSlots))
  }

  enum GivenValues {
    /// No values. The survivor keeps its own.
    case none
    /// The values that were set on the object.
    case explicit
    /// Default values, too.
    case all
  }

  /// Replaces a new, unsaved object by another one. References to the new object then lead to the other
  /// object, which gets its values.
  func replace(
    _ object: NSManagedObject, by survivor: NSManagedObject, _ clash: UniquenessClash, values: GivenValues
  ) {
    let given = object.changedSlots
    for info in object._binding.properties {
      guard let slot = survivor._binding.layout.slot(named: info.name) else { continue }
      switch info.kind {
      case .attribute, .composite:
        guard given.contains(info.slot) ? values != .none : values == .all, info.derivation == nil,
          !info.isTransient, !clash.constraint.contains(info.name)
        else { continue }
        let value = object._overlay?.values[info.slot] ?? .unset
        survivor._setAttribute(slot, value.isUnset ? info.defaultValue : value)
      case .toOne:
        guard given.contains(info.slot) || values == .all else { continue }
        if values == .none {
          object.giveUp(info.slot)
        } else {
          let destination = object.toOne(info.slot)
          if destination != nil { object.setToOne(info.slot, nil) }
          survivor.setToOne(slot, destination)
        }
      case .toMany:
        // Each member stores its membership. Without an inverse the member has no record of it.
        if !given.contains(info.slot) || (info.inverseSlot == nil && values == .none) { continue }
        for member in object.loadedMembers(info.slot).objects {
          object.removeMember(info.slot, member)
          survivor.addMember(slot, member)
        }
      }
    }
    redirectOneWayReferences(to: object, survivor)
    context.forgetUnsaved([object])
    object._cdReplaced(by: survivor)
  }

  /// Moves references without an inverse to the survivor. Only the owners record such references.
  private func redirectOneWayReferences(to object: NSManagedObject, _ survivor: NSManagedObject) {
    for owner in context.changed where owner !== object {
      guard let overlay = owner._overlay else { continue }
      for slot in overlay.changed {
        let info = owner._binding.properties[slot]
        guard info.isRelationship, info.inverseSlot == nil else { continue }
        switch overlay.values[slot] {
        case .toOne(let other) where other === object: owner.setToOne(slot, survivor)
        case .toMany(let members) where members.added.contains(object):
          owner.removeMember(slot, object)
          owner.addMember(slot, survivor)
        default: break
        }
      }
    }
  }
}
