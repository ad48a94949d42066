@_spi(CDE) internal import CDEExecutors
import CDESQLite
@_spi(CDE) public import CDEStore

extension SQLiteStore {
  public func commit(
    _ transaction: StoreTransaction, committed: (CommitResult) -> Void
  ) throws(StoreError) -> CommitResult {
    try requireWritable()
    for batch in transaction.inserted + transaction.updated.map(\.batch) {
      requireOwnLayout(batch.layout)
      try plans.checkEntity(batch.layout.entity)
    }
    return try pool.write(transaction.isBatch ? .batch : .save) { (connection) throws(StoreError) in
      let writer = TransactionWriter(
        plans, connection, transaction, externals: externals,
        checksReferences: configuration.checksReferences)
      do throws(StoreError) {
        try connection.inWriteTransaction { () throws(StoreError) in try writer.write() }
      } catch {
        // When SQLite failed in the midst of its commit, the log may hold all of it: whoever reads the log after
        // this process has died finds the transaction, and needs the files.
        if !writer.isComplete || [.busy, .fileMoved].contains(error.code) {
          externals?.remove(writer.writtenFiles)
        }
        throw error
      }
      // Pending keys stay in the batches until here, so a transaction that failed can simply be tried again.
      let sequence = pool.countCommit()
      for batch in transaction.inserted + transaction.updated.map(\.batch) {
        batch.assignKeys(base: writer.keyBase, schema: schema)
        batch.asOf = sequence
      }
      for batch in writer.derived { batch.asOf = sequence }
      let result = CommitResult(keyBase: writer.keyBase, sequence: sequence, derived: writer.derived)
      committed(result)
      externals?.remove(writer.obsoleteFiles)
      return result
    }
  }

  public func conflicts(of transaction: StoreTransaction) throws(StoreError) -> TransactionConflicts {
    try pool.read { (connection) throws(StoreError) in
      var finder = ConflictFinder(plans, connection, transaction)
      return try finder.find()
    }
  }

  /// Cells are bound by place, so rows of another schema would end up in the wrong columns.
  private func requireOwnLayout(_ layout: RowLayout) {
    let entities = schema.entities
    let isOwn =
      entities.indices.contains(layout.entity)
      && (entities[layout.entity].layout === layout
        || (entities[layout.entity].source.name == layout.entityName
          && entities[layout.entity].layout.cells == layout.cells))
    checkPrecondition(
      isOwn, "A transaction's rows have to be made with the layouts of the store's own schema.")
  }
}
