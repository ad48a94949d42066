internal import CDEStore

/// The rows that the store wrote for a save, with the derived values that the store computed.
struct WrittenRows {
  /// The rows of inserted objects and of rewritten ones, in the order of the objects.
  private(set) var inserted: [RowReference]
  private(set) var rewritten: [RowReference]
  /// Rows that the store changed because derived values depend on other rows.
  private var others: [RowReference] = []

  /// Replaces written rows by those with the store's derived values.
  init(_ result: CommitResult, inserted: [RowReference], rewritten: [RowReference]) {
    (self.inserted, self.rewritten) = (inserted, rewritten)
    if result.derived.isEmpty { return }
    var rows: [RowKey: RowReference] = [:]
    for batch in result.derived {
      for row in 0..<batch.count {
        rows[RowKey(root: batch.layout.root, key: batch.key(row))] = RowReference(batch: batch, row: row)
      }
    }
    func take(_ written: inout [RowReference]) {
      for index in written.indices {
        let key = RowKey(root: written[index].batch.layout.root, key: written[index].key)
        if let row = rows.removeValue(forKey: key) { written[index] = row }
      }
    }
    take(&self.inserted)
    take(&self.rewritten)
    others = Array(rows.values)
  }

  /// Adds the rows of another store.
  mutating func add(_ other: WrittenRows) {
    inserted += other.inserted
    rewritten += other.rewritten
    others += other.others
  }

  /// Adds objects that were not changed themselves, but whose derived values depend on the saved objects.
  func add(to changes: inout [CommittedTransaction.Change], _ model: ModelBinding) {
    if others.isEmpty { return }
    var places: [RowKey: Int] = [:]
    for (index, change) in changes.enumerated() where change.row == nil && change.kind == .updated {
      places[RowKey(root: model.entities[change.entity].root, key: change.key)] = index
    }
    for row in others {
      let binding = model.entities[row.batch.layout.entity]
      if let index = places[RowKey(root: binding.root, key: row.key)] {
        changes[index].row = row
        changes[index].properties.formUnion(binding.storedDerivations)
      } else {
        changes.append(
          .init(
            kind: .updated, entity: binding.index, key: row.key, properties: binding.storedDerivations,
            row: row))
      }
    }
  }

  /// Gives the context's own objects the derived values that depend on the saved objects.
  func apply(to registry: ObjectRegistry) {
    for row in others {
      let binding = registry.model.entities[row.batch.layout.entity]
      guard let object = registry.object(root: binding.root, key: row.key),
        !object.isFault, object._binding === binding
      else { continue }
      let known = RowReference(batch: object._batch, row: Int(object._row))
      if row.version == known.version {
        object.take(row.batch, row.row)
      } else {
        // Another writer changed the row, too. The object gets its other values by that writer's commit,
        // because taking the version here would hide a conflict. The derived values are newer than that
        // commit.
        object.take(known, derivedFrom: row)
      }
    }
  }
}
