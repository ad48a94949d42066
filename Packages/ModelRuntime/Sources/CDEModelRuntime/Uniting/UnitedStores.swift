@_spi(CDE) internal import CDEStore

/// Stores that hold the same entity, read as one. Their keys are shifted, so that a key names one row of one store.
///
/// One store is asked as it is. Several stores answer one after the other, each from a state of its own, so a save over two
/// stores that commits in between may be found in the second one only.
struct UnitedStores {
  /// The only store; nil for none or several.
  let only: (any Store)?
  /// The stores, if there is not one alone.
  let stores: [any Store]

  /// One store, without an array around it.
  init(only store: any Store) {
    only = store
    stores = []
  }

  init(_ stores: [any Store]) {
    only = stores.count == 1 ? stores[0] : nil
    self.stores = only == nil ? stores : []
  }

  // MARK: Rows by key

  func rows(of entity: EntityIndex, keys: [Int64]) throws(StoreError) -> FetchedRows {
    if let only { return try only.rows(entity: entity, keys: keys) }
    var batches: [RowBatch] = []
    // Each store leaves out the keys of the others.
    for store in stores { batches += try store.rows(entity: entity, keys: keys).batches }
    return FetchedRows(batches: batches)
  }

  func related(
    of entity: EntityIndex, slot: SlotIndex, owners: [Int64],
    isKnown: ((_ root: RootIndex, _ key: Int64) -> Bool)?
  ) throws(StoreError) -> RelatedRows {
    if let only { return try only.related(entity: entity, slot: slot, owners: owners, isKnown: isKnown) }
    var united = RelatedRows(
      rows: FetchedRows(batches: [], order: []), ranges: Array(repeating: 0..<0, count: owners.count),
      entries: [])
    for store in stores {
      let places = owners.indices.filter { owners[$0] > 0 && store.hasKey(owners[$0]) }
      if places.isEmpty { continue }
      let found = try store.related(
        entity: entity, slot: slot, owners: places.map { owners[$0] }, isKnown: isKnown)
      let (firstBatch, firstEntry) = (united.rows.batches.count, united.entries.count)
      united.rows.batches += found.rows.batches
      united.entries += found.entries.map { $0.moved(by: firstBatch) }
      for (place, range) in zip(places, found.ranges) {
        united.ranges[place] = range.lowerBound + firstEntry..<range.upperBound + firstEntry
      }
    }
    united.rows.order = nil
    return united
  }

  /// The bytes of a value in a file. Names of files are unique, and a file never changes, so any store that has it may answer.
  func externalValue(_ value: ExternalValue) throws(StoreError) -> [UInt8] {
    if let only { return try only.externalValue(value) }
    var failure: StoreError?
    for store in stores {
      do throws(StoreError) { return try store.externalValue(value) } catch { failure = failure ?? error }
    }
    throw failure ?? StoreError(.closed, "No store is read, so there are no external values.")
  }

  // MARK: Queries

  func count(_ query: StoreQuery) throws(StoreError) -> Int {
    if let only { return try only.count(query) }
    let wide = query.widened
    var count = 0
    for store in stores { count += try store.count(wide) }
    return query.bounded(max(0, count - query.offset))
  }

  func fetch(
    _ query: StoreQuery, isKnown: ((_ root: RootIndex, _ key: Int64) -> Bool)?
  ) throws(StoreError) -> FetchedRows {
    if let only { return try only.fetch(query, isKnown: isKnown) }
    if query.limit == 0 || stores.isEmpty { return FetchedRows(batches: [], order: []) }
    if query.sort.isEmpty { return try unsorted(query, isKnown) }
    return query.keysOnly || !RowOrder.reads(query) ? try sortedByStore(query) : try sortedByRow(query)
  }

  func keys(of query: StoreQuery) throws(StoreError) -> KeyList {
    if let only { return try only.keys(of: query) }
    var query = query
    query.keysOnly = true
    return KeyList(of: try fetch(query, isKnown: nil))
  }

  /// The rows of the first store, then those of the second, and so on.
  private func unsorted(
    _ query: StoreQuery, _ isKnown: ((_ root: RootIndex, _ key: Int64) -> Bool)?
  ) throws(StoreError) -> FetchedRows {
    var list = RowList()
    var wide = query.widened
    for store in stores {
      // An own offset could only be used by the first store, whose other rows are not counted.
      let fetched = try store.fetch(wide, isKnown: isKnown)
      list.append(fetched)
      if let limit = wide.limit {
        wide.limit = limit - fetched.count
        if limit <= fetched.count { break }
      }
    }
    return list.finish(query.range(of: list.entries.count))
  }

  /// Rows in an order of their own values, which are read with them.
  private func sortedByRow(_ query: StoreQuery) throws(StoreError) -> FetchedRows {
    var list = RowList()
    for store in stores { list.append(try store.fetch(query.widened, isKnown: nil)) }
    var order = RowOrder(query, stores[0].schema)
    for entry in list.entries { order.append(list.batches[Int(entry.batch)], Int(entry.row)) }
    list.reorder(order.sorted)
    return list.finish(query.range(of: list.entries.count))
  }

