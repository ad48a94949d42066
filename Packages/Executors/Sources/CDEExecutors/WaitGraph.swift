/// The waits between executors: which executor's job blocks until another executor is free, and which executors are
/// reserved for a holder that has not started.
///
/// There is one graph for all executors, because a wait can close a cycle over any of them. The address of an actor's
/// executor identifies the actor.
enum WaitGraph {
  private struct Edge {
    let id: UInt64
    let source: UInt
    let target: ContextExecutor
  }

  /// A reservation whose holder was resumed and has not started.
  private struct Pending {
    let reservation: ObjectIdentifier
    let reserved: UInt
    let holder: UInt
  }

  private struct State {
    var edges: [Edge] = []
    var lastEdge: UInt64 = 0
    var pending: [Pending] = []
    var suspended: [UnsafeContinuation<Void, Never>] = []

    mutating func add(_ source: UInt, _ target: ContextExecutor) -> UInt64 {
      lastEdge += 1
      edges.append(Edge(id: lastEdge, source: source, target: target))
      return lastEdge
    }

    /// Whether the holder's actor is occupied, directly or over other reservations, until a job of this executor has
    /// run.
    func closesCycle(_ reservation: ExecutorReservation, of executor: ContextExecutor) -> Bool {
      var next = reservation.holder
      for _ in 0...pending.count {
        if next == executor.actorIdentity { return true }
        guard let other = pending.first(where: { $0.reserved == next }) else { return false }
        next = other.holder
      }
      return true
    }
  }

  private static let state = Lock(State())

  /// Adds the wait of the calling thread, which may be on an executor, for another executor.
  ///
  /// - Returns: The argument for `end(_:)`; nil if the thread is on no actor: then no other wait depends on it.
  static func begin(waitingFor target: ContextExecutor) -> UInt64? {
    let executor = MainProbe.isCurrent ? ContextExecutor.mainIdentity : currentExecutor()
    // The holder of a reservation is on the reserved executor; the reservation is an edge from the holder's actor.
    let source = ThreadBlock.current?.actorIdentity ?? executor
    guard source != 0 else { return nil }
    var cycle: [ContextExecutor]?
    let edge = state.withLock { state in
      let edge = state.add(source, target)
      cycle = path(from: target, to: source, in: state.edges)
      return edge
    }
    if let cycle, let last = cycle.last {
      let chain = ([last] + cycle).map(\.description).joined(separator: " waits for ")
      failPrecondition(
        """
        Wait cycle between executors: \(chain). Each runs a job that blocks until the next is free, so \
        none can continue. Wait without blocking (await perform) in at least one of them, or nest waits in \
        one order everywhere.
        """)
    }
    return edge
  }

  static func end(_ edge: UInt64?) {
    guard let edge else { return }
    state.withLock { state in
      if let index = state.edges.lastIndex(where: { $0.id == edge }) {
        state.edges.swapAt(index, state.edges.count - 1)
        state.edges.removeLast()
      }
    }
  }

  /// Adds a reservation whose holder is about to be resumed.
  ///
  /// - Returns: false, and nothing is added, if the holder could not start.
  static func addPending(_ reservation: ExecutorReservation) -> Bool {
    guard let executor = reservation.executor else { return true }
    return state.withLock { state in
      if state.closesCycle(reservation, of: executor) { return false }
      state.pending.append(
        Pending(
          reservation: ObjectIdentifier(reservation), reserved: executor.actorIdentity,
          holder: reservation.holder))
      return true
    }
  }

  /// Suspends the task, on the caller's actor, until the reservations that block this one have changed.
  static func waitUntilReservable(
    _ reservation: ExecutorReservation, isolation: isolated (any Actor)? = #isolation
  ) async {
    guard let executor = reservation.executor else { return }
    await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
      let isFree = state.withLock { state in
        guard state.closesCycle(reservation, of: executor) else { return true }
        state.suspended.append(continuation)
        return false
      }
      if isFree { continuation.resume() }
    }
  }

  /// Replaces a pending reservation by an edge: the holder has started.
  ///
  /// - Returns: The argument for `end(_:)` when the reservation ends.
  static func beginReservation(_ reservation: ExecutorReservation) -> UInt64? {
    guard let executor = reservation.executor else { return nil }
    let (edge, suspended) = state.withLock { state in
      state.pending.removeAll { $0.reservation == ObjectIdentifier(reservation) }
      defer { state.suspended = [] }
      return (state.add(reservation.holder, executor), state.suspended)
    }
    for continuation in suspended { continuation.resume() }
    return edge
  }

  /// Follows the waits from executor to executor. A job waits for one other executor at most.
  private static func path(from executor: ContextExecutor, to goal: UInt, in edges: [Edge])
    -> [ContextExecutor]?
  {
    var path = [executor]
    while let actor = path.last?.actorIdentity {
      if actor == goal { return path }
      guard path.count <= edges.count, let edge = edges.first(where: { $0.source == actor }) else {
        return nil
      }
      path.append(edge.target)
    }
    return nil
  }
}

extension ContextExecutor {
  static let mainIdentity = executorIdentity(MainActor.sharedUnownedExecutor)

  var actorIdentity: UInt { executorIdentity(serialExecutor) }
}
