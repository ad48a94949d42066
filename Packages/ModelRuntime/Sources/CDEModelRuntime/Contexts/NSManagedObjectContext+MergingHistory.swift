internal import CDEStore

// Merges of transactions out of a store's history, which have no rows.
extension NSManagedObjectContext {
  /// The transaction with the rows that the store has now, of those objects that a merge needs.
  ///
  /// The rows may be newer than the transaction. Later transactions then find them known, and announce their own changes.
  func withRows(_ commit: CommittedTransaction) -> CommittedTransaction {
    var commit = commit
    var keys: [RootIndex: Set<Int64>] = [:]
    let namesArrivals = PostedNames.isObjectsDidChangeUsed
    for change in commit.changes {
      let root = root(of: change.entity)
      let isNeeded =
        if let object = registry.object(root: root, key: change.key) {
          change.kind == .deleted || !object.isFault
        } else {
          change.kind != .deleted && (isTracked(change.entity) || (namesArrivals && change.kind == .inserted))
        }
      if isNeeded { keys[root, default: []].insert(change.key) }
    }
    var rows: [RowKey: RowReference] = [:]
    for (root, keys) in keys {
      let entity = registry.model.entities[root.entity]
      guard let source = rowSource, source.handle(for: entity) != nil else { continue }
      do {
        for batch in try source.rows(of: entity, keys: keys.sorted()).batches {
          for row in 0..<batch.count {
            rows[RowKey(root: root, key: batch.key(row))] = RowReference(batch: batch, row: row)
          }
        }
      } catch {
        Diagnostics.report(
          "Changes of \(entity.name) by another writer could not be read: \(error). The objects are read again when they "
            + "are used.")
        for key in keys {
          guard let object = registry.object(root: root, key: key), !object.hasChanges else { continue }
          object.turnIntoFault()
        }
      }
    }
    commit.changes = commit.changes.compactMap { change in
      var change = change
      let row = rows[RowKey(root: root(of: change.entity), key: change.key)]
      // The row was written again under its key.
      if change.kind == .deleted { return row == nil ? change : nil }
      change.row = row
      return change
    }
    return commit
  }
}
