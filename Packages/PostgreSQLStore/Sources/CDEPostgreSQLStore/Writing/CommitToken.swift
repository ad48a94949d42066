#if PostgreSQL
  @_spi(CDE) internal import CDEStore
  internal import Dispatch
  internal import Foundation

  /// The proof of a commit: a row that the transaction inserts with its first statement.
  ///
  /// States of the transaction: open (the token is inserted) -> sent (`COMMIT` is on its way) -> committed or rolled back. A
  /// transaction of one statement is sent at once. A lost connection in the state sent leaves it open which of the two. Only then the
  /// token is asked for.
  struct CommitToken: Sendable {
    let uuid = UUID.makeRandom()

    enum Outcome: Sendable { case committed, rolledBack, unknown }

    /// Begins a transaction with the token. Both are sent together with the statement that follows.
    ///
    /// - Parameter statements: statements without parameters that follow in the same round trip.
    func begin(on connection: Connection, then statements: [String]) throws(StoreError) {
      let task = "Starting a transaction"
      try connection.enqueue("BEGIN", while: task)
      var parameters = Parameters()
      parameters.append(uuid)
      try connection.enqueue(#"INSERT INTO "Z_TOKEN" ("Z_TOKEN") VALUES ($1)"#, parameters, while: task)
      for statement in statements { try connection.enqueue(statement, while: task, isOnce: true) }
    }

    /// Asks the server what became of the transaction.
    ///
    /// The insertion of the same token waits until the transaction has ended: until its backend has read the `COMMIT`, or has
    /// noticed that its client is gone. If the token is missing, it is inserted as annulled: the statement of a transaction that the
    /// server gets later then fails.
    ///
    /// - Parameters:
    ///   - timeout: how long the server is asked.
    ///   - connect: makes a connection outside the pool, which may have no place left.
    func outcome(
      within timeout: Duration, connect: () throws(StoreError) -> Connection
    ) -> Outcome {
      Self.ask(within: timeout, connect: connect) { (connection, rest) throws(StoreError) in
        try connection.execute(
          "BEGIN; SET LOCAL lock_timeout TO \(rest); SET LOCAL statement_timeout TO \(rest)",
          while: "Asking for a commit")
        return try isAnnulled(on: connection) ? .rolledBack : .committed
      } ?? .unknown
    }

    /// Asks the server, over a new connection each time, until it answers.
    ///
    /// - Parameter body: gets the connection, and the milliseconds that are left.
    /// - Returns: nil if the server did not answer within the time.
    static func ask<Answer>(
      within timeout: Duration, connect: () throws(StoreError) -> Connection,
      _ body: (Connection, Int) throws(StoreError) -> Answer
    ) -> Answer? {
      let deadline = ContinuousClock.now + timeout
      var pause = 10
      while true {
        let rest = (deadline - .now).milliseconds
        if rest <= 0 { return nil }
        do throws(StoreError) { return try body(try connect(), rest) } catch {
          // The server starts again, or another one takes over.
          _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .milliseconds(min(pause, rest)))
          pause = min(pause * 2, 500)
        }
      }
    }

    /// Annuls the token if no transaction has committed it. A transaction is open.
    private func isAnnulled(on connection: Connection) throws(StoreError) -> Bool {
      let task = "Asking for a commit"
      var token = Parameters()
      token.append(uuid)
      let inserted = try connection.run(
        #"INSERT INTO "Z_TOKEN" VALUES ($1, now() + interval '\#(Self.annulment)') ON CONFLICT DO NOTHING"#,
        token,
        while: task)
      if inserted.affected == 1 {
        try connection.execute("COMMIT", while: task)
        return true
      }
      var known = Parameters()
      known.append(uuid)
      // An earlier attempt to annul it may have lost its connection.
      let found = try connection.run(
        #"SELECT "Z_TIME" > now() + interval '1 day' FROM "Z_TOKEN" WHERE "Z_TOKEN" = $1"#, known, while: task
      )
      connection.rollBack()
      return found.count == 1 && found.boolean(0, 0)
    }

    /// The times of annulled tokens are so far ahead.
    static let annulment = "1000 years"
  }
#endif
