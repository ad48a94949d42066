#if PostgreSQL
  internal import CDELibPQ
  internal import CDEStore

  // Rows are sent by COPY. `beginCopying` comes first, then `send` any number of times, then one of `endCopying` and
  // `abandonCopying`. No other statement may run meanwhile.
  extension Connection {
    /// Sends the queued statements, and one that takes rows from the client.
    func beginCopying(_ sql: String, while task: String) throws(StoreError) {
      try sendQueue()
      noteRun()
      note(sql)
      let result = PQexec(handle, sql)
      guard let result, PQresultStatus(result) == PGRES_COPY_IN else {
        _ = try check(result, while: task)
        throw StoreError(.engine, "\(task) failed: the server takes no rows by COPY.")
      }
      PQclear(result)
    }

    /// Sends rows.
    ///
    /// - Precondition: there are fewer bytes than a message may have.
    /// - Throws: the error for which the server takes no more rows.
    func send(_ rows: UnsafeRawBufferPointer, while task: String) throws(StoreError) {
      let bytes = rows.baseAddress?.assumingMemoryBound(to: CChar.self)
      if PQputCopyData(handle, bytes, Int32(rows.count)) == 1 { return }
      _ = try check(copyResult(), while: task)
      throw lostCopying(task)
    }

    /// The error of a connection that neither takes rows nor says why, such as for lack of memory. The connection is given up.
    private func lostCopying(_ task: String) -> StoreError {
      giveUp()
      return ServerError.lost(PQerrorMessage(handle).map { String(cString: $0) } ?? "", while: task)
    }

    /// Waits until the server has all rows.
    ///
    /// - Throws: the server's error.
    func endCopying(while task: String) throws(StoreError) {
      guard PQputCopyEnd(handle, nil) == 1 else { throw lostCopying(task) }
      _ = try check(copyResult(), while: task)
    }

    /// Ends a statement whose rows will not come. The transaction can only be rolled back then. Does nothing if none runs.
    func abandonCopying() {
      guard PQtransactionStatus(handle) == PQTRANS_ACTIVE else { return }
      if PQputCopyEnd(handle, "The rows could not be read.") != 1 { giveUp() }
      PQclear(copyResult())
    }

    /// The first result. Those after it are dropped.
    private func copyResult() -> OpaquePointer? {
      let first = PQgetResult(handle)
      // A connection that still waits for rows gives this result again and again.
      if first == nil || PQresultStatus(first) == PGRES_COPY_IN {
        if first != nil { giveUp() }
        return first
      }
      while let rest = PQgetResult(handle) { PQclear(rest) }
      return first
    }
  }
#endif
