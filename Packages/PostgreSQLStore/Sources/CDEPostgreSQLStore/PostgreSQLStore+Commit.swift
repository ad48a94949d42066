#if PostgreSQL
  @_spi(CDE) internal import CDEExecutors
  @_spi(CDE) public import CDEStore

  extension PostgreSQLStore {
    /// Writes a whole transaction or nothing.
    ///
    /// Runs on the calling thread, on a connection of the pool. Transactions of one store are written and committed at the
    /// same time, and reported one after the other. Rows that other transactions have locked are waited for, up to the lock timeout. Deadlocks are
    /// repeated.
    ///
    /// Costs round trips to the server:
    ///
    /// - one for each tree that gets new rows, for their keys;
    /// - one for all that is written, and one more for each 32 statements and each megabyte;
    /// - one for each tree whose rows are changed or deleted, or get new references;
    /// - one for the commit, with the history.
    ///
    /// What has to be read for derived attributes, ordered relationships and preserved values costs more. The update of one row costs two, and one
    /// without a history, a reference, a unique value and a derived attribute. A statement that is new on its connection costs another one, and so
    /// does each statement with a version of libpq before 14.
    ///
    /// If a connection that was idle before is lost and the server has not committed, the transaction is written once more over another one.
    ///
    /// - Parameters:
    ///     - transaction: the changes. Precondition: its batches have layouts of the store's schema.
    ///     - committed: called once the transaction is committed, in the order of the commits. It must not call
    ///       the store.
    /// - Returns: the assigned keys and the number of the commit.
    /// - Throws: `.readOnly`, `.conflict`, `.danglingReference`, `.uniqueness`, `.invalidValue` for a value that the server can't
    ///   store, `.busy`, `.full`, `.io`, `.closed` and so on. The transaction is then unchanged and can be tried again.
    ///   `.unknownOutcome` if the connection was lost during the commit and the server did not answer for the recovery time.
    public func commit(
      _ transaction: StoreTransaction, committed: (CommitResult) -> Void
    ) throws(StoreError) -> CommitResult {
      try requireWritable()
      for batch in transaction.writtenBatches { schema.requireOwn(batch.layout) }
      return try observing(transaction.isBatch ? .batch : .save) { (collector) throws(StoreError) in
        try commits.commit(transaction, collecting: collector, committed: committed)
      }
    }

    /// Writes a whole transaction or nothing, as ``commit(_:committed:)`` does.
    @discardableResult
    public func commit(_ transaction: StoreTransaction) throws(StoreError) -> CommitResult {
      try commit(transaction) { _ in }
    }

    /// Inserts all rows of an insertion in one transaction, or none.
    ///
    /// Runs on the calling thread, on a connection of the pool. A thousand rows or more are written by COPY, about 100,000
    /// by each statement. One batch of the rows is in memory at a time. Where the server ends the transaction because of
    /// others, the rows are read and written again.
    ///
    /// - Throws: the errors of ``commit(_:committed:)``, and those of reading the rows. Then nothing is written.
    public func commit(_ insertion: StoreInsertion) throws(StoreError) -> CommitResult {
      try requireWritable()
      try plans.checkEntity(insertion.entity)
      return try observing(.batch) { (collector) throws(StoreError) in
        try commits.commit(insertion, collecting: collector)
      }
    }

    /// Finds all conflicts of a transaction, from one state of the store.
    ///
    /// Costs one statement for each tree whose rows the transaction changes, and one for each uniqueness constraint.
    ///
    /// - Parameter transaction: a transaction that ``commit(_:committed:)`` refused.
    /// - Throws: `.busy`, `.closed` and the errors of reading.
    public func conflicts(of transaction: StoreTransaction) throws(StoreError) -> TransactionConflicts {
      for batch in transaction.writtenBatches { schema.requireOwn(batch.layout) }
      return try observing(.read) { (collector) throws(StoreError) in
        try commits.conflicts(of: transaction, collecting: collector)
      }
    }

    /// Assigns keys in a separate transaction. Keys that are not used stay unused.
    ///
    /// - Parameter counts: the number of keys for each index of a root entity.
    /// - Returns: for each root the first of its keys. The others follow it.
    /// - Throws: `.readOnly`, `.busy`, `.full` and so on.
    public func allocateKeys(_ counts: [RootIndex: Int]) throws(StoreError) -> [RootIndex: Int64] {
      try requireWritable()
      for root in counts.keys { try plans.checkEntity(root.entity) }
      let base = try observing(.upkeep) { (collector) throws(StoreError) in
        try commits.takeKeys(counts, collecting: collector)
      }
      var result: [RootIndex: Int64] = [:]
      for (root, count) in counts where count > 0 { result[root] = base[root] + 1 }
      return result
    }
  }
#endif
