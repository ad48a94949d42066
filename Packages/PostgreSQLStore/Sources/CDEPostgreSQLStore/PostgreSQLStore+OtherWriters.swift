#if PostgreSQL
  @_spi(CDE) internal import CDEExecutors
  @_spi(CDE) internal import CDESQL
  public import CDEStore

  extension PostgreSQLStore {
    /// Reports commits of other connections: other machines, other processes, and other stores of this process.
    ///
    /// A thread and a connection of their own wait for the server's notifications and read the history. Commits that are made while
    /// the connection is lost are reported when it is back. A second call ends the reports of the first.
    ///
    /// - Parameter handler: called in the order of the commits, never at the same time as `committed` of a commit, so it must be
    ///   short and must not call the store. What it returns is called afterwards, outside any lock.
    /// - Returns: why commits of others are not noticed; `nil` if they are.
    /// - Throws: the errors of connecting; `.closed` and so on.
    public func observeOthers(
      _ handler: @escaping @Sendable (StoreForeignCommits) -> @Sendable () -> Void
    ) throws(StoreError) -> String? {
      guard configuration.tracksHistory else {
        return
          "The store records no history, from which commits of others are read. Set tracksHistory in all processes."
      }
      guard let observer = CommitObserver() else {
        throw StoreError(
          .tooManyOpenFiles,
          "The process has no file descriptors left. Close what is not in use, or raise the limit (ulimit -n)."
        )
      }
      let last = try historyExtent()?.last ?? 0
      commits.beginObservation(after: last)
      let (pool, commits, plans) = (pool, commits, plans)
      try observer.start(
        CommitObserver.Work(
          connect: { (seconds) throws(StoreError) in try pool.connectToWait(seconds: seconds) },
          look: { (connection) throws(StoreError) in
            try commits.reportOthers(HistoryReader(plans: plans, connection: connection), handler)
          }, channel: CommitObserver.channel(configuration)))
      let former = self.observer.withLock { current in
        defer { current = observer }
        return current
      }
      former?.stop()
      return nil
    }
  }

  extension CommitObserver {
    /// The channel of a store's notifications. Channels belong to the database, so the name contains the schema's.
    static func channel(_ configuration: PostgreSQLConfiguration) -> String {
      fitting("cde_commits_" + configuration.schema)
    }
  }
#endif
