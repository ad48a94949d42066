#if PostgreSQL
  @_spi(CDE) internal import CDEStore
  @_spi(CDE) internal import CDEExecutors
  internal import Dispatch

  /// The connections of a store: at most so many, each with one borrower at a time.
  ///
  /// States of a connection: none -> opening -> borrowed <-> idle -> closed. A place is counted in `openCount` from the start of
  /// the opening, so that the limit holds. Waiting calls form a queue. What becomes free goes to its first call, and a new
  /// call does not overtake the queue.
  final class ConnectionPool: Sendable {
    /// A call that waits.
    private final class Waiter: @unchecked Sendable {
      // Guard: the pool's lock. The semaphore protects itself.
      var outcome: Outcome?
      let wakeUp = DispatchSemaphore(value: 0)
    }

    private enum Outcome {
      /// A connection that another call gave back.
      case connection(Connection)
      /// A place for a new connection.
      case place
      case closed
      /// The connection that kept a state is gone.
      case lostState
    }

    private struct State {
      var idle: [Connection] = []
      var openCount = 0
      var waiters: [Waiter] = []
      var isClosed = false
      var statistics = PostgreSQLStatistics()

      mutating func wakeAll(with outcome: Outcome) {
        for waiter in waiters {
          waiter.outcome = outcome
          waiter.wakeUp.signal()
        }
        waiters = []
      }
    }

    private let configuration: PostgreSQLConfiguration
    private let options: ConnectionOptions
    /// Whether the pool has one connection, with an open transaction that keeps a state of the store for reading.
    let isPinned: Bool
    private let state: Lock<State>
    /// Compares what a new connection finds with what the store was opened with.
    private struct Comparison: Sendable {
      var check: @Sendable (Connection) throws(StoreError) -> Void
    }

    /// Nil while the store opens.
    private let comparison = Lock<Comparison?>(nil)

    /// - Throws: `.cannotOpen` for a URL that is none of PostgreSQL's. Does not connect.
    init(_ configuration: PostgreSQLConfiguration) throws(StoreError) {
      self.configuration = configuration
      options = try ConnectionOptions(configuration)
      isPinned = false
      state = Lock(State())
    }

    private init(pinning connection: Connection, of pool: ConnectionPool) {
      configuration = pool.configuration
      options = pool.options
      isPinned = true
      state = Lock(State(idle: [connection], openCount: 1))
    }

    /// A pool that reads the store as it is now. Its connection is not one of this pool's.
    ///
    /// - Throws: the errors of connecting; `.closed`.
    func pinned() throws(StoreError) -> ConnectionPool {
      if state.withLock({ $0.isClosed }) { throw Self.closedError }
      let connection = try connectOutside()
      try connection.pin()
      return ConnectionPool(pinning: connection, of: self)
    }

    /// A pool that reads through a connection with an open transaction, which the caller ends.
    func pinned(on connection: Connection) -> ConnectionPool { ConnectionPool(pinning: connection, of: self) }

    // MARK: Borrowing

    /// Runs a body with a connection.
    ///
    /// If the connection was idle before and is found to be lost, the body runs again with a new one. So a server that was
    /// restarted in between causes no error.
    ///
    /// - Parameters:
    ///   - own: a connection of the caller's. The body gets it in place of one of the pool's, and once.
    ///   - collector: collects the statements of the body; nil if no observer wants them.
    ///   - isRepeatable: asked after a loss whether the body may run again.
    func withConnection<Result>(
      or own: Connection? = nil, collecting collector: StatementCollector? = nil,
      isRepeatable: () -> Bool = { true },
      _ body: (Connection) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
      if let own {
        own.collector = collector
        defer {
          own.collector = nil
          own.rollBack()
        }
        return try body(own)
      }
      let (connection, wasIdle) = try borrow(collector)
      connection.collector = collector
      do throws(StoreError) {
        let result = try body(connection)
        giveBack(connection)
        return result
      } catch {
        let isLost = !connection.isUsable
        giveBack(connection)
        guard isLost, wasIdle, !isPinned, isRepeatable() else { throw error }
      }
      // The others are as old as the lost one.
      dropIdle()
      let (fresh, _) = try borrow(collector)
      fresh.collector = collector
      defer { giveBack(fresh) }
      return try body(fresh)
    }

    private func borrow(_ collector: StatementCollector?) throws(StoreError) -> (Connection, wasIdle: Bool) {
      guard let collector else { return try borrow() }
      return try collector.waiting { () throws(StoreError) in try borrow() }
    }

    /// A connection and whether it was idle. The caller gives it back.
    ///
    /// - Throws: `.closed`; `.busy` after the time for waiting; the errors of connecting.
    func borrow() throws(StoreError) -> (Connection, wasIdle: Bool) {
      let (immediate, waiter): (Outcome?, Waiter?) = state.withLock { state in
        if state.isClosed { return (.closed, nil) }
        if state.waiters.isEmpty {
          if let connection = state.idle.popLast() { return (.connection(connection), nil) }
          if isPinned, state.openCount == 0 { return (.lostState, nil) }
          if state.openCount < (isPinned ? 1 : configuration.poolSize) {
            state.openCount += 1
            return (.place, nil)
          }
        }
        let waiter = Waiter()
        state.waiters.append(waiter)
        state.statistics.waits += 1
        state.statistics.mostWaiting = max(state.statistics.mostWaiting, state.waiters.count)
        return (nil, waiter)
      }
      let outcome: Outcome
      if let immediate { outcome = immediate } else { outcome = try wait(waiter!) }
      switch outcome {
      case .connection(let connection): return (connection, true)
      case .place: return (try open(), false)
      case .closed: throw Self.closedError
      case .lostState:
        throw StoreError(
          .io,
          "The connection that kept a former state of the store was lost, and the state with it. Read the current state.",
          engineCode: ServerError.connectionLost)
      }
    }

    private func wait(_ waiter: Waiter) throws(StoreError) -> Outcome {
      let deadline = DispatchTime.now() + .milliseconds(configuration.waitTimeout.milliseconds)
      _ = waiter.wakeUp.wait(timeout: deadline)
      let outcome: Outcome? = state.withLock { state in
        // An outcome that arrived together with the timeout counts.
        if let outcome = waiter.outcome { return outcome }
        state.waiters.removeAll { $0 === waiter }
        state.statistics.timeouts += 1
        return nil
      }
      guard let outcome else {
        throw StoreError(
          .busy,
          "All \(configuration.poolSize) connections were in use for longer than the time for waiting. Use a larger pool, or "
            + "shorter transactions.")
      }
      return outcome
    }

    /// Connects in a place that is counted already.
    private func open() throws(StoreError) -> Connection {
      do throws(StoreError) {
        let connection = try connectOutside()
        let isClosed = state.withLock { state in
          state.statistics.opened += 1
          return state.isClosed
        }
        if !isClosed { return connection }
      } catch {
        freePlace()
        throw error
      }
      freePlace()
      throw Self.closedError
    }

    /// A connection that is not the pool's, for a call that has a place already.
    ///
    /// - Throws: the errors of connecting; `.incompatibleSchema` if the store was migrated since it was opened.
    func connectOutside() throws(StoreError) -> Connection {
      try checked(try Connection(options, configuration, joinsUsers: true))
    }

    /// A connection that waits for the server's notifications; see ``connectOutside()``. One attempt.
    ///
    /// - Parameter seconds: the attempt's limit; nil for that of the configuration.
    func connectToWait(seconds: Int?) throws(StoreError) -> Connection {
      let options = options.forWaiting
      return try checked(
        try Connection(
          seconds.map { options.limited(toSeconds: $0) } ?? options, configuration, joinsUsers: true))
    }

    private func checked(_ connection: Connection) throws(StoreError) -> Connection {
      try comparison.withLock { $0 }?.check(connection)
      return connection
    }

    /// A connection that asks what became of a lost commit. That is true of any version of the store.
    func connectToAsk() throws(StoreError) -> Connection { try Connection(options, configuration) }

    /// From now on each new connection compares what it finds. A store may be migrated while it has no connection.
    func compareConnections(_ body: @escaping @Sendable (Connection) throws(StoreError) -> Void) {
      comparison.withLock { $0 = Comparison(check: body) }
    }

    // MARK: Giving back

    func giveBack(_ connection: Connection) {
      connection.collector = nil
      if isPinned { connection.returnToPin() } else { connection.rollBack() }
      let isUsable = connection.isUsable && connection.isInTransaction == isPinned
      if !isUsable { state.withLock { $0.statistics.lost += 1 } }
      let isKept = state.withLock { state in
        state.statistics.statements += connection.takeRunCount()
        guard isUsable, !state.isClosed else { return false }
        if state.waiters.isEmpty {
          state.idle.append(connection)
        } else {
          let waiter = state.waiters.removeFirst()
          waiter.outcome = .connection(connection)
          waiter.wakeUp.signal()
        }
        return true
      }
      if !isKept { freePlace() }
    }

    /// Gives the place of a connection that is gone to the first waiting call.
    private func freePlace() {
      state.withLock { state in
        if isPinned || state.waiters.isEmpty || state.isClosed {
          state.openCount -= 1
          // No other connection has the state.
          if isPinned { state.wakeAll(with: .lostState) }
        } else {
          let waiter = state.waiters.removeFirst()
          waiter.outcome = .place
          waiter.wakeUp.signal()
        }
      }
    }

    /// Closes all connections that no call has.
    func dropIdle() {
      let dropped = state.withLock { state in
        let idle = state.idle
        state.idle = []
        state.openCount -= idle.count
        return idle
      }
      // Connections close outside the lock, when the last reference to them ends.
      _ = dropped
    }

    /// Closes idle connections at once and the others when they are given back. Waiting calls and later ones throw `.closed`.
    func close() {
      state.withLock { state in
        state.isClosed = true
        state.wakeAll(with: .closed)
      }
      dropIdle()
    }

    private static var closedError: StoreError {
      StoreError(.closed, "The store was closed before. Open it again to use it.")
    }

    /// What happened so far.
    var statistics: PostgreSQLStatistics {
      state.withLock { state in
        var result = state.statistics
        result.open = state.openCount
        result.idle = state.idle.count
        result.waiting = state.waiters.count
        return result
      }
    }
  }
#endif
