@_spi(CDE) internal import CDEExecutors
internal import CDEStore
internal import Foundation

/// A transaction of rows as snapshots.
struct TransactionSnapshots {
  private(set) var changes = SnapshotChanges()
  /// The rows that the transaction deletes.
  private(set) var deleted: [RowPlace] = []
  private var temporary: [RowPlace: PersistentIdentifier] = [:]
  private let store: CustomStore

  /// A row, as it is after the transaction, or before its deletion.
  private struct Item {
    let place: RowPlace
    let row: RowReference
  }

  /// The members that a to-many relationship gets and loses.
  private struct MemberChange {
    var added: [RowPlace] = []
    var removed: Set<RowPlace> = []
  }

  private var members: [RowPlace: [String: MemberChange]] = [:]
  /// Entities of rows that the transaction does not write, and whose relationships it changes.
  private var touched: [RowPlace: EntityIndex] = [:]
  private var schema: ResolvedSchema { store.schema }

  init(_ store: CustomStore, _ transaction: StoreTransaction) throws {
    self.store = store
    let inserted = items(transaction.inserted)
    let updated = items(transaction.updated.map(\.batch))
    let goneKeys = transaction.deleted.map {
      RowPlace(root: store.schema.entities[$0.entity].root, key: $0.key)
    }
    let stored = try rows(updated.map(\.place) + goneKeys)
    let gone = goneKeys.compactMap { place in stored[place].map { Item(place: place, row: $0) } }
    deleted = goneKeys
    for item in inserted { temporary[item.place] = .temporary(item.row.batch.layout.entityName) }
    for item in inserted { compare(item, nil) }
    for item in updated { compare(item, stored[item.place]) }
    for item in gone { try leave(item) }
    for link in transaction.links { take(link) }
    let written = Set((inserted + updated + gone).map(\.place))
    let others = touched.filter { !written.contains($0.key) && $0.key.key > 0 }
    try store.loadInTurn(others.keys.map { $0 })
    let rest = try rows(Array(others.keys))
    let ordered = rest.sorted { ($0.key.root.rawValue, $0.key.key) < ($1.key.root.rawValue, $1.key.key) }
    changes.inserted = try snapshots(of: inserted)
    changes.updated = try snapshots(of: updated + ordered.map { Item(place: $0.key, row: $0.value) })
    // With the relationships that they had: nothing of them is in what the transaction changes.
    members = [:]
    changes.deleted = try snapshots(of: gone)
  }

  private func items(_ batches: [RowBatch]) -> [Item] {
    batches.flatMap { batch in
      (0..<batch.count).map { index in
        Item(
          place: RowPlace(root: batch.layout.root, key: batch.key(index)),
          row: RowReference(batch: batch, row: index))
      }
    }
    .sorted { ($0.place.root.rawValue, abs($0.place.key)) < ($1.place.root.rawValue, abs($1.place.key)) }
  }

  private func rows(_ places: [RowPlace]) throws -> [RowPlace: RowReference] {
    var result: [RowPlace: RowReference] = [:]
    for (root, places) in Dictionary(grouping: places, by: \.root) {
      for batch in try store.mirror.rows(entity: root.entity, keys: places.map(\.key)).batches {
        for index in 0..<batch.count {
          result[RowPlace(root: root, key: batch.key(index))] = RowReference(batch: batch, row: index)
        }
      }
    }
    return result
  }

  // MARK: Relationships

  /// Notes the owners whose relationships get or lose a row.
  private mutating func compare(_ item: Item, _ old: RowReference?) {
    let layout = item.row.batch.layout
    for property in layout.properties {
      guard case .toOne = property.kind, let cell = property.cells.first else { continue }
      let (before, after) = (
        old.flatMap { $0.batch.integer($0.row, cell) }, item.row.batch.integer(item.row.row, cell)
      )
      if before == after { continue }
      if let before { change(property, of: layout.entity, owner: before) { $0.removed.insert(item.place) } }
      if let after { change(property, of: layout.entity, owner: after) { $0.added.append(item.place) } }
    }
  }

  private mutating func change(
    _ property: RowLayout.Property, of entity: EntityIndex, owner key: Int64,
    _ body: (inout MemberChange) -> Void
  ) {
    let end = schema.end(of: property.slot, in: entity)
    guard let inverse = end.inverseSlot, end.inverse?.isToMany == true else { return }
    let destination = schema.entities[end.destination]
    let owner = RowPlace(root: destination.root, key: key)
    touched[owner] = end.destination
    body(&members[owner, default: [:]][destination.layout.properties[inverse].name, default: MemberChange()])
  }

  /// Notes what a deleted row leaves.
  private mutating func leave(_ item: Item) throws {
    let layout = item.row.batch.layout
    for property in layout.properties {
      switch property.kind {
      case .toOne:
        guard let cell = property.cells.first, let key = item.row.batch.integer(item.row.row, cell) else {
          continue
        }
        change(property, of: layout.entity, owner: key) { $0.removed.insert(item.place) }
      case .toMany:
        let end = schema.end(of: property.slot, in: layout.entity)
        guard let inverse = end.inverseSlot, end.inverse?.isToMany == true else { continue }
        let found = try store.mirror.related(
          entity: layout.entity, slot: property.slot, owners: [item.place.key]
        ) { _, _ in true }
        let destination = schema.entities[end.destination]
        let name = destination.layout.properties[inverse].name
        for entry in found.entries {
          let other = RowPlace(root: destination.root, key: entry.key)
          touched[other] = entry.entity.index
          members[other, default: [:]][name, default: MemberChange()].removed.insert(item.place)
        }
      case .attribute, .composite: break
      }
    }
  }

