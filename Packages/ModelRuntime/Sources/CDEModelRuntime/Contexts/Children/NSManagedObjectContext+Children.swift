@_spi(CDE) internal import CDEExecutors
internal import CDEStore
internal import Foundation

// A context as the parent of others: what it answers to their requests. All functions run on this context's executor.
extension NSManagedObjectContext {
  /// The source of this context's own rows.
  func readableSource() throws(StoreError) -> any RowSource {
    if let rowSource { return rowSource }
    throw StoreError(.closed, "The parent context has no persistentStoreCoordinator.")
  }

  /// Whether a query of the source would miss unsaved changes of this context.
  private var hasUnsavedRows: Bool { !changed.isEmpty && changed.contains(where: \.hasChanges) }

  /// The registered object that a child names by its key.
  func registeredForChild(_ row: RowKey) -> NSManagedObject? {
    registry.object(root: row.root, key: row.key)
      ?? registry.object(root: row.root, key: children.presentKey(of: row))
  }

  // MARK: Rows

  func childRow(
    of entity: EntityBinding, key: Int64, for fault: FiredFault?
  ) throws(StoreError) -> RowReference? {
    let place = RowKey(root: entity.root, key: key)
    if let object = registeredForChild(place) {
      if object.isDeletedOrGone { return nil }
      if let row = object.rowForChild() { return row }
    }
    let present = children.presentKey(of: place)
    // No source has rows for the temporary keys of this context's own objects.
    if present < 0, parentSource == nil { return nil }
    return try readableSource().row(of: entity, key: present, for: fault)
  }

  func childRows(of root: EntityBinding, keys: [Int64]) throws(StoreError) -> FetchedRows {
    var copies = RowCopies()
    var unread: [Int64] = []
    for key in keys {
      let place = RowKey(root: root.root, key: key)
      if let object = registeredForChild(place) {
        if object.isDeletedOrGone { continue }
        if let row = object.rowForChild() {
          copies.add(row)
          continue
        }
      }
      let present = children.presentKey(of: place)
      if present > 0 || parentSource != nil { unread.append(present) }
    }
    let batches = copies.finish()
    if unread.isEmpty { return FetchedRows(batches: batches) }
    let read = try readableSource().rows(of: root, keys: unread.sorted())
    return FetchedRows(batches: batches + read.batches)
  }

  func childFetch(
    _ query: StoreQuery, of entity: EntityBinding, in stores: [StoreHandle]?,
    isKnown: ((_ root: RootIndex, _ key: Int64) -> Bool)?
  ) throws(StoreError) -> FetchedRows {
    if !hasUnsavedRows {
      let found = try readableSource().fetch(query, of: entity, in: stores, isKnown: isKnown)
      if agree(found) { return found }
    }
    return rowsForChild(try objects(of: query, entity, stores), keysOnly: query.keysOnly, isKnown: isKnown)
  }

  func childCount(
    _ query: StoreQuery, of entity: EntityBinding, in stores: [StoreHandle]?
  ) throws(StoreError) -> Int {
    if !hasUnsavedRows { return try readableSource().count(query, of: entity, in: stores) }
    return try objects(of: query, entity, stores).count
  }

  /// The objects of a query, with this context's unsaved changes.
  private func objects(
    of query: StoreQuery, _ entity: EntityBinding, _ stores: [StoreHandle]?
  ) throws(StoreError) -> [NSManagedObject] {
    let registry = registry!
    var stored = query
    stored.limit = nil
    stored.offset = 0
    let rows = try readableSource().fetch(stored, of: entity, in: stores) { root, key in
      registry.realized(root: root, key: key)
    }
    let objects = adopt(rows)
    do {
      return try mixingPending(into: objects, query, of: entity, in: stores)
    } catch {
      if let error = error as? StoreError { throw error }
      let message = (error as? any CDEError)?.message ?? "\(error)"
      throw StoreError(.unsupportedQuery, message, cause: error, entity: entity.name)
    }
  }

