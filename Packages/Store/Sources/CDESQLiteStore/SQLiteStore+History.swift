@_spi(CDE) public import CDEStore
import Dispatch

extension SQLiteStore {
  /// Whether each commit is recorded: the store was opened with ``Configuration/tracksHistory`` and may be written.
  public var recordsHistory: Bool { plans.recordsHistory }

  /// The recorded transactions that a query finds, in the order of their commits.
  ///
  /// Costs one look-up in an index for each transaction, and reads each change once.
  ///
  /// - Throws: `.busy`, `.closed` and the errors of reading.
  public func history(_ query: StoreHistoryQuery) throws(StoreError) -> [StoreHistoryTransaction] {
    guard let tables = plans.history else { return [] }
    return try pool.read { (connection) throws(StoreError) in
      try HistoryReader(tables: tables, plans: plans, connection: connection).transactions(query)
    }
  }

  /// The numbers of the recorded transactions; `nil` for a store whose file has no history.
  public func historyExtent() throws(StoreError) -> StoreHistoryExtent? {
    guard let tables = plans.history else { return nil }
    return try pool.read { (connection) throws(StoreError) in
      try HistoryReader(tables: tables, plans: plans, connection: connection).extent()
    }
  }

  /// Removes old transactions and their changes.
  ///
  /// Takes the store's writer for some 10 ms at a time, and leaves it to other writers for as long. A single transaction is not divided.
  /// Without a write-ahead log, the writer also looks for the last transaction to remove, which reads all of them.
  ///
  /// - Returns: the number of removed transactions.
  /// - Throws: `.readOnly`, `.busy`, `.full`, `.fileMoved`, `.closed` and so on. Some of the oldest transactions may be removed then.
  public func purgeHistory(_ limit: StoreHistoryLimit) throws(StoreError) -> Int {
    try requireWritable()
    guard plans.history != nil else { return 0 }
    let last = try pool.read { (connection) throws(StoreError) in
      try HistoryPurge.last(limit, on: connection)
    }
    guard let last else { return 0 }
    var purge = HistoryPurge(through: last)
    while true {
      let start = ContinuousClock.now
      purge = try pool.write(.batch) { [purge] (connection) throws(StoreError) in
        var purge = purge
        try purge.step(on: connection)
        _ = pool.countCommit()
        return purge
      }
      if purge.isOver { return purge.removed }
      // Else the log grows until a commit has to wait for its copy.
      checkpointer?.waitForCopy()
      // A writer that waits has to wake up before this thread asks for the lock again.
      let time = min(start.duration(to: .now), HistoryPurge.longestStep)
      _ = DispatchSemaphore(value: 0).wait(timeout: .now() + time / .seconds(1))
    }
  }
}
