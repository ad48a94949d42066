@_spi(CDE) import CDESQL
@_spi(CDE) internal import CDEExecutors
import CDESQLite
@_spi(CDE) public import CDEStore

extension SQLiteStore {
  /// Writes a whole transaction or nothing.
  ///
  /// Runs on the calling thread. It waits for other commits of this store without limit, and for other
  /// processes up to the busy timeout. ``Configuration/synchronous-swift.property`` determines the durability
  /// of the commit when this returns.
  ///
  /// - Parameters:
  ///     - transaction: the changes. Precondition: its batches have layouts of the store's schema.
  ///     - committed: called once the transaction is committed, in the order of the commits. It must not call
  ///       the store.
  /// - Returns: the assigned keys, the number of the commit and the rows with derived attributes.
  /// - Throws: `.readOnly`, `.conflict`, `.danglingReference`, `.uniqueness`, `.busy`, `.full`, `.io`,
  ///   `.fileMoved`, `.closed` and so on. The transaction is then unchanged and can be tried again.
  public func commit(
    _ transaction: StoreTransaction, committed: (CommitResult) -> Void
  ) throws(StoreError) -> CommitResult {
    try requireWritable()
    for batch in transaction.writtenBatches { try requireWritten(batch) }
    return try pool.write(transaction.isBatch ? .batch : .save) { (connection) throws(StoreError) in
      let writer = TransactionWriter(
        plans, connection, transaction, externals: externals,
        checksReferences: configuration.checksReferences)
      return try commit(writer, committed: committed) { () throws(StoreError) in try writer.write() }
    }
  }

  /// Inserts all rows of an insertion in one SQLite transaction, or none.
  ///
  /// Runs on the calling thread. One batch of the rows is in memory at a time, and SQLite's cache. Other writers wait until all rows
  /// are written.
  ///
  /// - Throws: the errors of ``commit(_:committed:)``, and those of reading the rows. Then nothing is written.
  public func commit(_ insertion: StoreInsertion) throws(StoreError) -> CommitResult {
    try requireWritable()
    try plans.checkEntity(insertion.entity)
    return try pool.write(.batch) { (connection) throws(StoreError) in
      // New rows refer to no others, so there is no reference to check.
      let writer = TransactionWriter(
        plans, connection, StoreTransaction(), externals: externals, checksReferences: false)
      return try commit(writer) { _ in
      } writing: { () throws(StoreError) in
        try writer.write(insertion)
      }
    }
  }

  /// Lets a writer write, commits, and removes the files of external values that are not needed afterwards.
  private func commit(
    _ writer: TransactionWriter, committed: (CommitResult) -> Void, writing: () throws(StoreError) -> Void
  ) throws(StoreError) -> CommitResult {
    do throws(StoreError) { try writer.connection.inWriteTransaction(writing) } catch {
      // If SQLite failed during its commit, the log may contain the whole transaction. If a process reads
      // the log after this one has died, it finds the transaction and needs the files.
      if !writer.isComplete || [.busy, .fileMoved].contains(error.code) {
        externals?.remove(writer.writtenFiles)
      }
      throw error
    }
    let result = finish(writer, writer.transaction)
    committed(result)
    retired?.remove(writer.obsoleteFiles)
    return result
  }

  /// Numbers a transaction that was committed, and gives its rows their keys. The caller holds the writing connection.
  ///
  /// Batches keep pending keys until here, so a failed transaction can be tried again.
  func finish(_ writer: TransactionWriter, _ transaction: StoreTransaction) -> CommitResult {
    let commit = pool.countCommit()
    for batch in transaction.writtenBatches {
      batch.assignKeys(base: writer.keyBase, schema: schema)
      batch.asOf = commit
    }
    for batch in writer.derived { batch.asOf = commit }
    let number = writer.history.flatMap { $0.transaction == 0 ? nil : $0.transaction }
    others.noteOwn(number)
    return CommitResult(
      keyBase: writer.keyBase, number: commit, derived: writer.derived, historyNumber: number)
  }

  /// Makes sure that rows are of the store's own schema and entities.
  func requireWritten(_ batch: RowBatch) throws(StoreError) {
    schema.requireOwn(batch.layout)
    try plans.checkEntity(batch.layout.entity)
  }

  /// Finds all conflicts of a transaction, from one state of the store.
  ///
  /// Costs one look-up for each row that the transaction changes or deletes, and one for each unique value
  /// that it writes.
  ///
  /// - Parameter transaction: a transaction that ``commit(_:committed:)`` refused.
  /// - Throws: `.busy`, `.closed` and the errors of reading.
  public func conflicts(of transaction: StoreTransaction) throws(StoreError) -> TransactionConflicts {
    try pool.read { (connection) throws(StoreError) in
      var finder = ConflictFinder(
        StoredRows(plans: plans, connection: connection), plans.physical, transaction)
      return try finder.find()
    }
  }
}
