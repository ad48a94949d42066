/// Keys of one store among those of several: the store's own key plus a number.
///
/// Each of several stores has its own range of shifted keys. A shifted key therefore names one row of one store. Keys that are not
/// above zero name no row of a store, and are never shifted.
@_spi(CDE) public struct KeyShift: Hashable, Sendable {
  /// The number that is added to a store's own keys; a multiple of ``span``, and not below zero.
  public let offset: Int64

  /// The number of keys of each store. Own keys are below it.
  public static let span: Int64 = 1 << 48

  /// The shift of a store.
  ///
  /// - Parameter ordinal: the number of the store, below ``limit``.
  public init(ordinal: Int64) { offset = ordinal * Self.span }

  /// The number of stores that have ranges of their own.
  public static let limit: Int64 = 1 << 15

  /// Whether a shifted key is one of this store.
  @inlinable public func contains(_ key: Int64) -> Bool { key &- offset >= 0 && key &- offset < Self.span }

  /// The shifted key of a store's own key.
  ///
  /// - Throws: `.full` for a key outside the store's range.
  @inlinable public func shifted(_ key: Int64) throws(StoreError) -> Int64 {
    if key <= 0 { return key }
    if key >= Self.span { throw Self.outside(key) }
    return key + offset
  }

  /// The store's own key of a shifted key; 0, which no row has, for a key of another store.
  @inlinable public func own(_ key: Int64) -> Int64 {
    if key <= 0 { return key }
    return contains(key) ? key - offset : 0
  }

  @usableFromInline static func outside(_ key: Int64) -> StoreError {
    StoreError(
      .full,
      "The store has the primary key \(key). Keys of a store that shares its entities with another one of its coordinator "
        + "have to be below 2^48. Use the store in a coordinator of its own.")
  }
}

// MARK: What a store returns
extension KeyShift {
  /// Shifts the keys and references of rows that no other code has yet.
  func shift(_ batches: [RowBatch]) throws(StoreError) {
    for batch in batches { try batch.changeKeys { (key) throws(StoreError) in try shifted(key) } }
  }

  func shifted(_ entries: [FetchedRows.Entry]) throws(StoreError) -> [FetchedRows.Entry] {
    var entries = entries
    for index in entries.indices { entries[index].key = try shifted(entries[index].key) }
    return entries
  }

  func shifted(_ rows: FetchedRows) throws(StoreError) -> FetchedRows {
    try shift(rows.batches)
    guard let order = rows.order else { return rows }
    return FetchedRows(batches: rows.batches, order: try shifted(order))
  }

  func shifted(_ row: StoreBatchResult.Row) throws(StoreError) -> StoreBatchResult.Row {
    StoreBatchResult.Row(entity: row.entity, key: try shifted(row.key))
  }

  func shifted(_ rows: [StoreBatchResult.Row]) throws(StoreError) -> [StoreBatchResult.Row] {
    var rows = rows
    for index in rows.indices { rows[index] = try shifted(rows[index]) }
    return rows
  }

  func shifted(_ changes: [StoreBatchResult.Change]) throws(StoreError) -> [StoreBatchResult.Change] {
    var changes = changes
    for index in changes.indices { changes[index].row = try shifted(changes[index].row) }
    return changes
  }

  func shifted(_ result: StoreBatchResult) throws(StoreError) -> StoreBatchResult {
    var result = result
    result.rows = try shifted(result.rows)
    result.cascaded = try shifted(result.cascaded)
    result.nullified = try shifted(result.nullified)
    result.touched = try shifted(result.touched)
    try shift(result.derived)
    return result
  }

  func shifted(_ transactions: [StoreHistoryTransaction]) throws(StoreError) -> [StoreHistoryTransaction] {
    var transactions = transactions
    for index in transactions.indices {
      for place in transactions[index].changes.indices {
        let key = transactions[index].changes[place].key
        transactions[index].changes[place].key = try shifted(key)
      }
    }
    return transactions
  }

  func shifted(_ found: TransactionConflicts) throws(StoreError) -> TransactionConflicts {
    var found = found
    for index in found.versions.indices { found.versions[index].key = try shifted(found.versions[index].key) }
    for index in found.uniqueness.indices {
      found.uniqueness[index].rows = try shifted(found.uniqueness[index].rows)
      if let stored = found.uniqueness[index].stored {
        found.uniqueness[index].stored = try shifted(stored)
      }
    }
    try shift(found.rows)
    return found
  }

  /// An error with the rows that it names.
  func shifted(_ error: StoreError) -> StoreError {
    var result = error
    do throws(StoreError) {
      for index in result.conflicts.indices {
        result.conflicts[index].key = try shifted(result.conflicts[index].key)
      }
      for index in result.references.indices {
        result.references[index].row = try shifted(result.references[index].row)
        result.references[index].target = try shifted(result.references[index].target)
      }
      return result
    } catch let outside {
      return outside
    }
  }

