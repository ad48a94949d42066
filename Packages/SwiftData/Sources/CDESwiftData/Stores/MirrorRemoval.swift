@_spi(CDE) internal import CDEExecutors
internal import CDEStore

/// Removes rows from the mirror whose models the application's store does not have any more.
struct MirrorRemoval {
  private let store: CustomStore
  private var schema: ResolvedSchema { store.schema }

  init(_ store: CustomStore) { self.store = store }

  func remove(_ places: Set<RowPlace>) throws {
    var transaction = StoreTransaction()
    var changes = MirrorChanges()
    let unloaded = store.tables.withLock { $0.unloaded }
    for (root, gone) in Dictionary(grouping: places, by: \.root) {
      let found = try store.mirror.rows(entity: root.entity, keys: gone.map(\.key))
      for batch in found.batches {
        let entity = batch.layout.entity
        for index in 0..<batch.count {
          let place = RowPlace(root: root, key: batch.key(index))
          transaction.deleted.append(
            RowDeletion(entity: entity, key: place.key, version: batch.version(index)))
          if !unloaded.contains(place) { changes.add(.deleted, entity, place, nil) }
          noteOwners(RowReference(batch: batch, row: index), unloaded, places, &changes)
        }
      }
    }
    try dropReferences(to: places, unloaded, &transaction, &changes)
    try store.commit(transaction, changes.list)
    store.tables.withLock { tables in places.forEach { tables.remove($0) } }
  }

  /// Owners whose to-many relationships lose a row.
  private func noteOwners(
    _ row: RowReference, _ unloaded: Set<RowPlace>, _ gone: Set<RowPlace>, _ changes: inout MirrorChanges
  ) {
    let layout = row.batch.layout
    for property in layout.properties {
      guard case .toOne = property.kind, let cell = property.cells.first,
        let key = row.batch.integer(row.row, cell)
      else { continue }
      let end = schema.end(of: property.slot, in: layout.entity)
      guard let inverse = end.inverseSlot else { continue }
      let owner = RowPlace(root: schema.entities[end.destination].root, key: key)
      if unloaded.contains(owner) || gone.contains(owner) { continue }
      changes.add(.updated, end.destination, owner, [inverse])
    }
  }

  /// Makes references to removed rows nil.
  private func dropReferences(
    to places: Set<RowPlace>, _ unloaded: Set<RowPlace>, _ transaction: inout StoreTransaction,
    _ changes: inout MirrorChanges
  ) throws {
    var dropped: [RowPlace: (row: RowReference, slots: PropertySet)] = [:]
    for entity in schema.entities {
      for property in entity.layout.properties where property.declaringEntity == entity.index {
        guard case .toOne = property.kind, !property.isTransient else { continue }
        let destination = schema.entities[schema.end(of: property.slot, in: entity.index).destination]
        let keys = places.filter { $0.root == destination.root }.map(\.key)
        if keys.isEmpty { continue }
        let path = StoreExpression.path(StorePath(hops: [property.slot], end: .object))
        let list = keys.map { StoreExpression.value(.reference(entity: destination.index, key: $0)) }
        let found = try store.mirror.fetch(
          StoreQuery(entity: entity.index, filter: .comparison(path, .in, .list(list), [])), isKnown: nil)
        for batch in found.batches {
          guard let slot = batch.layout.slot(named: property.name) else { continue }
          for index in 0..<batch.count {
            let place = RowPlace(root: entity.root, key: batch.key(index))
            if places.contains(place) { continue }
            dropped[place, default: (RowReference(batch: batch, row: index), PropertySet())].slots.insert(
              slot)
          }
        }
      }
    }
    for (entity, items) in Dictionary(grouping: dropped, by: { $0.value.row.batch.layout.entity }) {
      let layout = schema.entities[entity].layout
      var builder = RowBatchBuilder(layout: layout)
      for (place, (row, slots)) in items {
        builder.beginRow(copying: row.batch, row.row, key: place.key, version: row.version + 1)
        for slot in slots { builder.setReference(nil, layout.properties[slot]) }
        if !unloaded.contains(place) { changes.add(.updated, entity, place, slots) }
      }
      transaction.updated.append(RowUpdate(batch: builder.finish(), changed: items.map(\.value.slots)))
    }
  }
}
