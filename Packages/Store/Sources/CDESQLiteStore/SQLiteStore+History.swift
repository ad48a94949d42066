import CDESQLite
@_spi(CDE) public import CDEStore

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

  /// Removes old transactions and their changes, in one SQLite transaction. Other writers wait meanwhile.
  ///
  /// - Returns: the number of removed transactions.
  /// - Throws: `.readOnly`, `.busy`, `.full`, `.fileMoved`, `.closed` and so on. Then nothing is removed.
  public func purgeHistory(_ limit: StoreHistoryLimit) throws(StoreError) -> Int {
    try requireWritable()
    guard plans.history != nil else { return 0 }
    let condition: String
    let binding: StoreValue
    switch limit {
    case .before(let number): (condition, binding) = ("Z_PK < ?", .integer(number))
    case .beforeTime(let time): (condition, binding) = ("ZTIMESTAMP < ?", .real(time))
    }
    let task = "Purging the history"
    return try pool.write(.batch) { (connection) throws(StoreError) in
      var removed = 0
      try connection.inWriteTransaction { () throws(StoreError) in
        // A clock that was set back leaves later transactions with earlier times. Only the oldest ones are removed, so that
        // the rest has no gap.
        let last = try connection.integer(
          "SELECT ifnull((SELECT min(Z_PK) FROM ATRANSACTION WHERE NOT (\(condition))) - 1, max(Z_PK)) "
            + "FROM ATRANSACTION", [binding], while: task)
        guard let last else { return }
        // The numbers must not be used again, so the counters have to be above them first.
        for (number, table) in [(16001, "ACHANGE"), (16002, "ATRANSACTION")] {
          try connection.run(
            "UPDATE Z_PRIMARYKEY SET Z_MAX = max(ifnull(Z_MAX, 0), ifnull((SELECT max(Z_PK) FROM \(table)), 0)) "
              + "WHERE Z_ENT = \(number)", while: task)
        }
        try connection.run("DELETE FROM ACHANGE WHERE ZTRANSACTIONID <= ?", [.integer(last)], while: task)
        try connection.run("DELETE FROM ATRANSACTION WHERE Z_PK <= ?", [.integer(last)], while: task)
        removed = Int(sqlite3_changes(connection.handle))
      }
      _ = pool.countCommit()
      return removed
    }
  }
}
