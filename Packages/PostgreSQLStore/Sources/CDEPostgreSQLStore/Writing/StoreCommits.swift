#if PostgreSQL
  @_spi(CDE) internal import CDESQL
  @_spi(CDE) internal import CDEExecutors
  @_spi(CDE) internal import CDEStore
  internal import Dispatch

  /// The commits of a store, in an order.
  ///
  /// Transactions of one store are written at the same time, on different connections. The number of the commit and the caller's
  /// function form one step, which one of them takes at a time. With a history, recording it and committing belong to that step. Without
  /// one the commits are on their way at the same time, so that the server writes several to its disk at once.
  final class StoreCommits: Sendable {
    private let plans: SchemaPlans
    private let writes: IndexedArray<EntityIndex, WritePlan>
    /// Nil if no attribute is derived from other rows.
    private let derivations: DerivedPlans?
    private let uniqueValues: UniqueValues
    private let usedTokens = UsedTokens()
    private let pool: ConnectionPool
    private let configuration: PostgreSQLConfiguration
    /// The name of the notifications that commits send.
    private let channel: String
    private struct Order {
      /// The number of the last commit.
      var last: UInt64 = 0
      /// The last transaction of the history that was looked at for commits of others; nil if they are not observed.
      var seen: Int64?
      /// Later transactions of the history that this store itself made.
      var own: Set<Int64> = []
    }

    /// The order of commits. With a history, a commit has the first place while it records the history and commits.
    private let queue = CommitQueue()
    private let order = Lock(Order())
    /// The same number, for reads, which must not wait for the server's disk.
    private let published: Lock<UInt64>

    /// A deadlock, or a serialisation failure, is repeated so often.
    private static let attemptLimit = 5
    /// Tokens of ended processes are removed by the first commit, and after so many commits. It reads the whole table.
    private static let sweepInterval: UInt64 = 1 << 17

    init(
      _ plans: SchemaPlans, _ pool: ConnectionPool, _ configuration: PostgreSQLConfiguration, channel: String,
      last: UInt64 = 0
    ) throws(StoreError) {
      derivations = plans.physical.hasDerivedColumns ? try DerivedPlans(plans.physical) : nil
      published = Lock(last)
      self.plans = plans
      writes = plans.schema.entities.mapped { WritePlan(entity: $0.index, physical: plans.physical) }
      uniqueValues = UniqueValues(writes, plans)
      self.pool = pool
      self.configuration = configuration
      self.channel = channel
    }

    /// The number of a commit that a read that begins now certainly sees.
    var lastCommit: UInt64 { published.withLock { $0 } }

    /// Writes and commits a transaction.
    ///
    /// - Parameters:
    ///   - lock: a statement that takes a lock before anything is written.
    ///   - own: a connection of the caller's; nil for one of the pool's.
    ///   - collector: collects the statements; nil if no observer wants them.
    func commit(
      _ transaction: StoreTransaction, after lock: String? = nil, on own: Connection? = nil,
      collecting collector: StatementCollector?, committed: (CommitResult) -> Void
    ) throws(StoreError) -> CommitResult {
      try checkDerivations(transaction)
      let counts = KeyCounter.counts(of: transaction)
      return try repeating { () throws(StoreError) in
        try write(transaction, nil, counts, lock, own, collector, committed)
      }
    }

    /// Inserts the rows of an insertion, and commits.
    func commit(
      _ insertion: StoreInsertion, collecting collector: StatementCollector?
    ) throws(StoreError) -> CommitResult {
      // Few rows take the locks of their unique values.
      if insertion.count <= UniqueValues.limit {
        var result = try commit(insertion.transaction(), collecting: collector) { _ in }
        result.derived = []
        return result
      }
      for derivation in plans.physical.foreign { try derivation.checkInsertion(of: insertion.entity) }
      var transaction = StoreTransaction()
      (transaction.author, transaction.contextName) = (insertion.author, insertion.contextName)
      (transaction.keyLimit, transaction.isBatch) = (insertion.keyLimit, true)
      let counts = [plans.schema.entities[insertion.entity].root: insertion.count]
      return try repeating { () throws(StoreError) in
        try write(transaction, insertion, counts, nil, nil, collector) { _ in }
      }
    }

    /// Refuses what would have to compute an attribute that is derived by an unknown expression.
    func checkDerivations(_ transaction: StoreTransaction) throws(StoreError) {
      if !plans.physical.foreign.isEmpty { try plans.physical.checkDerivations(transaction) }
    }

    /// Repeats a transaction that the server ended because of others.
    func repeating<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
      var attempt = 1
      while true {
        do throws(StoreError) { return try body() } catch {
          guard attempt < Self.attemptLimit, Self.isRepeatable(error) else { throw error }
          if error.code == .busy { Self.pause(before: attempt) }
          attempt += 1
        }
      }
    }

    /// Whether the same transaction may succeed when it is repeated at once. Its rows are locked and compared again.
    private static func isRepeatable(_ error: StoreError) -> Bool {
      switch error.engineCode {
      case ServerError.deadlock?, ServerError.serialization?: true
      // Another writer took a key of a new row since the keys were looked up. The next attempt reports it as a conflict.
      case ServerError.uniqueViolation?: error.code == .conflict
      default: false
      }
    }

    /// Lets the other transaction of a deadlock go on. It looks once more for rows that are in its way when it wakes up, and a
    /// repetition that was faster would be there again.
    private static func pause(before attempt: Int) {
      let longest = 20 << attempt
      _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .milliseconds(Int.random(in: 10...longest)))
    }

    /// Takes keys that the caller keeps. They are on the server's disk, so that no restart gives them again.
    ///
    /// - Returns: for each index of a root entity, the last key assigned before.
    func takeKeys(
      _ counts: [RootIndex: Int], collecting collector: StatementCollector?
    ) throws(StoreError) -> IndexedArray<RootIndex, Int64> {
      try pool.withConnection(collecting: collector) { (connection) throws(StoreError) in
        try takeKeys(counts, upTo: .max, isDurable: true, on: connection)
      }
    }

    func takeKeys(
      _ counts: [RootIndex: Int], upTo limit: Int64, isDurable: Bool, on connection: Connection
    ) throws(StoreError) -> IndexedArray<RootIndex, Int64> {
      var base = IndexedArray<RootIndex, Int64>(repeating: 0, count: plans.schema.entities.count)
      for (root, count) in counts.sorted(by: { $0.key < $1.key }) where count > 0 {
        base[root] = try KeyCounter.take(
          count, upTo: limit, root: plans.schema.entities[root.entity],
          number: plans.physical.numbers[root.entity], isDurable: isDurable, on: connection)
      }
      return base
    }

    private func write(
      _ transaction: StoreTransaction, _ insertion: StoreInsertion?, _ counts: [RootIndex: Int],
      _ lock: String?, _ own: Connection?, _ collector: StatementCollector?,
      _ committed: (CommitResult) -> Void
    ) throws(StoreError) -> CommitResult {
      var isSent = false
      let locks = [lock].compactMap { $0 } + locks(transaction)
      let only = locks.isEmpty ? transaction.onlyUpdate(derivations) : nil
      return try pool.withConnection(or: own, collecting: collector, isRepeatable: { !isSent }) {
        (connection) throws(StoreError) in
        // On the connection that writes them: on another one, which the server may have opened after a crash, the keys may be taken
        // again.
        let keyBase = try takeKeys(counts, upTo: transaction.keyLimit, isDurable: false, on: connection)
        let token = CommitToken()
        let (writer, history) = writer(transaction, insertion, keyBase, on: connection)
        var result: CommitResult?
        if history == nil, let only, writer.canCommitAtOnce(only) {
          result = try commit(only, by: writer, token, &isSent, committed)
        }
        if result == nil {
          result = try commit(only, by: writer, history, token, locks, &isSent, committed)
        }
        noteUsed(token, on: connection)
        connection.withoutCollecting {
          if result!.number % Self.sweepInterval == 1 { UsedTokens.removeOld(on: connection) }
        }
        return result!
      }
    }

    /// The statements that lock the unique values of a transaction.
    func locks(_ transaction: StoreTransaction) -> [String] {
      uniqueValues.lockStatement(transaction).map { [$0] } ?? []
    }

    func writer(
      _ transaction: StoreTransaction, _ insertion: StoreInsertion?,
      _ keyBase: IndexedArray<RootIndex, Int64>, on connection: Connection
    ) -> (TransactionWriter, HistoryRecorder?) {
      let inserted: (Int64, Range<Int64>)? = insertion.map { insertion in
        let first = keyBase[plans.schema.entities[insertion.entity].root] + 1
        return (plans.physical.numbers[insertion.entity], first..<first + Int64(insertion.count))
      }
      let history =
        configuration.tracksHistory
        ? HistoryRecorder(plans, connection, transaction, inserted, channel: channel) : nil
      let writer = TransactionWriter(
        plans, writes, connection, transaction, insertion, keyBase: keyBase, derivations: derivations,
        history: history)
      return (writer, history)
    }

    func noteUsed(_ token: CommitToken, on connection: Connection) {
      connection.withoutCollecting { usedTokens.note(token, on: connection) }
    }

    func number(of root: RootIndex) -> Int64 { plans.physical.numbers[root.entity] }

    /// Takes the next place in the order of commits. ``leave(_:)`` must follow.
    func enter() -> UInt64 { queue.enter() }

    func leave(_ place: UInt64) { queue.leave(place) }

    /// Commits the update of one row by one statement.
    ///
    /// The place in the order of commits is taken before the row is locked. That is right, because the statement does not wait for other
    /// transactions: a transaction that meets its row gets it when it is committed.
    ///
    /// - Returns: nil if the row has another version or is locked. Then nothing is written.
    private func commit(
      _ only: RowUpdate, by writer: TransactionWriter, _ token: CommitToken, _ isSent: inout Bool,
      _ committed: (CommitResult) -> Void
    ) throws(StoreError) -> CommitResult? {
      let place = queue.enter()
      defer { queue.leave(place) }
      isSent = true
      do throws(StoreError) {
        let isCommitted = try knowing(token, on: writer.connection, ifCommitted: true) {
          () throws(StoreError) in try writer.commit(only, with: token)
        }
        if !isCommitted {
          isSent = false
          return nil
        }
      } catch {
        // It is known that nothing was committed, so the same may be sent again.
        isSent = error.code == .unknownOutcome
        throw error
      }
      if !canOvertake(place, writer.transaction) { queue.wait(for: place) }
      return announce(place, nil, writer, committed)
    }

    /// Whether a commit need not be announced after the earlier ones: neither a context nor an observer gets it. Precondition: its row has no derived values, which
    /// the numbers of commits compare.
    private func canOvertake(_ place: UInt64, _ transaction: StoreTransaction) -> Bool {
      guard let hasRecipients = transaction.hasRecipients, !hasRecipients() else { return false }
      queue.overtake(place)
      // If a context begins to merge now and gets an earlier commit, it learns that this one was faster. If it began since the first
      // question, it gets both.
      return !hasRecipients()
    }

    /// Writes and commits a transaction.
    private func commit(
      _ only: RowUpdate?, by writer: TransactionWriter, _ history: HistoryRecorder?, _ token: CommitToken,
      _ locks: [String], _ isSent: inout Bool, _ committed: (CommitResult) -> Void
    ) throws(StoreError) -> CommitResult {
      let history = try write(only, by: writer, history, token, locks)
      let place = queue.enter()
      defer { queue.leave(place) }
      return try send(writer, history, token, place, &isSent, committed)
    }

    /// Writes a transaction. Only the number of the history and the commit are left then.
    ///
    /// - Returns: the recorder of the history; nil if there is nothing to record.
    func write(
      _ only: RowUpdate?, by writer: TransactionWriter, _ history: HistoryRecorder?, _ token: CommitToken,
      _ locks: [String]
    ) throws(StoreError) -> HistoryRecorder? {
      let connection = writer.connection
      var history = history
      do throws(StoreError) {
        var isWritten = false
        if let only {
          isWritten = try writer.write(only: only, with: token)
          if !isWritten { connection.rollBack() }
        }
        if !isWritten {
          try token.begin(on: connection, then: locks)
          try writer.write()
        }
        if try history?.prepare(writer.links, permanent: writer.permanent, writer.derivedChanges) == false {
          history = nil
        }
      } catch {
        connection.rollBack()
        throw error
      }
      return history
    }

    /// Commits what was written, and tells the caller.
    ///
    /// - Parameter place: the transaction's place in the order of the commits. The caller leaves it.
    func send(
      _ writer: TransactionWriter, _ history: HistoryRecorder?, _ token: CommitToken, _ place: UInt64,
      _ isSent: inout Bool, _ committed: (CommitResult) -> Void
    ) throws(StoreError) -> CommitResult {
      let connection = writer.connection
      // The number of the transaction is locked until the commit, so that commits follow each other anyway.
      if configuration.tracksHistory { queue.wait(for: place) }
      isSent = true
      connection.isCommitSent = false
      var number: Int64?
      do throws(StoreError) {
        number = try knowing(
          token, on: connection, ifCommitted: nil, isSent: { connection.isCommitSent }
        ) { () throws(StoreError) -> Int64? in
          if let history { return try history.writeAndCommit() }
          try connection.execute("COMMIT", while: "Committing")
          return nil
        }
      } catch {
        // It is known that nothing was committed, so the same may be sent again.
        isSent = error.code == .unknownOutcome
        connection.rollBack()
        throw error
      }
      // The connection was lost with the answer.
      if let history, number == nil { number = findNumber(history) }
      if !configuration.tracksHistory { queue.wait(for: place) }
      return announce(place, number, writer, committed)
    }

    /// The number of a transaction in the history that is known to be committed; nil if the server can't be asked within the time for that.
    private func findNumber(_ history: HistoryRecorder) -> Int64? {
      CommitToken.ask(within: configuration.recoveryTimeout) { () throws(StoreError) in
        try pool.connectToAsk()
      } _: { (connection, _) throws(StoreError) in
        try history.findNumber(on: connection)
      } ?? nil
    }

    /// Numbers a commit and tells its caller, while no other commit is numbered.
    private func announce(
      _ place: UInt64, _ number: Int64?, _ writer: TransactionWriter, _ committed: (CommitResult) -> Void
    ) -> CommitResult {
      order.withLock { announce(&$0, place, number, writer, committed) }
    }

    private func announce(
      _ order: inout Order, _ place: UInt64, _ number: Int64?, _ writer: TransactionWriter,
      _ committed: (CommitResult) -> Void
    ) -> CommitResult {
      order.last += 1
      let current = order.last
      if let number, order.seen != nil { order.own.insert(number) }
      let keyBase = writer.arrays.keyBase
      for batch in writer.transaction.writtenBatches {
        batch.assignKeys(base: keyBase, schema: plans.schema)
        batch.asOf = current
      }
      for batch in writer.derived { batch.asOf = current }
      published.withLock { $0 = current }
      var done = CommitResult(
        keyBase: keyBase, number: current, derived: writer.derived, historyNumber: number)
      done.isOvertaken = { [queue] in queue.isOvertaken(place) }
      committed(done)
      return done
    }

    /// Runs the statement that commits, and finds out what became of the commit if the connection is lost meanwhile.
    ///
    /// - Parameters:
    ///   - ifCommitted: the result if the server says later that it committed.
    ///   - isSent: whether the statement that commits was sent. Asked once the connection is lost.
    private func knowing<Outcome>(
      _ token: CommitToken, on connection: Connection, ifCommitted: Outcome, isSent: () -> Bool = { true },
      _ body: () throws(StoreError) -> Outcome
    ) throws(StoreError) -> Outcome {
      do throws(StoreError) { return try body() } catch {
        // An error over a connection that stands is the server's own answer: the transaction was rolled back.
        if connection.isUsable || !isSent() { throw error }
        let outcome = token.outcome(within: configuration.recoveryTimeout) { () throws(StoreError) in
          try pool.connectToAsk()
        }
        switch outcome {
        case .committed: return ifCommitted
        case .rolledBack: throw error
        case .unknown:
          throw StoreError(
            .unknownOutcome,
            "The connection to the server was lost during the commit, and the server did not answer within "
              + "\(configuration.recoveryTimeout). The transaction is committed or not. Read the rows again before you save again.",
            engineCode: error.engineCode)
        }
      }
    }

    // MARK: Commits of others

    /// From now on own commits are told from others.
    ///
    /// - Parameter last: the last transaction of the history that is not reported.
    func beginObservation(after last: Int64) { order.withLock { if $0.seen == nil { $0.seen = last } } }

    /// Reports transactions that other connections committed since the last call.
    func reportOthers(
      _ reader: HistoryReader, _ handler: @Sendable (StoreForeignCommits) -> @Sendable () -> Void
    ) throws(StoreError) {
      var failure: StoreError?
      var after: (@Sendable () -> Void)?
      // No own commit is announced meanwhile.
      let place = queue.enter()
      defer { queue.leave(place) }
      queue.wait(for: place)
      order.withLock { order in
        do throws(StoreError) {
          let found = try reader.transactionsOfOneState(StoreHistoryQuery(after: order.seen ?? 0))
          // Numbers that go on have no gap, which saves a question to the server.
          let seen = order.seen ?? 0
          let extent = found.first?.number == seen + 1 ? nil : try reader.extent()
          let isPurged = extent?.lacks(after: seen, otherThan: order.own) ?? false
          guard let last = found.last?.number ?? (isPurged ? extent?.last : nil) else { return }
          let others = found.filter { !order.own.contains($0.number) }
          order.seen = last
          order.own = order.own.filter { $0 > last }
          if isPurged {
            after = handler(StoreForeignCommits(transactions: nil))
          } else if !others.isEmpty {
            after = handler(StoreForeignCommits(transactions: others))
          }
        } catch { failure = error }
      }
      if let failure { throw failure }
      after?()
    }

    /// Finds all conflicts of a transaction, from one state of the store.
    func conflicts(
      of transaction: StoreTransaction, collecting collector: StatementCollector?
    ) throws(StoreError) -> TransactionConflicts {
      try pool.withConnection(collecting: collector) { (connection) throws(StoreError) in
        let asOf = lastCommit
        try connection.withoutCollecting { () throws(StoreError) in
          try connection.enqueue(
            "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", while: "Looking for conflicts")
        }
        defer { connection.rollBack() }
        var finder = ConflictFinder(
          StoredRows(plans: plans, writes: writes, connection: connection, asOf: asOf), plans.physical,
          transaction)
        return try finder.find()
      }
    }
  }
#endif