  /// Whether the rows that the source has are those of this context's objects.
  private func agree(_ found: FetchedRows) -> Bool {
    for batch in found.batches where registry.count(root: batch.layout.root) > 0 {
      let known = registry.objects(root: batch.layout.root, keys: 0..<batch.count) { batch.key($0) }
      for (row, object) in known.enumerated() {
        guard let object, object.isRealized else { continue }
        if object._batch.version(Int(object._row)) != batch.version(row) { return false }
      }
    }
    return true
  }

  func childRelated(
    to owners: [Int64], of entity: EntityBinding, slot: SlotIndex,
    isKnown: ((_ root: RootIndex, _ key: Int64) -> Bool)?, for fault: FiredFault?
  ) throws(StoreError) -> RelatedRows {
    let places = owners.map { RowKey(root: entity.root, key: $0) }
    if !hasUnsavedRows, places.allSatisfy({ $0.key > 0 && registeredForChild($0) == nil }) {
      let found = try readableSource().related(
        to: owners, of: entity, slot: slot, isKnown: isKnown, for: fault)
      if agree(found.rows) { return found }
    }
    let objects = places.map { place in
      registeredForChild(place) ?? object(entity: entity.index, key: children.presentKey(of: place))
    }
    do {
      try prefetchMembers(entity.properties[slot], of: objects, entity)
    } catch {
      throw (error as? ManagedObjectError)?.cause as? StoreError
        ?? StoreError(.unreadable, "\(error)", cause: error, entity: entity.name)
    }
    var all: [NSManagedObject] = []
    var ranges: [Range<Int>] = []
    for owner in objects {
      let first = all.count
      if !owner.isDeletedOrGone {
        all += owner.loadedMembers(slot).objects.filter { !$0.isDeletedOrGone }
      }
      ranges.append(first..<all.count)
    }
    let rows = rowsForChild(all, keysOnly: false, isKnown: isKnown)
    return RelatedRows(
      rows: FetchedRows(batches: rows.batches), ranges: ranges, entries: rows.order ?? [])
  }

  /// The rows of objects, in their order.
  private func rowsForChild(
    _ objects: [NSManagedObject], keysOnly: Bool, isKnown: ((_ root: RootIndex, _ key: Int64) -> Bool)?
  ) -> FetchedRows {
    if !keysOnly { fireAll(objects) }
    var copies = RowCopies()
    var places: [ObjectIdentifier: (batch: Int32, row: Int32)] = [:]
    var entries: [FetchedRows.Entry] = []
    entries.reserveCapacity(objects.count)
    for object in objects {
      var place: (batch: Int32, row: Int32) = (-1, -1)
      if let known = places[ObjectIdentifier(object)] {
        place = known
      } else if !keysOnly, isKnown?(object._binding.root, object._key) != true, let row = object.rowForChild()
      {
        place = copies.add(row)
        places[ObjectIdentifier(object)] = place
      }
      entries.append(
        FetchedRows.Entry(
          key: object._key, entity: NarrowIndex(object._binding.index), batch: place.batch, row: place.row))
    }
    return FetchedRows(batches: copies.finish(), order: entries)
  }

  // MARK: What children get

  /// Applies a save to this context's own objects, and gives its children the new keys and the commit.
  func apply(_ committed: CommittedSave) {
    if children.isEmpty { return committed.apply(to: registry) }
    let new = committed.objects.inserted.filter(\.hasTemporaryKey)
    let old = new.map(\.rowIdentity)
    var commit = committed.transaction
    // A child may have read, or saved to this context, a value that changed back to the stored one.
    for object in committed.unwritten where object.changedSlots.isEmpty {
      commit.changes.append(
        .init(kind: .updated, entity: object._binding.index, key: object._key, properties: PropertySet()))
    }
    committed.apply(to: registry)
    children.deliver(zip(old, new).map { .init(old: $0, key: $1._key) })
    if !commit.changes.isEmpty { children.deliver(commit) }
  }

