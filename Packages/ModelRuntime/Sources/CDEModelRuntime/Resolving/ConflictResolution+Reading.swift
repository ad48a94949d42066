internal import CDEStore

// Rows that a conflict concerns, in addition to those in conflict.
extension ConflictResolution {
  /// Makes objects of the store's current rows. Objects without unsaved values take the store's values.
  func read(_ rows: [ReferenceConflict.Row]) throws {
    var keys: [RootIndex: Set<Int64>] = [:]
    for row in rows { keys[context.root(of: row.entity), default: []].insert(row.key) }
    for (root, keys) in keys.sorted(by: { $0.key < $1.key }) {
      let source = try context.source()
      let binding = context.registry.model.entities[root.entity]
      _ = try source.requiredHandle(for: binding)
      let found: FetchedRows
      do {
        found = try source.rows(of: binding, keys: keys.sorted())
      } catch {
        throw ManagedObjectError.store(error)
      }
      for batch in found.batches {
        for row in 0..<batch.count { adopt(RowReference(batch: batch, row: row)) }
      }
    }
  }

  private func adopt(_ row: RowReference) {
    let object = object(for: row)
    keep(object)
    guard !object.isInserted, !object.isMarkedDeleted,
      object._binding.index == row.batch.layout.entity
    else { return }
    // A row with unsaved values is in conflict, or will be. The policy decides about it.
    object.dropEqualValues()
    if object.changedSlots.intersects(object.withBinding(\.savedSlots.withCells)) { return }
    let base = RowReference(batch: object._batch, row: Int(object._row))
    if base.batch === row.batch, base.row == row.row { return }
    let differing = object.slotsThatDiffer(base, row)
    object.take(row.batch, row.row)
    noteTouched(context.unloadOwners(of: object, base, row))
    note(object, differing)
  }
}
