#if PostgreSQL
  @_spi(CDE) internal import CDESQL
  @_spi(CDE) internal import CDEStore

  /// Reads the history of a store, in a transaction that sees one state.
  struct HistoryReader {
    let plans: SchemaPlans
    let connection: Connection

    private static let task = "Reading the history"

    func transactions(_ query: StoreHistoryQuery) throws(StoreError) -> [StoreHistoryTransaction] {
      var parameters = Parameters()
      parameters.append(query.after)
      if let since = query.since { parameters.append(since) } else { parameters.appendNull(.double) }
      if let limit = query.limit {
        parameters.append(Int64(max(limit, 0)))
      } else {
        parameters.appendNull(.integer)
      }
      let rows = try connection.run(
        """
        SELECT "Z_PK", "ZTIMESTAMP", "ZAUTHOR", "ZBUNDLEID", "ZCONTEXTNAME", "ZPROCESSID" FROM "ATRANSACTION" \
        WHERE "Z_PK" > $1 AND ($2::float8 IS NULL OR "ZTIMESTAMP" > $2) ORDER BY "Z_PK" LIMIT $3
        """, parameters, while: Self.task)
      var result: [StoreHistoryTransaction] = []
      result.reserveCapacity(rows.count)
      for row in 0..<rows.count {
        result.append(
          StoreHistoryTransaction(
            number: rows.integer(row, 0), timestamp: rows.double(row, 1), author: rows.text(row, 2),
            contextName: rows.text(row, 4), bundleIdentifier: rows.text(row, 3),
            processName: rows.text(row, 5)))
      }
      if query.includesChanges, let first = result.first?.number, let last = result.last?.number {
        try addChanges(to: &result, from: first, through: last)
      }
      return result
    }

    /// The same in a transaction of its own.
    func transactionsOfOneState(_ query: StoreHistoryQuery) throws(StoreError) -> [StoreHistoryTransaction] {
      try connection.enqueue("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", while: Self.task)
      defer { connection.rollBack() }
      return try transactions(query)
    }

    private func addChanges(
      to transactions: inout [StoreHistoryTransaction], from first: Int64, through last: Int64
    ) throws(StoreError) {
      var parameters = Parameters()
      parameters.append(first)
      parameters.append(last)
      let rows = try connection.run(
        """
        SELECT "Z_PK", "ZTRANSACTIONID", "ZCHANGETYPE", "ZENTITY", "ZENTITYPK", "ZCOLUMNS", "ZTOMBSTONE" FROM "ACHANGE" \
        WHERE "ZTRANSACTIONID" BETWEEN $1 AND $2 ORDER BY "ZTRANSACTIONID", "Z_PK"
        """, parameters, while: Self.task)
      var index = 0
      for row in 0..<rows.count {
        let number = rows.integer(row, 1)
        while index < transactions.count, transactions[index].number < number { index += 1 }
        guard index < transactions.count else { break }
        guard transactions[index].number == number, let change = try change(rows, row) else { continue }
        transactions[index].changes.append(change)
      }
    }

    /// - Returns: nil for a change that this schema has no entity for.
    private func change(_ rows: borrowing ResultRows, _ row: Int) throws(StoreError) -> StoreHistoryChange? {
      guard let kind = StoreHistoryChange.Kind(rawValue: rows.integer(row, 2)),
        let entity = plans.physical.indexes[rows.integer(row, 3)]
      else { return nil }
      var change = StoreHistoryChange(
        number: rows.integer(row, 0), kind: kind, entity: entity, key: rows.integer(row, 4))
      if kind == .updated, !rows.isNull(row, 5) {
        let (layout, bytes) = (plans.history[entity], rows.bytes(row, 5))
        change.properties = layout.decode(bytes)
        if change.properties == nil {
          change.properties = layout.properties
          ValueReports.noteUnexplainedBits(
            bytes.count, expected: layout.byteCount, of: plans.schema.entities[entity].source.name)
        }
      }
      if kind == .deleted, !rows.isNull(row, 6) {
        try plans.history[entity].read(rows.bytes(row, 6), into: &change)
      }
      return change
    }

    func extent() throws(StoreError) -> StoreHistoryExtent {
      let rows = try connection.run(
        #"SELECT (SELECT min("Z_PK") FROM "ATRANSACTION"), (SELECT "Z_TRANSACTION" FROM "Z_HISTORY")"#,
        while: Self.task)
      return StoreHistoryExtent(
        first: rows.isNull(0, 0) ? nil : rows.integer(0, 0), last: rows.integer(0, 1))
    }

    /// Removes the oldest transactions, in a transaction of the caller's.
    ///
    /// A clock that was set back leaves later transactions with earlier times. Only the oldest ones are removed, so that the rest
    /// has no gap.
    ///
    /// - Returns: the number of removed transactions.
    func purge(_ limit: StoreHistoryLimit) throws(StoreError) -> Int {
      let task = "Purging the history"
      var parameters = Parameters()
      let condition: String
      switch limit {
      case .before(let number):
        condition = "\"Z_PK\" < $1"
        parameters.append(number)
      case .beforeTime(let time):
        condition = "\"ZTIMESTAMP\" < $1"
        parameters.append(time)
      }
      let rows = try connection.run(
        "SELECT coalesce((SELECT min(\"Z_PK\") FROM \"ATRANSACTION\" WHERE NOT (\(condition))) - 1, max(\"Z_PK\")) "
          + "FROM \"ATRANSACTION\"", parameters, while: task)
      if rows.isNull(0, 0) { return 0 }
      let last = rows.integer(0, 0)
      var changes = Parameters()
      changes.append(last)
      _ = try connection.run(#"DELETE FROM "ACHANGE" WHERE "ZTRANSACTIONID" <= $1"#, changes, while: task)
      var transactions = Parameters()
      transactions.append(last)
      let removed = try connection.run(
        #"DELETE FROM "ATRANSACTION" WHERE "Z_PK" <= $1"#, transactions, while: task)
      return removed.affected
    }
  }
#endif
