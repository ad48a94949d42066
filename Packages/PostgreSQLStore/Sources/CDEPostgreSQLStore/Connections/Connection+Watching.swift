#if PostgreSQL
  internal import CDELibPQ
  internal import CDEStore
  internal import Foundation

  extension Connection {
    /// How often a pace is asked while the server works.
    private static let interval: Int32 = 100

    /// Runs statements without parameters that may take long. The result of the last one is dropped.
    ///
    /// - Parameter pace: asked meanwhile whether to go on. If not, the server stops.
    /// - Throws: `.cancelled` if the server stopped.
    func execute(_ sql: String, while task: String, asking pace: MigrationPace) throws(StoreError) {
      try sendQueue()
      guard PQsendQuery(handle, sql) == 1 else { throw unsent(task) }
      _ = try results(task, pace)
    }

    /// Runs a statement that may take long, and keeps its rows.
    ///
    /// - Parameters:
    ///   - sql: one statement, with `$1`, `$2` and so on.
    ///   - parameters: as many as the statement has.
    ///   - pace: asked meanwhile whether to go on. If not, the server stops.
    /// - Throws: `.cancelled` if the server stopped.
    func run(
      _ sql: String, _ parameters: consuming Parameters, while task: String, asking pace: MigrationPace
    ) throws(StoreError) -> ResultRows {
      try sendQueue()
      let name = try prepare(sql, parameters.types, while: task)
      let isSent = parameters.withPointers { values, lengths, formats in
        PQsendQueryPrepared(handle, name, Int32(lengths.count), values, lengths, formats, 1) == 1
      }
      guard isSent else { throw unsent(task) }
      return try results(task, pace)
    }

    private func unsent(_ task: String) -> StoreError {
      ServerError.lost(PQerrorMessage(handle).map { String(cString: $0) } ?? "", while: task)
    }

    /// Waits for the results of what was sent.
    private func results(_ task: String, _ pace: MigrationPace) throws(StoreError) -> ResultRows {
      var isStopped = false
      var last: OpaquePointer?
      while true {
        while PQisBusy(handle) == 1 {
          var descriptor = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
          let ready = poll(&descriptor, 1, Self.interval)
          if ready > 0, PQconsumeInput(handle) == 0 { break }
          if !isStopped, !pace.goesOn {
            isStopped = true
            stop()
          }
        }
        guard let result = PQgetResult(handle) else { break }
        // The first error is the reason. The server skips what follows it.
        if let former = last {
          if PQresultStatus(former) == PGRES_FATAL_ERROR {
            PQclear(result)
          } else {
            PQclear(former); last = result
          }
        } else {
          last = result
        }
      }
      return try check(last, while: task)
    }

    /// Asks the server to stop the statement, over a connection of its own.
    private func stop() {
      guard let cancel = PQgetCancel(handle) else { return }
      var message = [CChar](repeating: 0, count: 256)
      _ = PQcancel(cancel, &message, Int32(message.count))
      PQfreeCancel(cancel)
    }
  }
#endif
