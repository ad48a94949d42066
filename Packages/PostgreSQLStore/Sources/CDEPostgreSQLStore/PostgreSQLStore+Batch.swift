#if PostgreSQL
  @_spi(CDE) internal import CDEExecutors
  @_spi(CDE) public import CDEStore

  extension PostgreSQLStore: Store {
    /// After so many attempts batches of all machines follow each other, or few of many batches on the same rows would succeed.
    private static var freeAttempts: Int { 2 }
    /// A save may change the rows of a batch so often while the batch has its turn.
    private static var turnAttempts: Int { 8 }

    /// Changes or deletes all rows that a query finds, in one transaction.
    ///
    /// The rows are read, and written by the same steps as ``commit(_:committed:)``. If another writer changes one of them in
    /// between, the batch starts again. Costs the memory of all its rows, and the round trips of the fetch and of the commit.
    ///
    /// - Parameter batch: the query and the change of the rows that it finds.
    /// - Returns: the changed or deleted rows.
    /// - Throws: `.readOnly`, `.uniqueness`; `.constraint` when a delete rule denies a deletion, a required relationship would lose
    ///   its object, or a required attribute its value; `.tooBig` for a computed number that does not fit its attribute; `.busy` if
    ///   other writers were faster each time; `.full`, `.io`, `.closed` and so on. Then nothing is written.
    public func commit(_ batch: StoreBatch) throws(StoreError) -> StoreBatchResult {
      try requireWritable()
      try plans.checkEntity(batch.query.entity)
      if batch.query.limit == 0 { return StoreBatchResult() }
      return try observing(.batch) { (collector) throws(StoreError) in try run(batch, collector) }
    }

    private func run(
      _ batch: StoreBatch, _ collector: StatementCollector?
    ) throws(StoreError) -> StoreBatchResult {
      for _ in 0..<Self.freeAttempts {
        if let result = try attempt(batch, onTurn: nil, collector).result { return result }
      }
      return try turns.withLock { (_) throws(StoreError) in
        // On a connection outside the pool: batches that wait for the end of the turn may have all of the pool's.
        let turn = try pool.connectOutside()
        try turn.execute(batchLock.excluding, while: "Waiting for other batches")
        var error: StoreError?
        for _ in 0..<Self.turnAttempts {
          let outcome = try attempt(batch, onTurn: turn, collector)
          if let result = outcome.result { return result }
          error = outcome.conflict
        }
        if let error, error.code == .danglingReference { throw error }
        throw StoreError(
          .busy,
          "Other writers changed rows of the batch each of the \(Self.freeAttempts + Self.turnAttempts) times that it was "
            + "prepared. Try again later, or with fewer rows.", cause: error, entity: error?.entity)
      }
    }

    /// Reads the rows of a batch and writes their changes.
    ///
    /// - Parameter turn: a connection with the lock of the store's batches; nil without a turn.
    /// - Returns: the result, or the error that tells that another writer was faster.
    private func attempt(
      _ batch: StoreBatch, onTurn turn: Connection?, _ collector: StatementCollector?
    ) throws(StoreError) -> (result: StoreBatchResult?, conflict: StoreError?) {
      let builder = try reading(inSteps: true, on: turn, collecting: collector) {
        (connection, asOf) throws(StoreError) in
        var builder = BatchBuilder(plans, connection, asOf: asOf)
        try builder.build(batch)
        return builder
      }
      var result = builder.result
      result.number = commits.lastCommit
      if builder.transaction.isEmpty { return (result, nil) }
      do throws(StoreError) {
        let lock = turn == nil ? batchLock.sharing : nil
        let done = try commits.commit(
          builder.transaction, after: lock, on: turn, collecting: collector
        ) { _ in }
        result.number = done.number
        result.historyNumber = done.historyNumber
        result.derived = done.derived
        return (result, nil)
      } catch {
        guard error.code == .conflict || error.code == .danglingReference else { throw error }
        return (nil, error)
      }
    }

    private var batchLock: BatchLock { BatchLock(schema: configuration.schema) }
  }
#endif
