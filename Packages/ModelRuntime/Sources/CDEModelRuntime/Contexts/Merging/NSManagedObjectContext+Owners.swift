internal import CDEStore

extension NSManagedObjectContext {
  /// Unloads the members of registered owners whose members another writer changed: the object left, joined
  /// or moved.
  func unloadOwners(of object: NSManagedObject, _ base: RowReference, _ row: RowReference) -> [ObjectChange] {
    var changes: [ObjectChange] = []
    for info in object._binding.properties where info.kind == .toOne && info.inverseIsToMany {
      if base.batch.sameValues(base.row, as: row.batch, row.row, cells: info.cells) { continue }
      let destination = registry.model.entities[info.destination]
      guard let cell = info.cells.first, let inverse = info.inverseSlot else { continue }
      let keys = Set([base, row].compactMap { $0.batch.integer($0.row, cell) })
      for key in keys {
        guard let owner = registry.object(root: destination.root, key: key),
          info.destinations.contains(owner._binding.index)
        else { continue }
        let slot = owner.slot(of: info, inverse)
        unload(owner, slot)
        changes.append(ObjectChange(object: owner, kind: .touched, properties: [slot]))
      }
    }
    return changes
  }

  /// Unloads the members of registered objects that have an object whose row was written again after a deletion. The deletion
  /// removed the pairs of the row, and the commit that wrote the row again does not name them.
  ///
  /// Cost: linear in the number of registered objects and their members, if there is such a row.
  ///
  /// - Parameter objects: the objects whose rows were written again, or may have been.
  /// - Returns: the changes of the objects that had one of them.
  func unloadPairs(ofWrittenAgain objects: [NSManagedObject]) -> [ObjectChange] {
    if objects.isEmpty { return [] }
    for object in objects { object._overlay?.unloadMembers() }
    let entities = Set(objects.map(\._binding.index))
    let writtenAgain = Set(objects.map(ObjectIdentifier.init))
    var changes: [ObjectChange] = []
    for partner in registry.all() {
      guard let overlay = partner._overlay else { continue }
      var slots = PropertySet()
      for slot in partner.withBinding(\.savedSlots.linked) {
        guard let members = overlay.members(slot), members.isLoaded,
          entities.contains(where: partner._binding.properties[slot].destinations.contains),
          members.objects.contains(where: { writtenAgain.contains(ObjectIdentifier($0)) })
        else { continue }
        members.unload()
        slots.insert(slot)
      }
      if !slots.isEmpty { changes.append(ObjectChange(object: partner, kind: .touched, properties: slots)) }
    }
    return changes
  }
}
