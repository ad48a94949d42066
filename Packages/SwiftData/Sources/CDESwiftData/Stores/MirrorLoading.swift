@_spi(CDE) internal import CDEExecutors
internal import CDEManagedModel
@_spi(CDE) internal import CDEModelRuntime
internal import CDEStore
internal import Foundation

/// One load of snapshots into the mirror of a custom store.
///
/// Both sides of a relationship are in the snapshots, and not always in the same ones. A model's own reference decides; without one
/// it belongs to the owner that lists it.
struct MirrorLoading {
  /// A row that the load may write.
  struct Row {
    let place: RowPlace
    let entity: EntityIndex
    /// The row as it is in the mirror; nil for a new one.
    var old: RowReference?
    var snapshot: DefaultSnapshot?
    /// References of to-one relationships that the load sets, by slot.
    var references: [SlotIndex: Reference?] = [:]
  }

  /// What a to-one relationship leads to.
  struct Reference {
    let place: RowPlace
    let entity: EntityIndex
  }

  /// The members of a to-many relationship whose inverse is to one.
  private struct Members {
    let owner: Reference
    let slot: SlotIndex
    var listed: [Reference]
  }

  let store: CustomStore
  private(set) var rows: [RowPlace: Row] = [:]
  private var order: [RowPlace] = []
  private var members: [Members] = []
  private var links = MirrorLinks()
  private var schema: ResolvedSchema { store.schema }

  init(_ store: CustomStore) { self.store = store }

  // MARK: Taking

  /// Gives each snapshot a row, and follows what it refers to.
  mutating func take(_ snapshots: [DefaultSnapshot]) throws {
    for snapshot in snapshots {
      let id = store.current(snapshot.persistentIdentifier)
      guard let entity = schema.entity(named: id.entityName) else {
        throw SwiftDataError(
          .unknownSchema,
          "The store \(store.name) gave a model of the entity \(id.entityName), which the container's schema lacks. Add its class to "
            + "the types of the container.", entity: id.entityName)
      }
      guard id.storeIdentifier == store.publicIdentifier else {
        throw SwiftDataError(
          .unreadable,
          "The store \(store.name) gave a model of \(id.entityName) whose identifier is not of this store. Make identifiers by "
            + "PersistentIdentifier.identifier(for: identifier, entityName:primaryKey:).",
          entity: id.entityName)
      }
      let place = try place(of: id, entity)
      // What was asked for comes before what is related to it.
      if rows[place]!.snapshot != nil { continue }
      rows[place]!.snapshot = snapshot
      try refer(snapshot, place, entity)
    }
  }

  /// The row of a model, new ones with a key in advance.
  private mutating func place(of id: PersistentIdentifier, _ entity: ResolvedSchema.Entity) throws -> RowPlace
  {
    if let known = store.tables.withLock({ $0.places[id] }) {
      note(known, entity.index)
      return known
    }
    let first = try store.mirror.allocateKeys([entity.root: 1])
    let place = RowPlace(root: entity.root, key: first[entity.root]!)
    store.tables.withLock { tables in
      tables.add(id, place)
      tables.unloaded.insert(place)
    }
    note(place, entity.index)
    return place
  }

  private mutating func note(_ place: RowPlace, _ entity: EntityIndex) {
    if rows[place] != nil { return }
    rows[place] = Row(place: place, entity: entity)
    order.append(place)
  }

  /// The row of a model that is only referred to; nil for one that is of no entity of the schema, or was never saved.
  mutating func place(referringTo id: PersistentIdentifier) throws -> RowPlace? {
    let id = store.current(id)
    guard let entity = schema.entity(named: id.entityName), id.storeIdentifier == store.publicIdentifier
    else {
      return nil
    }
    return try place(of: id, entity)
  }

  private mutating func refer(
    _ snapshot: DefaultSnapshot, _ place: RowPlace, _ entity: ResolvedSchema.Entity
  ) throws {
    let owner = Reference(place: place, entity: entity.index)
    for property in entity.layout.properties where property.isRelationship && !property.isTransient {
      let ids = snapshot.references[property.name]
      let end = schema.end(of: property.slot, in: entity.index)
      let destination = schema.entities[end.destination]
      var others: [Reference] = []
      for id in ids ?? [] {
        guard let other = try reference(id, destination, snapshot, property.name) else { continue }
        others.append(other)
      }
      if case .toOne = property.kind {
        rows[place]!.references[property.slot] = .some(others.first)
      } else {
        let list = UnlistedMembers(owner: place, name: property.name)
        if ids == nil {
          store.tables.withLock { _ = $0.unlisted.insert(list) }
          continue
        }
        store.tables.withLock { _ = $0.unlisted.remove(list) }
        if let slot = end.inverseSlot, end.inverse?.isToMany == false {
          members.append(Members(owner: owner, slot: slot, listed: others))
          memberSlots.append(property.slot)
        } else {
          links.list(owner, property, others.map { $0 }, in: schema)
        }
      }
    }
  }

