internal import CDEStore

// Merges of transactions out of a store's history, which have no rows.
extension NSManagedObjectContext {
  /// The transaction with the rows that the store has now, of those objects that a merge needs.
  ///
  /// The rows may be newer than the transaction. Later transactions then find them known, and announce their own changes.
  func withRows(_ commit: CommittedTransaction) -> CommittedTransaction {
    var commit = commit
    var wanted = WantedRows()
    let namesArrivals = PostedNames.objectsDidChange.isUsed
    for change in commit.changes {
      let root = root(of: change.entity)
      let isNeeded =
        if let object = registry.object(root: root, key: change.key) {
          change.kind == .deleted || !object.isFault
        } else {
          change.kind != .deleted && (isTracked(change.entity) || (namesArrivals && change.kind == .inserted))
        }
      if isNeeded { wanted.add(change.key, of: root) }
    }
    wanted.read { root, keys in
      let entity = registry.model.entities[root.entity]
      guard let source = rowSource, source.handle(for: entity) != nil else { return [] }
      do { return try source.rows(of: entity, keys: keys).batches } catch {
        Diagnostics.report(
          "Changes of \(entity.name) by another writer could not be read: \(error). The objects are read again when they "
            + "are used.")
        for key in keys {
          guard let object = registry.object(root: root, key: key), !object.hasChanges else { continue }
          object.turnIntoFault()
        }
        return []
      }
    }
    commit.changes = commit.changes.map { change in
      var change = change
      let row = wanted.row(change.key, of: root(of: change.entity))
      if change.kind == .deleted {
        guard row != nil else { return change }
        // The row was written again under its key, without the pairs that the deletion removed.
        change.kind = .updated
        change.properties = PropertySet(
          allBelow: registry.model.entities[change.entity].layout.properties.count)
        change.adopted = change.properties
      }
      change.row = row
      return change
    }
    return commit
  }

  /// What others changed in the objects that are in memory here, found by the versions of their rows and by derived values.
  ///
  /// Reads the rows of all objects of the store that are no faults. The members of relationships have no versions, so
  /// those in memory count as touched.
  func differences(to store: StoreHandle) -> CommittedTransaction {
    var changes: [CommittedTransaction.Change] = []
    var touched: [CommittedTransaction.Touch] = []
    let objects = registry.all().filter {
      $0.isStored && storeHandle(for: $0._binding, key: $0._key) === store
    }
    for (root, group) in Dictionary(grouping: objects, by: { $0._binding.root }) {
      let entity = registry.model.entities[root.entity]
      guard let source = rowSource, source.handle(for: entity) != nil else { continue }
      let realized = group.filter { !$0.isFault }
      var rows: [Int64: RowReference] = [:]
      do {
        for batch in try source.rows(of: entity, keys: realized.map { $0._key }.sorted()).batches {
          for row in 0..<batch.count { rows[batch.key(row)] = RowReference(batch: batch, row: row) }
        }
      } catch {
        Diagnostics.report(
          "Changes of \(entity.name) by another writer could not be read: \(error). Refresh the objects to see them."
        )
        continue
      }
      for object in group {
        let index = object._binding.index
        if !object.isFault {
          guard let row = rows[object._key] else {
            changes.append(
              .init(kind: .deleted, entity: index, key: object._key, properties: PropertySet(), row: nil))
            continue
          }
          let known = RowReference(batch: object._batch, row: Int(object._row))
          // The store changes derived values without a new version.
          if row.version != known.version || !object._binding.storedDerivations.isEmpty {
            let adopted = object.slotsThatDiffer(known, row)
            if row.version != known.version || !adopted.isEmpty {
              changes.append(
                .init(
                  kind: .updated, entity: index, key: object._key, properties: adopted, row: row,
                  adopted: adopted))
            }
          }
        }
        for slot in loadedToMany(object) {
          touched.append(.init(entity: index, key: object._key, slot: slot))
        }
      }
    }
    return CommittedTransaction(
      asOf: .max, author: nil, contextName: nil, changes: changes, touched: touched,
      trace: CommitTrace(expecting: []), model: registry.model, store: store)
  }

  /// The to-many relationships whose members are in memory.
  private func loadedToMany(_ object: NSManagedObject) -> PropertySet {
    guard let overlay = object._overlay else { return [] }
    return object.withBinding(\.savedSlots.toMany).filtered { slot in
      if case .toMany = overlay.values[slot] { true } else { false }
    }
  }
}

/// Rows that a merge reads.
private struct WantedRows {
  private struct Group {
    let root: RootIndex
    var keys: [Int64]
    /// The row of each key; nil if there is none.
    var rows: [RowReference?] = []

    /// Where a key is among the sorted keys.
    func place(of key: Int64) -> Int? {
      var (low, high) = (0, keys.count)
      while low < high {
        let middle = (low + high) / 2
        if keys[middle] < key { low = middle + 1 } else { high = middle }
      }
      return low < keys.count && keys[low] == key ? low : nil
    }
  }

  private var groups: [Group] = []

  private func index(of root: RootIndex) -> Int? { groups.firstIndex { $0.root == root } }

  mutating func add(_ key: Int64, of root: RootIndex) {
    if let index = index(of: root) {
      groups[index].keys.append(key)
    } else {
      groups.append(Group(root: root, keys: [key]))
    }
  }

  /// - Parameter read: returns rows by sorted keys.
  mutating func read(_ read: (RootIndex, [Int64]) -> [RowBatch]) {
    for index in groups.indices {
      var keys = groups[index].keys
      keys.sort()
      if zip(keys, keys.dropFirst()).contains(where: ==) { keys = Set(keys).sorted() }
      groups[index].keys = keys
      groups[index].rows = Array(repeating: nil, count: keys.count)
      for batch in read(groups[index].root, keys) {
        for row in 0..<batch.count {
          guard let place = groups[index].place(of: batch.key(row)) else { continue }
          groups[index].rows[place] = RowReference(batch: batch, row: row)
        }
      }
    }
  }

  func row(_ key: Int64, of root: RootIndex) -> RowReference? {
    guard let index = index(of: root), let place = groups[index].place(of: key) else { return nil }
    return groups[index].rows[place]
  }
}

extension PropertySet {
  fileprivate func filtered(_ isIncluded: (SlotIndex) -> Bool) -> PropertySet {
    PropertySet(lazy.filter(isIncluded))
  }
}
