internal import CDEStore

// Changes of relationships outside the cells of the saved rows: owners to notify, and pairs in tables.
extension SaveBuilder {
  /// Names owners that are not in memory here. Contexts that have them then get the change. The changes of an
  /// owner in memory include the relationship.
  func touchOwners(of object: NSManagedObject, _ binding: EntityBinding) {
    for slot in binding.savedSlots.owned.intersection(object.changedSlots) {
      object.withProperty(slot) { touchOwners(of: object, through: $0) }
    }
  }

  private func touchOwners(of object: NSManagedObject, through info: PropertyInfo) {
    let inverse = info.inverseSlot!
    if case .toOne(let owner)? = object.withOverlay({ $0.values[info.slot] }), owner.isStored,
      !owner.changedSlots.contains(owner.slot(of: info, inverse))
    {
      touched.insert(.init(entity: info.destination, key: owner._key, slot: inverse))
    }
    guard let key = info.cells.first.flatMap({ object._batch.integer(Int(object._row), $0) }) else { return }
    let root = object._binding.model.entities[info.destination].root
    let former = object._registry?.object(root: root, key: key)
    if let former, !info.destinations.contains(former._binding.index) { return }
    if former.map({ !$0.changedSlots.contains($0.slot(of: info, inverse)) }) != false {
      touched.insert(.init(entity: info.destination, key: key, slot: inverse))
    }
  }

  /// Collects the pairs of relationships that no cell stores.
  func buildLinks() {
    objects.visitChanged({ $0.linked }) { object, slots in
      for slot in slots {
        let info = object._binding.properties[slot]
        guard case .toMany(let members)? = object._overlay?.values[slot], members.hasChanges else { continue }
        // Both sides have the same changes. Only one of them writes, and an ordered side writes its order.
        guard info.isOrdered || isCanonical(info, of: object) else { continue }
        addLinks(members, info, of: object)
      }
    }
    // A delete rule that requires an empty relationship must not find pairs that this save removes.
    for object in objects.deleted {
      for slot in object.withBinding(\.savedSlots.emptied).intersection(object.changedSlots) {
        guard case .toMany(let members)? = object._overlay?.values[slot] else { continue }
        for member in members.removed.objects where member.isStored {
          transaction.links.append(
            LinkChange(
              kind: .remove, entity: object._binding.index, slot: slot, owner: object._key,
              member: member._key))
        }
      }
    }
  }

  private func isCanonical(_ info: PropertyInfo, of object: NSManagedObject) -> Bool {
    guard let inverse = info.inverseSlot else { return true }
    let model = object._binding.model
    if info.inverseIsOrdered { return false }
    let mine = (
      model.schema.entities[object._binding.index].layout.properties[info.slot].declaringEntity, info.name
    )
    let theirProperty = model.entities[info.destination].layout.properties[inverse]
    return mine <= (theirProperty.declaringEntity, theirProperty.name)
  }

  private func addLinks(_ members: ToManyMembers, _ info: PropertyInfo, of owner: NSManagedObject) {
    let entity = owner._binding.index
    func link(_ kind: LinkChange.Kind, _ member: NSManagedObject, _ order: Int64? = nil) -> LinkChange {
      LinkChange(
        kind: kind, entity: entity, slot: info.slot, owner: owner.keyInSave, member: member.keyInSave,
        order: order)
    }
    // The pairs of a deleted member are deleted with its row.
    for member in members.removed.objects where member.isStored && !member.isDeletedOrGone && owner.isStored {
      transaction.links.append(link(.remove, member))
    }
    if info.isOrdered, !members.isReordered {
      // Only the store has the members before them, because other writers may have appended as well.
      for member in members.added.objects where member.hasRowAfterSave && !member.isMarkedDeleted {
        transaction.links.append(
          LinkChange(
            kind: .add, entity: entity, slot: info.slot, owner: owner.keyInSave, member: member.keyInSave,
            isAppended: true))
      }
    } else if info.isOrdered {
      let kept = owner.loadedMembers(info.slot).objects.filter {
        $0.hasRowAfterSave && !$0.isMarkedDeleted
      }
      for (index, member) in kept.enumerated() {
        var link = link(.add, member, Int64(index + 2) * 1024)
        link.isRanked = true
        transaction.links.append(link)
      }
    } else {
      for member in members.added.objects where member.hasRowAfterSave && !member.isMarkedDeleted {
        transaction.links.append(link(.add, member))
      }
    }
  }
}
