internal import CDEStore

extension CommittedTransaction {
  /// A transaction of a store's history, to be merged like a save of this process.
  ///
  /// It has no rows. The context that merges it reads those of its registered objects.
  ///
  /// - Parameter trace: the trace of the save, if it was made in this process and is known.
  init(_ record: StoreHistoryTransaction, model: ModelBinding, store: StoreHandle, trace: CommitTrace? = nil)
  {
    let changes = record.changes.map { change in
      let entity = model.entities[change.entity]
      let properties = change.properties ?? PropertySet(allBelow: entity.layout.properties.count)
      return Change(
        kind: Change.Kind(change.kind), entity: change.entity, key: change.key,
        properties: change.kind == .deleted ? PropertySet() : properties, row: nil,
        // Owners of changed to-one relationships are found from the rows, too: other programs may not record them.
        adopted: change.kind == .updated ? properties : PropertySet())
    }
    self.init(
      asOf: .max, author: record.author, contextName: record.contextName, changes: changes, touched: [],
      trace: trace ?? CommitTrace(expecting: []), model: model, store: store)
    lacksRows = true
    historyNumber = record.number
  }

  /// A commit of another process to a store without a history.
  static func unknown(of store: StoreHandle, _ model: ModelBinding) -> CommittedTransaction {
    var commit = CommittedTransaction(
      asOf: .max, author: nil, contextName: nil, changes: [], touched: [], trace: CommitTrace(expecting: []),
      model: model, store: store)
    commit.isUnknown = true
    return commit
  }
}

extension CommittedTransaction.Change.Kind {
  init(_ kind: StoreHistoryChange.Kind) {
    switch kind {
    case .inserted: self = .inserted
    case .updated: self = .updated
    case .deleted: self = .deleted
    }
  }
}
