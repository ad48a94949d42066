#if PostgreSQL
  @_spi(CDE) internal import CDESQL
  @_spi(CDE) internal import CDEStore

  /// A transaction that is written, and stays open while other stores write theirs.
  struct OpenTransaction {
    let writer: TransactionWriter
    /// Nil if nothing is recorded.
    let history: HistoryRecorder?
    let token: CommitToken
  }

  // Transactions that are parts of saves over several stores.
  extension StoreCommits {
    /// Writes a transaction without its commit.
    ///
    /// A deadlock with a writer of one store is repeated. Saves over several stores lock in one order.
    func open(_ transaction: StoreTransaction, on connection: Connection) throws(StoreError)
      -> OpenTransaction
    {
      try checkDerivations(transaction)
      let counts = KeyCounter.counts(of: transaction)
      return try repeating { () throws(StoreError) in
        let keyBase = try takeKeys(counts, upTo: transaction.keyLimit, isDurable: true, on: connection)
        let (writer, history) = writer(transaction, nil, keyBase, on: connection)
        let token = CommitToken()
        let recorder = try write(
          nil, by: writer, history, token,
          // Other stores depend on the commit, so it waits for the disk whatever the role's setting is.
          ["SET LOCAL synchronous_commit TO on"] + locks(transaction))
        return OpenTransaction(writer: writer, history: recorder, token: token)
      }
    }

    /// Commits an open transaction, and keeps its place in the order of commits.
    ///
    /// - Parameter place: the place that ``enter()`` gave. Later commits of this store that a context gets are not announced before it is left.
    func commit(_ open: OpenTransaction, at place: UInt64) throws(StoreError) -> CommitResult {
      var isSent = false
      let result = try send(open.writer, open.history, open.token, place, &isSent) { _ in }
      noteUsed(open.token, on: open.writer.connection)
      return result
    }

    /// Raises the counters of keys to those of the rows, which a transaction took that did not commit.
    func raiseKeys(to transaction: StoreTransaction, on connection: Connection) throws(StoreError) {
      for batch in transaction.inserted where batch.count > 0 {
        var parameters = Parameters()
        parameters.append((0..<batch.count).map(batch.key).max() ?? 0)
        parameters.append(number(of: batch.layout.root))
        _ = try connection.run(
          #"UPDATE "Z_PRIMARYKEY" SET "Z_MAX" = greatest("Z_MAX", $1) WHERE "Z_ENT" = $2"#, parameters,
          while: "Completing a save over several stores")
      }
    }
  }
#endif
