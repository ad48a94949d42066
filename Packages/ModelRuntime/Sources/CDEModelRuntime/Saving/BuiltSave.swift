internal import CDEStore

/// The second phase of a save: the rows and links to be written.
struct BuiltSave {
  let objects: CollectedSave
  var transaction: StoreTransaction
  /// The row of each inserted object.
  let insertedRows: [RowReference]
  /// Updated objects with a row to write, ordered by key, with their rows and the slots that these rows change.
  let rewritten: [NSManagedObject]
  let rewrittenRows: [RowReference]
  let rewrittenSlots: [PropertySet]
  /// Updated objects without a row to write: only to-many relationships changed, or no stored value.
  let unwritten: [NSManagedObject]
  /// Owners whose to-many relationships only the other side changed.
  let touched: Set<CommittedTransaction.Touch>

  /// Adds the objects to the transaction whose to-many relationships change, for the store's history.
  mutating func nameTouchedOwners() {
    var touches = touched.map { StoreTouch(entity: $0.entity, key: $0.key, properties: [$0.slot]) }
    objects.updated[...].forEachBorrowed { object in
      let slots = object.changedSlots.intersection(object.withBinding(\.savedSlots.toMany))
      if !slots.isEmpty, object.isStored {
        touches.append(StoreTouch(entity: object._binding.index, key: object._key, properties: slots))
      }
    }
    transaction.touched = touches
  }

  /// The written transaction in the form for other contexts.
  ///
  /// The store calls this while other writers wait. It therefore changes no object and runs no code of the
  /// application.
  func committed(
    _ result: CommitResult, of model: ModelBinding, _ trace: CommitTrace, _ store: StoreHandle
  ) -> CommittedSave {
    let rows = WrittenRows(result, inserted: insertedRows, rewritten: rewrittenRows)
    let (inserted, updated, deleted) = (objects.inserted, objects.updated, objects.deleted)
    var changes: [CommittedTransaction.Change] = []
    changes.reserveCapacity(inserted.count + updated.count + deleted.count)
    var index = 0
    inserted[...].forEachBorrowed { object in
      changes.append(.init(.inserted, object, object.changedSlots, rows.inserted[index]))
      index += 1
    }
    for object in unwritten {
      let properties = object.changedSlots
      if !properties.isEmpty { changes.append(.init(.updated, object, properties, nil)) }
    }
    index = 0
    rewritten[...].forEachBorrowed { object in
      changes.append(
        .init(.updated, object, object.changedSlots.union(rewrittenSlots[index]), rows.rewritten[index]))
      index += 1
    }
    for object in deleted { changes.append(.init(.deleted, object, PropertySet(), nil)) }
    rows.add(to: &changes, model)
    var transaction = CommittedTransaction(
      asOf: result.number, author: self.transaction.author, contextName: self.transaction.contextName,
      changes: changes, touched: Array(touched), trace: trace,
      model: model, store: store)
    transaction.historyNumber = result.historyNumber
    transaction.links = self.transaction.links.compactMap { link in
      link.owner > 0 && link.member > 0 ? CommittedTransaction.Link(link) : nil
    }
    return CommittedSave(
      objects: objects, rewritten: rewritten, unwritten: unwritten, rows: rows, transaction: transaction)
  }
}

extension CommittedTransaction.Change {
  fileprivate init(
    _ kind: Kind, _ object: NSManagedObject, _ properties: PropertySet, _ row: RowReference?
  ) {
    self.init(
      kind: kind, entity: object._binding.index, key: row?.key ?? object._key, properties: properties,
      row: row)
  }
}
