internal import CDEStore

// Conflicts over unique values. Everything comes out as if the objects had been saved one after the other.
extension ConflictResolution {
  /// Leaves one object with the values of a constraint.
  func settle(_ conflict: NSConstraintConflict, by type: NSMergePolicyType) throws {
    // A policy, or an earlier conflict, may have done away with some of them.
    let objects = conflict.conflictingObjects.filter {
      $0._registry === context.registry && $0.hasChanges && !$0._flags.contains(.deleted)
    }
    guard !objects.isEmpty else { return }
    if type.storeTrumps {
      keepOldest(objects, conflict, type)
    } else {
      keepNewest(objects, conflict, type)
    }
  }

  /// The row in the store stays, or else the first object; later ones give the values up.
  private func keepOldest(
    _ objects: [NSManagedObject], _ conflict: NSConstraintConflict, _ type: NSMergePolicyType
  ) {
    let known = objects.filter { !$0._flags.contains(.inserted) }
    let survivor = conflict.stored.map(object(for:)) ?? known.first ?? objects[0]
    for object in objects where object !== survivor {
      if object._flags.contains(.inserted) {
        replace(object, by: survivor, conflict, values: .none)
      } else {
        giveUp(object, conflict, type)
      }
    }
  }

  private func giveUp(
    _ object: NSManagedObject, _ conflict: NSConstraintConflict, _ type: NSMergePolicyType
  ) {
    var slots = PropertySet()
    for name in conflict.constraint {
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

  /// The objects of the context win: over a row in the store by taking its place, over each other by
  /// their order. A saved object stays the one it is, and others with the values are deleted.
  private func keepNewest(
    _ objects: [NSManagedObject], _ conflict: NSConstraintConflict, _ type: NSMergePolicyType
  ) {
    var new = objects.filter { $0._flags.contains(.inserted) }
    let survivor: NSManagedObject
    if let last = objects.last(where: { !$0._flags.contains(.inserted) }) {
      for other in objects where other !== last && !other._flags.contains(.inserted) { context.delete(other) }
      if let stored = conflict.stored { context.delete(object(for: stored)) }
      survivor = last
    } else if let stored = conflict.stored {
      let known = context.registry.object(root: stored.batch.layout.root, key: stored.key)
      if known == nil,
        let heir = new.first(where: { $0._key < 0 && $0._binding.index == stored.batch.layout.entity })
      {
        become(stored, heir, conflict, type)
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
        object, by: survivor, conflict, values: type == .overwriteMergePolicyType ? .all : .explicit)
    }
  }

  /// A new object becomes the object of a row that is there: its key, its version, and the values that it was not
  /// given itself.
  private func become(
    _ row: RowReference, _ object: NSManagedObject, _ conflict: NSConstraintConflict,
    _ type: NSMergePolicyType
  ) {
    let defaults = RowReference(batch: object._binding.defaults, row: 0)
    let differing = object.slotsThatDiffer(defaults, row)
    context.registry.rekey([object]) { _ in row.key }
    object._flags.subtract([.inserted, .announced])
    object._flags.insert(.updated)
    object._overlay?.unloadMembers()
    object.take(row.batch, row.row)
    let overlay = object.overlay
    for info in object._binding.properties where !info.cells.isEmpty {
      if conflict.constraint.contains(info.name) {
        // Equal, or there would be no conflict.
        overlay.values[info.slot] = .unset
        overlay.changed.remove(info.slot)
      } else if type == .overwriteMergePolicyType, !overlay.changed.contains(info.slot),
        info.derivation == nil,
        differing.contains(info.slot)
      {
        overlay.values[info.slot] = info.kind == .toOne ? .null : info.defaultValue
        overlay.changed.insert(info.slot)
      }
    }
    noteTouched(context.unloadOwners(of: object, defaults, row))
    note(object, differing.subtracting(overlay.changed))
  }

  private enum Values {
    /// None: the survivor's stay.
    case none
    /// Those that the object was given.
    case explicit
    /// Defaults as well.
    case all
  }

  /// Puts one object in the place of a new one that is not saved: for what refers to it, and with its values.
  private func replace(
    _ object: NSManagedObject, by survivor: NSManagedObject, _ conflict: NSConstraintConflict, values: Values
  ) {
    let given = object.changedSlots
    for info in object._binding.properties {
      guard let slot = survivor._binding.layout.slot(named: info.name) else { continue }
      switch info.kind {
      case .attribute, .composite:
        guard given.contains(info.slot) ? values != .none : values == .all, info.derivation == nil,
          !info.isTransient, !conflict.constraint.contains(info.name)
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
        // Who is a member is for a member to say, unless it knows nothing of it.
        if !given.contains(info.slot) || (info.inverseSlot == nil && values == .none) { continue }
        for member in object.loadedMembers(info.slot).objects {
          object.removeMember(info.slot, member)
          survivor.addMember(slot, member)
        }
      }
    }
    redirectOneWayReferences(to: object, survivor)
    context.forgetUnsaved([object])
  }

  /// References without an inverse are known to their owners alone.
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
