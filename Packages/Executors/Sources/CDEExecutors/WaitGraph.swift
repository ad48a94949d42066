/// Which executors are blocked because their job waits for another one, and which are kept for a borrower that is on
/// its way.
///
/// Kept for all executors together, as a wait can close a cycle over any of them. Actors go by the address of their
/// executor.
enum WaitGraph {
  private struct Edge {
    let id: UInt64
    let held: UInt
    let target: ContextExecutor
  }

  /// An executor whose borrower has been called and has not come.
  private struct Call {
    let loan: ObjectIdentifier
    let held: UInt
    let borrower: UInt
  }

  private struct State {
    var edges: [Edge] = []
    var lastEdge: UInt64 = 0
    var calls: [Call] = []
    var sleepers: [UnsafeContinuation<Void, Never>] = []

    mutating func add(_ held: UInt, _ target: ContextExecutor) -> UInt64 {
      lastEdge += 1
      edges.append(Edge(id: lastEdge, held: held, target: target))
      return lastEdge
    }

    /// Whether calling a borrower would wait for an actor that is itself kept until a job of this executor's has run.
    func closesCircle(_ loan: ExecutorLoan, of executor: ContextExecutor) -> Bool {
      var next = loan.borrower
      for _ in 0...calls.count {
        if next == executor.actorIdentity { return true }
        guard let call = calls.first(where: { $0.held == next }) else { return false }
        next = call.borrower
      }
      return true
    }
  }

  private static let state = Lock(State())

  /// Notes that the calling thread, which may hold an executor, is about to wait for another one.
  ///
  /// - Returns: What to hand to `end`; nil if the thread holds no actor: then no waiter depends on it.
  static func begin(waitingFor target: ContextExecutor) -> UInt64? {
    let executor = MainProbe.isCurrent ? ContextExecutor.mainIdentity : currentExecutor()
    // The borrower of an executor holds that one, and its loan is an edge from its own actor.
    let held = ThreadBlock.current?.actorIdentity ?? executor
    guard held != 0 else { return nil }
    var cycle: [ContextExecutor]?
    let edge = state.withLock { state in
      let edge = state.add(held, target)
      cycle = path(from: target, to: held, in: state.edges)
      return edge
    }
    if let cycle, let last = cycle.last {
      let chain = ([last] + cycle).map(\.description).joined(separator: " waits for ")
      failPrecondition(
        """
        Wait cycle between executors: \(chain). Each is held by a job that blocks until the next is free, so \
        none can go on. Wait without blocking (await perform) in at least one of them, or nest waits in \
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

  /// Notes that an executor is kept until its borrower has come; false, and nothing noted, if it never could.
  static func callBorrower(of loan: ExecutorLoan) -> Bool {
    guard let executor = loan.executor else { return true }
    return state.withLock { state in
      if state.closesCircle(loan, of: executor) { return false }
      state.calls.append(
        Call(loan: ObjectIdentifier(loan), held: executor.actorIdentity, borrower: loan.borrower))
      return true
    }
  }

  /// Sleeps, on the caller's actor, until another call than those that are in the way can be made.
  static func loanCanBegin(_ loan: ExecutorLoan, isolation: isolated (any Actor)? = #isolation) async {
    guard let executor = loan.executor else { return }
    await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
      let isFree = state.withLock { state in
        guard state.closesCircle(loan, of: executor) else { return true }
        state.sleepers.append(continuation)
        return false
      }
      if isFree { continuation.resume() }
    }
  }

  /// Notes that the borrower has come.
  ///
  /// - Returns: What to hand to `end` when the executor is given back.
  static func beginLoan(_ loan: ExecutorLoan) -> UInt64? {
    guard let executor = loan.executor else { return nil }
    let (edge, sleepers) = state.withLock { state in
      state.calls.removeAll { $0.loan == ObjectIdentifier(loan) }
      defer { state.sleepers = [] }
      return (state.add(loan.borrower, executor), state.sleepers)
    }
    for sleeper in sleepers { sleeper.resume() }
    return edge
  }

  /// Follows the waits from executor to executor. The job that holds an executor blocks for one other at most.
  private static func path(from executor: ContextExecutor, to goal: UInt, in edges: [Edge])
    -> [ContextExecutor]?
  {
    var path = [executor]
    while let actor = path.last?.actorIdentity {
      if actor == goal { return path }
      guard path.count <= edges.count, let edge = edges.first(where: { $0.held == actor }) else {
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