  func shifted(_ rows: ProjectedRows) throws(StoreError) -> ProjectedRows {
    // Most projections have no objects.
    guard rows.values.contains(where: { if case .reference = $0 { true } else { false } }) else {
      return rows
    }
    var shiftedRows = ProjectedRows(columnCount: rows.columnCount)
    for value in rows.values {
      if case .reference(let entity, let key) = value {
        shiftedRows.append(.reference(entity: entity, key: try shifted(key)))
      } else {
        shiftedRows.append(value)
      }
    }
    return shiftedRows
  }
}

// MARK: What a store is given
extension KeyShift {
  /// A transaction in the store's own keys. Its rows are changed in place, as a commit does; ``shift(back:)`` undoes it.
  func own(_ transaction: StoreTransaction) -> StoreTransaction {
    var own = transaction
    own.keyLimit = Self.span - 1
    for batch in transaction.writtenBatches {
      // Cannot fail, because own(_:) does not throw.
      try? batch.changeKeys { (key) throws(StoreError) in self.own(key) }
    }
    for index in own.deleted.indices { own.deleted[index].key = self.own(own.deleted[index].key) }
    for index in own.checked.indices { own.checked[index].key = self.own(own.checked[index].key) }
    for index in own.touched.indices { own.touched[index].key = self.own(own.touched[index].key) }
    for index in own.links.indices {
      own.links[index].owner = self.own(own.links[index].owner)
      own.links[index].member = self.own(own.links[index].member)
    }
    return own
  }

  func own(_ query: StoreQuery) -> StoreQuery {
    var query = query
    query.filter = own(query.filter)
    query.sort = own(query.sort)
    return query
  }

  func own(_ projection: StoreProjection) -> StoreProjection {
    var own = projection
    own.filter = self.own(projection.filter)
    own.columns = projection.columns.map {
      if case .value(let expression) = $0 { .value(self.own(expression)) } else { $0 }
    }
    own.grouping = projection.grouping.map { self.own($0) }
    own.having = self.own(projection.having)
    own.sort = self.own(projection.sort)
    return own
  }

  func own(_ batch: StoreBatch) -> StoreBatch {
    switch batch {
    case .update(var update):
      update.query = own(update.query)
      for batch in update.values.map(\.batch) {
        // Cannot fail, because own(_:) does not throw.
        try? batch.changeKeys { (key) throws(StoreError) in own(key) }
      }
      update.computed = update.computed.map { computed in
        computed.map { .init(slot: $0.slot, expression: own($0.expression)) }
      }
      return .update(update)
    case .delete(var delete):
      delete.query = own(delete.query)
      return .delete(delete)
    }
  }

  private func own(_ sort: [StoreSort]) -> [StoreSort] {
    sort.map { StoreSort(own($0.expression), isAscending: $0.isAscending, options: $0.options) }
  }

  func own(_ expression: StoreExpression) -> StoreExpression { owning(expression) }

  func own(_ filter: StoreFilter) -> StoreFilter { owning(filter) }

  private var owning: QueryRewriting {
    QueryRewriting(
      value: { value in
        guard case .reference(let entity, let key) = value else { return value }
        return .reference(entity: entity, key: own(key))
      },
      // Rows of other stores are left out, so a long list costs nothing there.
      keys: { keys in keys.compactMap { contains($0) ? own($0) : nil } })
  }
}

extension KeyShift {
  /// A row in the store's own keys: a copy, or the row itself if nothing is shifted.
  @_spi(CDE) public func ownRow(_ row: RowReference) -> RowReference {
    if offset == 0 { return row }
    var builder = RowBatchBuilder(layout: row.batch.layout, rows: 1)
    builder.beginRow(copying: row.batch, row.row, key: row.key, version: row.version)
    let copy = builder.finish()
    copy.asOf = row.batch.asOf
    // Cannot fail, because own(_:) does not throw.
    try? copy.changeKeys { (key) throws(StoreError) in own(key) }
    return RowReference(batch: copy, row: 0)
  }
}

extension StoreTransaction {
  /// The rows that the transaction writes.
  @_spi(CDE) public var writtenBatches: [RowBatch] { inserted + updated.map(\.batch) }
}

extension RowBatch {
  /// Replaces the keys of rows and of to-one references.
  ///
  /// - Parameter change: returns the new key. If it throws, the batch is partly changed and must not be used.
  func changeKeys(_ change: (Int64) throws(StoreError) -> Int64) throws(StoreError) {
    for row in 0..<count { self.row(row)[0] = UInt64(bitPattern: try change(key(row))) }
    for (cell, description) in zip(layout.cells.indices, layout.cells) where description.role == .key {
      for row in 0..<count {
        guard let reference = integer(row, cell) else { continue }
        self.row(row)[layout.headWords + cell.rawValue] = UInt64(bitPattern: try change(reference))
      }
    }
  }
}
