#if PostgreSQL
  @_spi(CDE) public import CDEStore

  extension PostgreSQLStore: Store {
    /// Another writer may change the rows of a batch so often while it is prepared.
    private static var batchAttemptLimit: Int { 10 }
    /// After so many attempts batches of all machines follow each other, or few of many batches on the same rows would succeed.
    private static var freeAttempts: Int { 2 }

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
      let query =
        switch batch {
        case .update(let update): update.query
        case .delete(let delete): delete.query
        }
      try plans.checkEntity(query.entity)
      if query.limit == 0 { return StoreBatchResult() }
      var attempt = 1
      var turn: Connection?
      defer { withExtendedLifetime(turn) {} }
      while true {
        if attempt > Self.freeAttempts, turn == nil { turn = try takeTurn() }
        let builder = try reading(inSteps: true) { (connection, asOf) throws(StoreError) in
          var builder = BatchBuilder(plans, connection, asOf: asOf)
          try builder.build(batch)
          return builder
        }
        var result = builder.result
        result.sequence = commits.lastCommit
        if builder.transaction.isEmpty { return result }
        do throws(StoreError) {
          let done = try commits.commit(builder.transaction) { _ in }
          result.sequence = done.sequence
          result.historyNumber = done.historyNumber
          return result
        } catch {
          guard error.code == .conflict || error.code == .danglingReference else { throw error }
          if attempt == Self.batchAttemptLimit {
            if error.code == .danglingReference { throw error }
            throw StoreError(
              .busy,
              "Other writers changed rows of the batch each of the \(attempt) times that it was prepared. Try again later, "
                + "or with fewer rows.", cause: error, entity: error.entity)
          }
          attempt += 1
        }
      }
    }

    /// Waits for the turn of this store's batches. It lasts as long as the connection lives.
    private func takeTurn() throws(StoreError) -> Connection {
      let connection = try pool.connectOutside()
      var parameters = Parameters()
      parameters.append("CoreDataEvolution batches in " + configuration.schema)
      _ = try connection.run(
        "SELECT pg_advisory_lock(hashtextextended($1, 0))", parameters, while: "Waiting for other batches")
      return connection
    }
  }
#endif
