@_spi(CDE) internal import CDEExecutors
import CDESQLite
@_spi(CDE) public import CDEStore

extension SQLiteStore {
  /// Writes a transaction, all of it or nothing.
  ///
  /// Runs on the calling thread, which waits for other commits of this store without limit and for other
  /// processes as long as the busy timeout says. How durable the commit is when this returns,
  /// ``Configuration/synchronous-swift.property`` says.
  ///
  /// - Parameters:
  ///     - transaction: what to write. Precondition: its batches were made with layouts of the store's
  ///     schema.
  ///     - committed: called once the transaction is committed, in the order of the commits. It must not call
  ///     the store.
  /// - Returns: the keys given out, the number of the commit and the rows with derived attributes.
  /// - Throws: `.readOnly`, `.conflict`, `.danglingReference`, `.uniqueness`, `.busy`, `.full`, `.io`,
  ///   `.fileMoved`, `.closed` and so on. The transaction is unchanged then, and can be tried again.
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
        // When SQLite failed in the midst of its commit, the log may hold all of it. A process that reads the log
        // after this one has died then finds the transaction, and needs the files.
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

  /// Finds all that is in the way of a transaction, all of it read from one state of the store.
  ///
  /// Costs one look-up for each row that the transaction changes or deletes, and one for each unique value
  /// that it writes.
  ///
  /// - Parameter transaction: a transaction that ``commit(_:committed:)`` refused.
  /// - Throws: `.busy`, `.closed` and what reading throws.
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
