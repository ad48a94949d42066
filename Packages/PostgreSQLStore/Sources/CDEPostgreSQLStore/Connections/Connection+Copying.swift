#if PostgreSQL
  internal import CDELibPQ
  internal import CDEStore

  // Rows that travel by COPY. `beginCopying` comes first, then `send` any number of times, then one of `endCopying` and
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
    /// - Throws: the error for which the server takes no more rows.
    func send(_ rows: UnsafeRawBufferPointer, while task: String) throws(StoreError) {
      let bytes = rows.baseAddress?.assumingMemoryBound(to: CChar.self)
      if PQputCopyData(handle, bytes, Int32(rows.count)) == 1 { return }
      _ = try check(copyResult(), while: task)
      throw StoreError(.engine, "\(task) failed: the server takes no more rows.")
    }

    /// Waits until the server has all rows.
    ///
    /// - Throws: the server's error.
    func endCopying(while task: String) throws(StoreError) {
      PQputCopyEnd(handle, nil)
      _ = try check(copyResult(), while: task)
    }

    /// Ends a statement whose rows will not come. The transaction can only be rolled back then. Does nothing if none runs.
    func abandonCopying() {
      guard PQtransactionStatus(handle) == PQTRANS_ACTIVE else { return }
      PQputCopyEnd(handle, "The rows could not be read.")
      PQclear(copyResult())
    }

    /// The first result. Those after it are dropped.
    private func copyResult() -> OpaquePointer? {
      let first = PQgetResult(handle)
      if first != nil { while let rest = PQgetResult(handle) { PQclear(rest) } }
      return first
    }
  }
#endif