  /// Rows in an order that each store computes: by values of other rows, or by computed ones.
  private func sortedByStore(_ query: StoreQuery) throws(StoreError) -> FetchedRows {
    let found = try project(
      StoreProjection(
        entity: query.entity, includesSubentities: query.includesSubentities, filter: query.filter,
        columns: [.object(StorePath(end: .object))], sort: query.sort, limit: query.limit,
        offset: query.offset))
    var keys: [(entity: EntityIndex, key: Int64)] = []
    for row in 0..<found.count {
      if case .reference(let entity, let key) = found[row, 0] { keys.append((entity, key)) }
    }
    if query.keysOnly || keys.isEmpty {
      return FetchedRows(
        batches: [], order: keys.map { FetchedRows.Entry(key: $0.key, entity: NarrowIndex($0.entity)) })
    }
    let read = try rows(
      of: stores[0].schema.entities[query.entity].root.entity, keys: keys.map(\.key).sorted())
    var places: [Int64: FetchedRows.Entry] = [:]
    for entry in RowList(read).entries { places[entry.key] = entry }
    // A row that was deleted in between is left out.
    return FetchedRows(batches: read.batches, order: keys.compactMap { places[$0.key] })
  }
}

extension Store {
  /// Whether a key is one of the store's range.
  fileprivate func hasKey(_ key: Int64) -> Bool { (self as? ShiftedStore)?.shift.contains(key) ?? true }
}

extension FetchedRows.Entry {
  fileprivate func moved(by batches: Int) -> FetchedRows.Entry {
    var moved = self
    if batch >= 0 { moved.batch += Int32(truncatingIfNeeded: batches) }
    return moved
  }
}

/// Something with a limit and an offset.
protocol BoundedQuery {
  var limit: Int? { get set }
  var offset: Int { get set }
}

extension StoreQuery: BoundedQuery {}
extension StoreProjection: BoundedQuery {}

extension BoundedQuery {
  /// The query for one of several stores: as many results as all stores together may need of it.
  var widened: Self {
    var wide = self
    wide.offset = 0
    // A sum beyond 64 bits is as good as no limit.
    wide.limit = limit.flatMap { limit in
      let (sum, overflows) = limit.addingReportingOverflow(offset)
      return overflows ? nil : sum
    }
    return wide
  }

  /// A number of results after the offset, with the limit.
  func bounded(_ count: Int) -> Int { limit.map { min(max($0, 0), count) } ?? count }

  /// The part of all results that is asked for.
  func range(of count: Int) -> Range<Int> {
    let start = min(max(offset, 0), count)
    return start..<start + bounded(count - start)
  }
}

/// Rows of several results, in one order.
struct RowList {
  private(set) var batches: [RowBatch] = []
  private(set) var entries: [FetchedRows.Entry] = []

  init() {}

  init(_ rows: FetchedRows) { append(rows) }

  mutating func append(_ rows: FetchedRows) {
    let first = batches.count
    if let order = rows.order {
      entries += order.map { $0.moved(by: first) }
    } else {
      for (index, batch) in rows.batches.enumerated() {
        let entity = NarrowIndex(batch.layout.entity)
        for row in 0..<batch.count {
          entries.append(
            FetchedRows.Entry(
              key: batch.key(row), entity: entity, batch: Int32(truncatingIfNeeded: first + index),
              row: Int32(truncatingIfNeeded: row)))
        }
      }
    }
    batches += rows.batches
  }

  mutating func reorder(_ places: [Int]) { entries = places.map { entries[$0] } }

  /// A part of the rows. Their batches hold no others, because a context makes objects of all rows of a batch.
  consuming func finish(_ range: Range<Int>) -> FetchedRows {
    if range.count == entries.count { return FetchedRows(batches: batches, order: entries) }
    var kept = Array(entries[range])
    var rows = [[Int]](repeating: [], count: batches.count)
    for (place, entry) in kept.enumerated() where entry.batch >= 0 { rows[Int(entry.batch)].append(place) }
    var result: [RowBatch] = []
    for (index, places) in rows.enumerated() where !places.isEmpty {
      let batch = batches[index]
      for place in places { kept[place].batch = Int32(truncatingIfNeeded: result.count) }
      if places.count == batch.count {
        result.append(batch)
        continue
      }
      var builder = RowBatchBuilder(layout: batch.layout, rows: places.count)
      for (row, place) in places.enumerated() {
        let old = Int(kept[place].row)
        builder.beginRow(copying: batch, old, key: batch.key(old), version: batch.version(old))
        kept[place].row = Int32(truncatingIfNeeded: row)
      }
      let copy = builder.finish()
      copy.asOf = batch.asOf
      result.append(copy)
    }
    return FetchedRows(batches: result, order: kept)
  }
}
