#if PostgreSQL
  internal import CDELibPQ
  internal import CDEStore

  extension Connection {
    /// Begins a transaction and runs a statement in it, in one round trip.
    ///
    /// - Parameters:
    ///   - sql: one statement, with `$1`, `$2` and so on.
    ///   - parameters: as many as the statement has.
    func begin(
      with sql: String, _ parameters: consuming Parameters, while task: String
    ) throws(StoreError) -> ResultRows {
      // Statements are prepared before: an answer is waited for.
      let begin = try prepare("BEGIN", [], while: task)
      let name = try prepare(sql, parameters.types, while: task)
      guard cde_enter_pipeline(handle) == 1 else {
        try execute("BEGIN", while: task)
        return try run(sql, parameters, while: task)
      }
      defer { if cde_exit_pipeline(handle) != 1 { giveUp() } }
      noteRun()
      note("BEGIN")
      note(sql, parameters)
      let isSent =
        PQsendQueryPrepared(handle, begin, 0, nil, nil, nil, 1) == 1
        && parameters.withPointers { values, lengths, formats in
          PQsendQueryPrepared(handle, name, Int32(lengths.count), values, lengths, formats, 1) == 1
        } && cde_sync_pipeline(handle) == 1
      var results: [OpaquePointer?] = []
      var ends = 0
      // No result is the end of the results of one statement, and of all where the sending failed.
      while isSent, isUsable, ends < 2 {
        guard let result = PQgetResult(handle) else {
          ends += 1
          continue
        }
        ends = 0
        if cde_is_sync(result) != 0 {
          PQclear(result)
          break
        }
        results.append(result)
      }
      // The first failure is the cause of the others.
      let first = results.isEmpty ? nil : results[0]
      let second = results.count > 1 ? results[1] : nil
      defer { for result in results.dropFirst(2) { PQclear(result) } }
      do throws(StoreError) { _ = try check(first, while: task) } catch {
        if second != nil { PQclear(second) }
        throw error
      }
      return try check(second, while: task)
    }
  }
#endif