  private mutating func take(_ link: LinkChange) {
    let layout = schema.entities[link.entity].layout
    let end = schema.end(of: link.slot, in: link.entity)
    let destination = schema.entities[end.destination]
    let owner = RowPlace(root: layout.root, key: link.owner)
    let member = RowPlace(root: destination.root, key: link.member)
    add(link.kind, member, to: owner, link.entity, layout.properties[link.slot].name)
    if let inverse = end.inverseSlot {
      add(link.kind, owner, to: member, end.destination, destination.layout.properties[inverse].name)
    }
  }

  private mutating func add(
    _ kind: LinkChange.Kind, _ member: RowPlace, to owner: RowPlace, _ entity: EntityIndex, _ name: String
  ) {
    touched[owner] = entity
    switch kind {
    case .add: members[owner, default: [:]][name, default: MemberChange()].added.append(member)
    case .remove: members[owner, default: [:]][name, default: MemberChange()].removed.insert(member)
    }
  }

  // MARK: Snapshots

  private func snapshots(of items: [Item]) throws -> [DefaultSnapshot] {
    var lists: [RowPlace: [String: [RowPlace]]] = [:]
    for (entity, items) in Dictionary(grouping: items, by: { $0.row.batch.layout.entity }) {
      let layout = schema.entities[entity].layout
      for property in layout.properties {
        guard case .toMany = property.kind, !property.isTransient else { continue }
        let destination = schema.entities[schema.end(of: property.slot, in: entity).destination]
        let owners = items.map(\.place.key).filter { $0 > 0 }
        let found = try store.mirror.related(entity: entity, slot: property.slot, owners: owners) { _, _ in
          true
        }
        for (owner, range) in zip(owners, found.ranges) {
          lists[RowPlace(root: layout.root, key: owner), default: [:]][property.name] =
            found.entries[range].map { RowPlace(root: destination.root, key: $0.key) }
        }
      }
    }
    return try items.map { try snapshot($0, lists[$0.place] ?? [:]) }
  }

  private func snapshot(_ item: Item, _ lists: [String: [RowPlace]]) throws -> DefaultSnapshot {
    let layout = item.row.batch.layout
    guard let info = store.prepared.info(named: layout.entityName), let coding = store.coding(layout.entity),
      let id = identifier(item.place)
    else {
      throw StoreError(.engine, "A row of \(layout.entityName) has no class.", entity: layout.entityName)
    }
    let shape = SnapshotShape.of(info)
    var values: [String: Any] = [:]
    var references: [String: [PersistentIdentifier]] = [:]
    for property in shape.properties {
      guard let place = layout.property(named: property.name), !place.isTransient else { continue }
      switch property.kind {
      case .attribute(_, let bytes): values[property.name] = try coding.value(place, bytes, item.row)
      case .toOne:
        let root = schema.entities[schema.end(of: place.slot, in: layout.entity).destination].root
        let key = place.cells.first.flatMap { item.row.batch.integer(item.row.row, $0) }
        references[property.name] =
          key.flatMap { identifier(RowPlace(root: root, key: $0)) }.map { [$0] } ?? []
      case .toMany:
        let change = members[item.place]?[property.name] ?? MemberChange()
        let kept = (lists[property.name] ?? []).filter {
          !change.removed.contains($0) && !change.added.contains($0)
        }
        references[property.name] = (kept + change.added).compactMap(identifier)
      }
    }
    return DefaultSnapshot(id, shape, values: values, references: references)
  }

  private func identifier(_ place: RowPlace) -> PersistentIdentifier? {
    temporary[place] ?? store.tables.withLock { $0.identifiers[place] }
  }

  // MARK: Results

  /// The permanent identifiers of the inserted rows.
  ///
  /// - Throws: ``SwiftDataError`` with code `.incompleteSaveResult` if the store did not give one.
  func permanent(
    _ remapped: [PersistentIdentifier: PersistentIdentifier]
  ) throws -> [RowPlace: PersistentIdentifier] {
    var result: [RowPlace: PersistentIdentifier] = [:]
    for (place, id) in temporary {
      guard let found = remapped[id], found.storeIdentifier == store.publicIdentifier,
        found.entityName == id.entityName
      else {
        throw SwiftDataError(
          .incompleteSaveResult,
          "The store \(store.name) saved a new model of \(id.entityName), and its result has no permanent identifier of this store "
            + "for it. Return one for each inserted snapshot in remappedIdentifiers, made by "
            + "PersistentIdentifier.identifier(for: identifier, entityName:primaryKey:).",
          entity: id.entityName)
      }
      result[place] = found
    }
    return result
  }

  /// The permanent identifier for each temporary one.
  func renamed(
    _ identifiers: [RowPlace: PersistentIdentifier]
  ) -> [(PersistentIdentifier, PersistentIdentifier)] {
    identifiers.compactMap { place, id in temporary[place].map { ($0, id) } }
  }
}

extension CustomStore {
  /// Loads rows without values, within a turn.
  func loadInTurn(_ places: [RowPlace]) throws {
    let wanted = tables.withLock { tables in places.filter { tables.unloaded.contains($0) } }
    if !wanted.isEmpty { try load(places: wanted) }
  }
}

extension SwiftDataError.Code {
  /// A custom store saved a new model, and gave no permanent identifier for it.
  public static let incompleteSaveResult = Self(rawValue: "incompleteSaveResult")
}
