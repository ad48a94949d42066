#if PostgreSQL
  @_spi(CDE) public import CDEStore

  extension PostgreSQLStore {
    /// Whether each commit is recorded: the store was opened with ``PostgreSQLConfiguration/tracksHistory`` and may be written.
    public var recordsHistory: Bool { configuration.tracksHistory && !isReadOnly }

    /// The recorded transactions that a query finds, in the order of their commits on all machines.
    ///
    /// If a transaction is among them or was before, all with lower numbers are visible, too: reading on after the last number
    /// misses none.
    ///
    /// - Throws: `.unreadable` for a damaged row, `.busy`, `.closed` and so on.
    public func history(_ query: StoreHistoryQuery) throws(StoreError) -> [StoreHistoryTransaction] {
      try readingHistory { (reader) throws(StoreError) in try reader.transactions(query) }
    }

    /// The numbers of the recorded transactions; nil if none was ever recorded and none will be by this store.
    ///
    /// - Throws: `.busy`, `.closed` and so on.
    public func historyExtent() throws(StoreError) -> StoreHistoryExtent? {
      let extent = try readingHistory { (reader) throws(StoreError) in try reader.extent() }
      return extent.last > 0 || configuration.tracksHistory ? extent : nil
    }

    /// Removes old transactions and their changes. Numbers are not used again, and other writers don't wait.
    ///
    /// - Returns: the number of removed transactions. It is too low if the connection was lost during the commit and the purge was
    ///   repeated.
    /// - Throws: `.readOnly`, `.busy`, `.closed` and so on. Then nothing is removed. `.unknownOutcome` if the connection was lost during
    ///   the commit; the call can be repeated.
    public func purgeHistory(_ limit: StoreHistoryLimit) throws(StoreError) -> Int {
      try requireWritable()
      return try request(.batch) { (connection) throws(StoreError) in
        try connection.inTransaction { () throws(StoreError) in
          try HistoryReader(plans: plans, connection: connection).purge(limit)
        }
      }
    }

    private func readingHistory<Result>(
      _ body: (HistoryReader) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
      try reading(inSteps: true) { (connection, _) throws(StoreError) in
        try body(HistoryReader(plans: plans, connection: connection))
      }
    }
  }
#endif
