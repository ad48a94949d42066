#if PostgreSQL
  internal import CDELibPQ
  @_spi(CDE) internal import CDEStore

  /// A statement that is sent together with the next one.
  final class QueuedStatement {
    let sql: String
    let parameters: Parameters
    let task: String
    /// Whether the text has values in it, so that keeping it prepared is of no use. Such a statement has no parameters.
    let isOnce: Bool
    /// Whether the request that queued it is observed.
    let isNoted: Bool
    /// Completes an error of the statement by what it was about.
    let completed: (StoreError) -> StoreError

    init(
      _ sql: String, _ parameters: consuming Parameters, while task: String, isOnce: Bool, isNoted: Bool,
      _ completed: @escaping (StoreError) -> StoreError
    ) {
      self.sql = sql
      self.parameters = parameters
      self.task = task
      self.isOnce = isOnce
      self.isNoted = isNoted
      self.completed = completed
    }
  }

  // A statement whose rows are not needed is queued, and takes no round trip of its own.
  //
  // States of a queue: empty -> waiting (statements are queued) -> sent (one round trip takes all) -> empty. The next statement that has
  // rows sends the queue, and so does `sendQueue()`. A rollback empties it. After the first statement that fails the server skips the
  // rest, and the transaction can only be rolled back.
  extension Connection {
    /// A queue of more statements, or of more bytes, is sent.
    private static let countLimit = 32
    private static let byteLimit = 1 << 20

    /// Queues a statement that is part of a transaction.
    ///
    /// - Parameters:
    ///   - sql: one statement, with `$1`, `$2` and so on.
    ///   - parameters: as many as the statement has.
    ///   - isOnce: whether the text has values in it; it has no parameters then.
    ///   - completed: completes an error of the statement, which a later call throws.
    /// - Throws: the errors of queued statements, if the queue was sent.
    func enqueue(
      _ sql: String, _ parameters: consuming Parameters = Parameters(), while task: String,
      isOnce: Bool = false,
      _ completed: @escaping (StoreError) -> StoreError = { $0 }
    ) throws(StoreError) {
      try add(sql, parameters, while: task, isOnce: isOnce, completed)
      if queue.count >= Self.countLimit || queuedBytes > Self.byteLimit { try sendQueue() }
    }

    /// Sends the queued statements, if there are any.
    ///
    /// - Throws: the error of the first that failed.
    func sendQueue() throws(StoreError) {
      if !queue.isEmpty { _ = try sendStatements(keeping: queue.count - 1) }
    }

    private func add(
      _ sql: String, _ parameters: consuming Parameters, while task: String, isOnce: Bool = false,
      _ completed: @escaping (StoreError) -> StoreError = { $0 }
    ) throws(StoreError) {
      try checkSize(parameters.byteCount, task)
      queuedBytes += parameters.byteCount
      queue.append(
        QueuedStatement(
          sql, parameters, while: task, isOnce: isOnce, isNoted: collector?.isCollecting == true, completed))
    }

    /// Drops the queued statements.
    func emptyQueue() {
      queue = []
      queuedBytes = 0
    }

    /// Sends the queued statements and another one.
    ///
    /// - Returns: the rows of the last.
    func sendQueue(
      with sql: String, _ parameters: consuming Parameters, while task: String
    ) throws(StoreError) -> ResultRows {
      try add(sql, parameters, while: task)
      return try sendStatements(keeping: queue.count - 1)
    }

    /// Sends the queued statements, another one, and the commit.
    ///
    /// - Returns: the rows of the statement before the commit.
    func commit(
      after sql: String, _ parameters: consuming Parameters, while task: String,
      _ completed: @escaping (StoreError) -> StoreError
    ) throws(StoreError) -> ResultRows {
      try add(sql, parameters, while: task, completed)
      try add("COMMIT", Parameters(), while: "Committing")
      return try sendStatements(keeping: queue.count - 2)
    }

    /// Precondition: statements are queued.
    ///
    /// - Parameter kept: the number of the statement whose rows are returned.
    private func sendStatements(keeping kept: Int) throws(StoreError) -> ResultRows {
      let statements = queue
      emptyQueue()
      // Each preparation waits for its answer, so all of them precede the pipeline.
      var names: [String?] = []
      for statement in statements {
        do throws(StoreError) {
          names.append(
            statement.isOnce
              ? nil : try prepare(statement.sql, statement.parameters.types, while: statement.task))
        } catch { throw statement.completed(error) }
      }
      if statements.last?.sql == "COMMIT" { isCommitSent = true }
      guard statements.count > 1, cde_enter_pipeline(handle) == 1 else {
        return try sendOneByOne(statements, names, keeping: kept)
      }
      defer { if cde_exit_pipeline(handle) != 1 { giveUp() } }
      noteRun()
      var isSent = true
      for (statement, name) in zip(statements, names) where isSent {
        if statement.isNoted { note(statement.sql, statement.parameters) }
        isSent = send(statement, name)
      }
      isSent = isSent && cde_sync_pipeline(handle) == 1
      return try check(isSent ? results() : [], of: statements, keeping: kept)
    }

    private func send(_ statement: QueuedStatement, _ name: String?) -> Bool {
      guard let name else {
        return PQsendQueryParams(handle, statement.sql, 0, nil, nil, nil, nil, 1) == 1
      }
      return statement.parameters.withPointers { values, lengths, formats in
        PQsendQueryPrepared(handle, name, Int32(lengths.count), values, lengths, formats, 1) == 1
      }
    }

    /// The results of the statements that were sent. Fewer, if the connection is lost.
    private func results() -> [OpaquePointer] {
      var results: [OpaquePointer] = []
      var ends = 0
      // No result is the end of the results of one statement, and of all where the connection is lost.
      while ends < 2 {
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
      return results
    }

    /// The rows of one of the results.
    ///
    /// - Throws: the error of the first statement that failed. The server skipped the later ones.
    private func check(
      _ results: [OpaquePointer], of statements: [QueuedStatement], keeping kept: Int
    ) throws(StoreError) -> ResultRows {
      var found: ResultRows?
      var failure: StoreError?
      for (index, statement) in statements.enumerated() where failure == nil {
        do throws(StoreError) {
          let rows = try check(index < results.count ? results[index] : nil, while: statement.task)
          if index == kept { found = consume rows }
        } catch {
          failure = statement.completed(error)
          for result in results.dropFirst(index + 1) { PQclear(result) }
        }
      }
      if let failure { throw failure }
      for result in results.dropFirst(statements.count) { PQclear(result) }
      return found!
    }

    private func sendOneByOne(
      _ statements: [QueuedStatement], _ names: [String?], keeping kept: Int
    ) throws(StoreError) -> ResultRows {
      var found: ResultRows?
      for (index, statement) in statements.enumerated() {
        noteRun()
        if statement.isNoted { note(statement.sql, statement.parameters) }
        let result: OpaquePointer?
        if let name = names[index] {
          result = statement.parameters.withPointers { values, lengths, formats in
            PQexecPrepared(handle, name, Int32(lengths.count), values, lengths, formats, 1)
          }
        } else {
          result = PQexecParams(handle, statement.sql, 0, nil, nil, nil, nil, 1)
        }
        do throws(StoreError) {
          let rows = try check(result, while: statement.task)
          if index == kept { found = consume rows }
        } catch { throw statement.completed(error) }
      }
      return found!
    }
  }
#endif