  /// The slots of the owners' relationships, in the order of `members`.
  private var memberSlots: [SlotIndex] = []

  private mutating func reference(
    _ id: PersistentIdentifier, _ destination: ResolvedSchema.Entity, _ snapshot: DefaultSnapshot,
    _ property: String
  ) throws -> Reference? {
    guard let place = try place(referringTo: id),
      let entity = schema.entity(named: store.current(id).entityName),
      destination.subtree.contains(entity.index)
    else {
      ModelReport.send(
        "The store \(store.name) gave \(snapshot.persistentIdentifier.entityName).\(property) an identifier that names no saved "
          + "model of \(destination.source.name). It was left out. A store replaces temporary identifiers by "
          + "copy(persistentIdentifier:remappedIdentifiers:).")
      return nil
    }
    return Reference(place: place, entity: entity.index)
  }

  // MARK: Relating

  /// Reads the rows that the mirror has.
  mutating func readRows() throws {
    try readRows(order)
  }

  private mutating func readRows(_ places: [RowPlace]) throws {
    for (root, places) in Dictionary(grouping: places, by: \.root) {
      let found = try store.mirror.rows(entity: root.entity, keys: places.map(\.key))
      for batch in found.batches {
        for index in 0..<batch.count {
          let place = RowPlace(root: root, key: batch.key(index))
          if rows[place] == nil { note(place, batch.layout.entity) }
          rows[place]!.old = RowReference(batch: batch, row: index)
        }
      }
    }
  }

  /// Sets references from the members that owners list, and the pairs that no row stores.
  mutating func relate() throws {
    for (members, slot) in zip(members, memberSlots) { try relate(members, slot) }
    try links.compare(store)
  }

  private mutating func relate(_ members: Members, _ ownerSlot: SlotIndex) throws {
    let owner = members.owner
    let name = schema.entities[schema.end(of: ownerSlot, in: owner.entity).destination].layout.properties[
      members.slot
    ].name
    for member in members.listed {
      // The slot in the layout of the member's own entity.
      guard let slot = schema.entities[member.entity].layout.slot(named: name) else { continue }
      if rows[member.place]?.snapshot != nil, let own = rows[member.place]!.references[slot] ?? nil,
        own.place != owner.place
      {
        continue
      }
      rows[member.place]!.references[slot] = .some(owner)
    }
    guard rows[owner.place]?.old != nil else { return }
    let listed = Set(members.listed.map(\.place))
    let present = try store.mirror.related(entity: owner.entity, slot: ownerSlot, owners: [owner.place.key]) {
      _, _ in true
    }
    let gone = present.entries.map { entry in
      RowPlace(root: schema.entities[entry.entity.index].root, key: entry.key)
    }.filter { !listed.contains($0) && rows[$0]?.snapshot == nil }
    try readRows(gone)
    for place in gone {
      guard let row = rows[place], let slot = schema.entities[row.entity].layout.slot(named: name),
        row.references[slot] == nil
      else { continue }
      rows[place]!.references[slot] = .some(nil)
    }
  }

  // MARK: Writing

  /// Commits the rows that differ from the mirror's.
  mutating func write() throws {
    var transaction = StoreTransaction()
    var changes = MirrorChanges()
    let unloaded = store.tables.withLock { tables in Set(order.filter { tables.unloaded.contains($0) }) }
    for (entity, places) in Dictionary(grouping: order, by: { rows[$0]!.entity }).sorted(by: {
      $0.key < $1.key
    }) {
      for start in stride(from: 0, to: places.count, by: 256) {
        let chunk = places[start..<min(start + 256, places.count)]
        try write(Array(chunk), entity, unloaded, &transaction, &changes)
      }
    }
    transaction.links = links.changes
    links.note(unloaded, &changes, in: schema)
    try store.commit(transaction, changes.list)
    let loaded = rows.values.filter { $0.snapshot != nil }.map(\.place)
    store.tables.withLock { $0.unloaded.subtract(loaded) }
  }

