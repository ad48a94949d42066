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
}