  /// Gives objects permanent keys.
  func rekey(_ objects: [NSManagedObject], key: (Int) -> Int64) {
    let old = objects.map(\.rowIdentity)
    registry.rekey(objects, key: key)
    children.deliver(zip(old, objects).map { .init(old: $0, key: $1._key) })
  }

  /// Gives the children the changes of a merge that is known by IDs only.
  func deliverToChildren(_ ids: MergedIDs) {
    guard !children.isEmpty, let model = modelBinding else { return }
    var changes: [CommittedTransaction.Change] = []
    func add(_ kind: CommittedTransaction.Change.Kind, _ ids: Set<NSManagedObjectID>) {
      for id in ids {
        guard let binding = model.entity(named: id.binding.name) else { continue }
        changes.append(.init(kind: kind, entity: binding.index, key: id.key, properties: PropertySet()))
      }
    }
    add(.inserted, ids.inserted)
    add(.updated, ids.updated)
    add(.deleted, ids.deleted)
    guard let first = changes.first,
      let handle = storeHandle(for: model.entities[first.entity], key: first.key)
    else { return }
    var commit = CommittedTransaction(
      asOf: 0, author: nil, contextName: nil, changes: changes, touched: [], trace: makeCommitTrace(),
      model: model, store: handle)
    commit.others = otherStores(than: handle)
    children.deliver(commit)
  }
}

extension NSManagedObject {
  /// The object's values as a row, with unsaved ones; nil for a fault, whose row the source has.
  ///
  /// References to objects that were never saved name their temporary keys.
  final func rowForChild() -> RowReference? {
    if isFault { return nil }
    let row = RowReference(batch: _batch, row: Int(_row))
    let changed = withOverlay { $0.unsaved } ?? PropertySet()
    let isNew = isInserted
    if !isNew, row.batch === _binding.defaults { return nil }
    if !isNew, changed.intersection(_binding.savedSlots.withCells).isEmpty { return row }
    var builder = RowBatchBuilder(layout: _binding.layout, rows: 1)
    builder.beginRow(copying: row.batch, row.row, key: _key, version: row.version)
    for info in _binding.properties where !info.cells.isEmpty && (isNew || changed.contains(info.slot)) {
      if info.kind == .toOne {
        write(toOne(info.slot).flatMap { $0.isDeletedOrGone ? nil : $0 }, as: info, into: &builder)
      } else {
        builder.set(attributeValue(info), of: info)
      }
    }
    return RowReference(batch: builder.finish(), row: 0)
  }
}

/// Copies of rows in batches that hold nothing else: a context takes all rows of a batch that it gets.
private struct RowCopies {
  private final class Box {
    // Used by one call, on one thread.
    var builder: RowBatchBuilder
    init(_ layout: RowLayout) { builder = RowBatchBuilder(layout: layout) }

    func finish() -> RowBatch {
      let layout = builder.layout
      var taken = RowBatchBuilder(layout: layout, rows: 1, arenaBytes: 16)
      swap(&taken, &builder)
      return taken.finish()
    }
  }

  private static let rowLimit = 512
  private static let arenaLimit = 1 << 20
  private var open: [EntityIndex: Int] = [:]
  private var boxes: [Box] = []

  @discardableResult
  mutating func add(_ row: RowReference) -> (batch: Int32, row: Int32) {
    let entity = row.batch.layout.entity
    var index = open[entity] ?? -1
    if index < 0 || boxes[index].builder.count >= Self.rowLimit
      || boxes[index].builder.arenaCount >= Self.arenaLimit
    {
      index = boxes.count
      boxes.append(Box(row.batch.layout))
      open[entity] = index
    }
    let place = boxes[index].builder.count
    boxes[index].builder.beginRow(copying: row.batch, row.row, key: row.key, version: row.version)
    return (Int32(truncatingIfNeeded: index), Int32(truncatingIfNeeded: place))
  }

  func finish() -> [RowBatch] { boxes.map { $0.finish() } }
}