  private func write(
    _ places: [RowPlace], _ entity: EntityIndex, _ unloaded: Set<RowPlace>,
    _ transaction: inout StoreTransaction, _ changes: inout MirrorChanges
  ) throws {
    let layout = schema.entities[entity].layout
    var inserted = RowBatchBuilder(layout: layout)
    var updated = RowBatchBuilder(layout: layout)
    var changed: [PropertySet] = []
    for place in places {
      let row = rows[place]!
      guard let old = row.old else {
        inserted.beginRow(key: place.key, version: 1)
        _ = try set(row, layout, &inserted)
        if row.snapshot != nil {
          changes.add(.inserted, entity, place, nil)
          noteOwners(row, nil, unloaded, &changes)
        }
        continue
      }
      let arena = updated.arenaCount
      updated.beginRow(copying: old.batch, old.row, key: place.key, version: old.version + 1)
      let touched = try set(row, layout, &updated)
      var different = PropertySet()
      for slot in touched
      where !updated.lastRowEquals(old.batch, old.row, cells: layout.properties[slot].cells) {
        different.insert(slot)
      }
      if different.isEmpty {
        updated.removeLastRow(arenaCount: arena)
        continue
      }
      changed.append(different)
      if !unloaded.contains(place) { changes.add(.updated, entity, place, different) }
      noteOwners(row, different, unloaded, &changes)
    }
    if inserted.count > 0 { transaction.inserted.append(inserted.finish()) }
    if updated.count > 0 { transaction.updated.append(RowUpdate(batch: updated.finish(), changed: changed)) }
  }

  /// Sets the cells of a row, and returns the slots that it has set.
  private func set(_ row: Row, _ layout: RowLayout, _ builder: inout RowBatchBuilder) throws -> PropertySet {
    var slots = PropertySet()
    if let snapshot = row.snapshot, let coding = store.coding(row.entity) {
      for property in snapshot.shape.properties {
        guard case .attribute(_, let shape) = property.kind,
          let place = layout.property(named: property.name),
          !place.isTransient
        else { continue }
        try coding.set(snapshot.values[property.name], place, shape, &builder)
        slots.insert(place.slot)
      }
    }
    for (slot, reference) in row.references {
      builder.setReference(reference, layout.properties[slot])
      slots.insert(slot)
    }
    return slots
  }

  /// Notes the owners whose to-many relationships get or lose a row.
  private func noteOwners(
    _ row: Row, _ different: PropertySet?, _ unloaded: Set<RowPlace>, _ changes: inout MirrorChanges
  ) {
    for (slot, reference) in row.references where different?.contains(slot) != false {
      let end = schema.end(of: slot, in: row.entity)
      guard let inverse = end.inverseSlot else { continue }
      let property = schema.entities[row.entity].layout.properties[slot]
      var owners = [reference?.place.key]
      if let old = row.old, let cell = property.cells.first {
        owners.append(old.batch.integer(old.row, cell))
      }
      for case let key? in owners {
        let place = RowPlace(root: schema.entities[end.destination].root, key: key)
        if unloaded.contains(place) || rows[place].map({ $0.old == nil }) == true { continue }
        changes.add(.updated, end.destination, place, [inverse])
      }
    }
  }
}

extension RowBatchBuilder {
  /// Sets the cells of a to-one relationship.
  mutating func setReference(_ reference: MirrorLoading.Reference?, _ property: RowLayout.Property) {
    for cell in property.cells {
      switch layout.cells[cell].role {
      case .key:
        if let reference { setInteger(cell, reference.place.key) } else { setNull(cell) }
      case .entity:
        if let reference { setEntity(cell, reference.entity) } else { setNull(cell) }
      case .order: setNull(cell)
      case .value: break
      }
    }
  }
}

extension CustomStore {
  /// How the attributes of an entity are in rows.
  func coding(_ entity: EntityIndex) -> RowCoding? {
    let layout = schema.entities[entity].layout
    guard let info = prepared.info(named: layout.entityName), let description = prepared.entity(of: info)
    else {
      return nil
    }
    return RowCoding(entity: description, layout: layout, shape: .of(info)) {
      try self.mirror.externalValue($0)
    }
  }
}
