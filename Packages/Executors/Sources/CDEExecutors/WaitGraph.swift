#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The waits between executors: which executor's job blocks until another executor is free, and which executors are
/// reserved for a holder that has not started.
///
/// There is one graph for all executors, because a wait can close a cycle over any of them. The address of an actor's
/// executor identifies the actor.
enum WaitGraph {
  private struct Edge {
    /// The wait that the edge belongs to; several edges may belong to one.
    let wait: UInt64
    let source: UInt
    let target: ContextExecutor
    /// The wait, if the code that occupies the target may run it before it blocks.
    let nested: NestedWait?
  }

  /// A reservation whose holder was resumed and has not started.
  private struct Pending {
    let reservation: ObjectIdentifier
    let reserved: UInt
    let holder: UInt
  }

  private struct State {
    var edges: [Edge] = []
    var lastWait: UInt64 = 0
    var pending: [Pending] = []
    var suspended: [UnsafeContinuation<Void, Never>] = []

    /// Adds a wait, and the waits of code below on the calling thread's stack, which last as long.
    mutating func add(
      _ source: UInt, _ target: ContextExecutor, nested wait: NestedWait? = nil,
      above below: StackedWait? = nil
    ) -> UInt64 {
      lastWait += 1
      wait?.edge = lastWait
      edges += stacked(below, wait: lastWait)
      edges.append(Edge(wait: lastWait, source: source, target: target, nested: wait))
      return lastWait
    }

    func stacked(_ below: StackedWait?, wait: UInt64) -> [Edge] {
      var (edges, next): ([Edge], StackedWait?) = ([], below)
      while let stacked = next {
        edges.append(Edge(wait: wait, source: stacked.source, target: stacked.target, nested: nil))
        next = stacked.below
      }
      return edges
    }

    /// Follows the waits from executor to executor, also those of code below on the calling thread's stack.
    ///
    /// A job may have several: the wait that it is blocked in, and those of nested waits that run meanwhile.
    ///
    /// - Returns: the waits; nil if they do not lead to the goal.
    func path(from executor: ContextExecutor, to goal: UInt, above below: StackedWait?) -> [Edge]? {
      let edges = edges + stacked(below, wait: 0)
      var visited: Set<Int> = []
      func search(_ actor: UInt) -> [Edge]? {
        if actor == goal { return [] }
        for (index, edge) in edges.enumerated()
        where edge.source == actor && visited.insert(index).inserted {
          if let rest = search(edge.target.actorIdentity) { return [edge] + rest }
        }
        return nil
      }
      return search(executor.actorIdentity)
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

  /// The executor that the calling thread occupies; zero if it is on no actor.
  ///
  /// The holder of a reservation is on the reserved executor; the reservation is an edge from the holder's actor.
  static var callerIdentity: UInt {
    ThreadBlock.current?.actorIdentity
      ?? (MainProbe.isCurrent ? ContextExecutor.mainIdentity : currentExecutor())
  }

  /// Adds the wait of the calling thread, which may be on an executor, for another executor.
  ///
  /// Before that, runs the nested waits of other threads that would be part of a cycle: the code that occupies their
  /// executors is blocked until the caller's job ends.
  ///
  /// - Returns: The argument for `end(_:)`; nil if the thread is on no actor: then no other wait depends on it.
  static func begin(waitingFor target: ContextExecutor) -> UInt64? {
    let source = callerIdentity
    guard source != 0 else { return nil }
    let below = StackedWait.current
    while true {
      var cycle: [Edge]?
      let edge: UInt64? = state.withLock { state in
        cycle = state.path(from: target, to: source, above: below)
        return cycle == nil ? state.add(source, target, above: below) : nil
      }
      guard let cycle else { return edge }
      guard let last = cycle.last(where: { $0.nested != nil }), let nested = last.nested else {
        failCycle(target, cycle)
      }
      let ran =
        last.target.actorIdentity == source
        ? nested.run() : StackedWait.run(from: source, for: last.target) { nested.run() }
      // If another thread runs the wait already, its edge is about to be removed.
      if !ran { sched_yield() }
    }
  }

  /// Adds a wait that the code which occupies the target may run, instead of blocking for the caller's executor.
  ///
  /// - Returns: the argument for `end(_:)` if the caller has to run the work at once, because the code that occupies the
  ///   target is already blocked until the caller's job has ended; nil if the wait was added.
  static func begin(_ wait: NestedWait, for target: ContextExecutor) -> UInt64? {
    let source = callerIdentity
    guard source != 0 else { return nil }
    let below = StackedWait.current
    return state.withLock { state in
      // While the work runs at once, the caller's job depends on what the work waits for.
      if state.path(from: target, to: source, above: below) != nil {
        return state.add(source, target, above: below)
      }
      _ = state.add(source, target, nested: wait, above: below)
      return nil
    }
  }

  private static func failCycle(_ first: ContextExecutor, _ cycle: [Edge]) -> Never {
    let executors = [first] + cycle.map(\.target)
    let chain = ([executors[executors.count - 1]] + executors).map(\.description)
      .joined(separator: " waits for ")
    failPrecondition(
      """
      Wait cycle between executors: \(chain). Each runs a job that blocks until the next is free, so \
      none can continue. Wait without blocking (await perform) in at least one of them, or nest waits in \
      one order everywhere.
      """)
  }

  /// Adds the waits of code below on the calling thread's stack: the thread is about to block until a reservation ends.
  ///
  /// - Returns: The argument for `end(_:)`, before the thread leaves the reserved executor; nil if nothing was added.
  static func beginOccupying() -> UInt64? {
    guard let below = StackedWait.current else { return nil }
    return state.withLock { state in
      state.lastWait += 1
      state.edges += state.stacked(below, wait: state.lastWait)
      return state.lastWait
    }
  }

  /// Removes the edges of a wait.
  ///
  /// Precondition: the code that waited has not gone on. A path over a wait that is over would allow a nested wait to
  /// run beside the code that waited.
  static func end(_ wait: UInt64?) {
    guard let wait else { return }
    state.withLock { $0.edges.removeAll { $0.wait == wait } }
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
}

extension ContextExecutor {
  static let mainIdentity = executorIdentity(MainActor.sharedUnownedExecutor)

  var actorIdentity: UInt { executorIdentity(serialExecutor) }
}
