internal import CDEStore

/// A batch insertion with rows whose unique values other rows have, resolved by the type of the context's merge policy.
///
/// The result is the same as if the objects had been inserted one after the other by a context with the policy.
struct BatchUpsert {
  private let binding: EntityBinding
  private let type: NSMergePolicyType
  /// The new rows in their order, with the properties that were given. The place is part of a row's key.
  private let rows: [(row: RowReference, given: PropertySet)]
  /// For each new row that stays, the rows whose given values it takes, itself first.
  private var inserted: [Int: [Int]] = [:]
  /// Rows of the store, with the new rows whose given values they take.
  private var updated: [Int64: (row: RowReference, sources: [Int])] = [:]

  /// - Parameter rows: the batches of new rows, with the properties that were given for each row.
  init(_ binding: EntityBinding, _ type: NSMergePolicyType, _ batches: [RowBatch], given: [PropertySet]) {
    self.binding = binding
    self.type = type
    var rows: [(RowReference, PropertySet)] = []
    rows.reserveCapacity(given.count)
    for batch in batches {
      for row in 0..<batch.count {
        rows.append((RowReference(batch: batch, row: row), given[rows.count]))
      }
    }
    self.rows = rows
    for place in rows.indices { inserted[place] = [place] }
  }

  /// The number of rows that are inserted or updated.
  var count: Int { inserted.count + updated.count }

  /// The rows of the store that take values.
  var updatedRows: [StoreBatchResult.Row] {
    updated.sorted { $0.key < $1.key }.map { .init(entity: $1.row.batch.layout.entity, key: $0) }
  }

  /// Chooses the row that keeps the values of each constraint.
  ///
  /// - Throws: the store's refusal if rows of the store collide with each other.
  mutating func resolve(_ found: TransactionConflicts, _ refusal: StoreError) throws {
    var stored: [Int64: RowReference] = [:]
    for batch in found.rows {
      for row in 0..<batch.count { stored[batch.key(row)] = RowReference(batch: batch, row: row) }
    }
    for clash in found.uniqueness {
      let pending = clash.rows.filter(\.isPending)
      let known = clash.stored.map(\.key) ?? clash.rows.first { !$0.isPending }?.key
      if pending.isEmpty || clash.rows.count - pending.count > (clash.stored == nil ? 1 : 0) {
        throw ManagedObjectError.store(refusal)
      }
      // An earlier constraint may have resolved a row. The next round finds what is left of this clash.
      let new = pending.map { Int(-$0.key - 1) }.filter { inserted[$0] != nil }.sorted()
      if new.isEmpty { continue }
      if let known {
        guard let row = updated[known]?.row ?? stored[known] else { continue }
        for place in new { move(place, to: known, row) }
      } else {
        for place in new.dropFirst() {
          let sources = inserted.removeValue(forKey: place)!
          if !type.storeTrumps { inserted[new[0]]! += sources }
        }
      }
    }
  }

  private mutating func move(_ place: Int, to key: Int64, _ row: RowReference) {
    let sources = inserted.removeValue(forKey: place)!
    if !type.storeTrumps { updated[key, default: (row, [])].sources += sources }
  }

  /// The rows to write.
  func fill(_ transaction: inout StoreTransaction) throws {
    var builder = RowBatchBuilder(layout: binding.layout)
    transaction.inserted = []
    for (place, sources) in inserted.sorted(by: { $0.key < $1.key }) {
      let own = rows[place].row
      builder.beginRow(copying: own.batch, own.row, key: -Int64(place + 1), version: 1)
      for source in sources.dropFirst() {
        for slot in slots(from: source) {
          copy(slot, from: rows[source].row, to: slot, of: binding, &builder)
        }
      }
      if builder.count == 512 {
        transaction.inserted.append(builder.finish())
        builder = RowBatchBuilder(layout: binding.layout)
      }
    }
    if builder.count > 0 { transaction.inserted.append(builder.finish()) }
    transaction.updated = try updated.sorted { $0.key < $1.key }.compactMap { key, update in
      try rowUpdate(key, update.row, update.sources)
    }
  }

  /// - Returns: nil if the row has the values already.
  private func rowUpdate(_ key: Int64, _ row: RowReference, _ sources: [Int]) throws -> RowUpdate? {
    let concrete = binding.model.entities[row.batch.layout.entity]
    var builder = RowBatchBuilder(layout: concrete.layout, rows: 1)
    builder.beginRow(copying: row.batch, row.row, key: key, version: row.version &+ 1)
    var changed = PropertySet()
    for source in sources {
      for slot in slots(from: source) {
        let name = binding.properties[slot].name
        guard let theirs = concrete.layout.slot(named: name) else {
          throw ManagedObjectError(
            .uniquenessConflict,
            "An object of \(concrete.name) has a unique value of the batch, and no \(name). Change the value.",
            entity: binding.name, property: name)
        }
        copy(slot, from: rows[source].row, to: theirs, of: concrete, &builder)
        changed.insert(theirs)
      }
    }
    let batch = builder.finish()
    let differing = changed.filter { slot in
      let cells = concrete.properties[slot].cells
      return !batch.sameValues(0, as: row.batch, row.row, cells: cells)
    }
    return differing.isEmpty ? nil : RowUpdate(batch: batch, changed: [PropertySet(differing)])
  }

  /// The properties of a new row that another row takes.
  private func slots(from source: Int) -> PropertySet {
    if type != .overwriteMergePolicyType { return rows[source].given }
    return PropertySet(
      binding.properties.lazy.filter { !$0.cells.isEmpty && $0.derivation == nil }.map(\.slot)
    )
    .union(rows[source].given)
  }

  private func copy(
    _ slot: SlotIndex, from row: RowReference, to theirs: SlotIndex, of concrete: EntityBinding,
    _ builder: inout RowBatchBuilder
  ) {
    for (cell, target) in zip(binding.properties[slot].cells, concrete.properties[theirs].cells) {
      if row.batch.isNull(row.row, cell) {
        builder.setNull(target)
        continue
      }
      switch row.batch.layout.cells[cell].kind {
      case .integer, .real: builder.setWord(target, row.batch.word(row.row, cell))
      case .text, .blob: builder.setBytes(target, row.batch.bytes(row.row, cell))
      }
    }
  }
}
