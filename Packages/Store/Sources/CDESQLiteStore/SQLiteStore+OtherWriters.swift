import CDESQLite
@_spi(CDE) public import CDEStore

extension SQLiteStore {
  /// Reports commits of other connections to the file, as `Store` describes it.
  ///
  /// Events of the file system start a look, so an idle store costs nothing. With a write-ahead log a copy of the log into the
  /// file is reported like a commit if the store has no history.
  ///
  /// - Precondition: called at most once.
  /// - Throws: `.busy`, `.closed` and the errors of reading.
  public func observeOthers(
    _ handler: @escaping @Sendable (StoreForeignCommits) -> @Sendable () -> Void
  ) throws(StoreError) -> String? {
    guard case .file = configuration.location else { return nil }
    let (plans, pool, seen) = (plans, pool, others.seen)
    let (usesLog, isUnlocked) = try pool.borrowWriter { (connection) throws(StoreError) in
      seen.isObserved = true
      seen.version = try Self.dataVersion(of: connection)
      if let tables = plans.history {
        seen.transaction = try HistoryReader(tables: tables, plans: plans, connection: connection).extent()
          .last
      }
      let isUnlocked = connection.unchanging != nil
      let usesLog = try connection.journalMode() == "wal"
      return (usesLog || isUnlocked, isUnlocked)
    }
    return others.start(log: usesLog ? pool.use : nil, isUnlocked: isUnlocked) {
      do throws(StoreError) {
        let after = try pool.borrowWriter { (connection) throws(StoreError) -> (@Sendable () -> Void)? in
          let version = try Self.dataVersion(of: connection)
          if version == seen.version { return nil }
          seen.version = version
          guard let tables = plans.history else { return handler(StoreForeignCommits(transactions: nil)) }
          try connection.run("BEGIN", while: "Reading the history")
          defer { connection.rollBack() }
          let reader = HistoryReader(tables: tables, plans: plans, connection: connection)
          let found = try reader.transactions(StoreHistoryQuery(after: seen.transaction))
          // Numbers that go on have no gap, which is nearly always so.
          let extent = found.first?.number == seen.transaction + 1 ? nil : try reader.extent()
          let isPurged = extent?.lacks(after: seen.transaction, otherThan: seen.own) ?? false
          let foreign = found.filter { !seen.own.contains($0.number) }
          if let last = found.last?.number ?? (isPurged ? extent?.last : nil) {
            seen.transaction = last
            seen.own = seen.own.filter { $0 > last }
          }
          if isPurged { return handler(StoreForeignCommits(transactions: nil)) }
          return foreign.isEmpty ? nil : handler(StoreForeignCommits(transactions: foreign))
        }
        after?()
        return after != nil
      } catch {
        // The next event looks again.
        return false
      }
    }
  }

  /// A number that differs after commits of other connections.
  private static func dataVersion(of connection: Connection) throws(StoreError) -> OtherWriters.Version {
    let number = try connection.integer("PRAGMA data_version", while: "Looking for commits of others")
    return OtherWriters.Version(number: number ?? 0, renewals: connection.renewals)
  }
}
