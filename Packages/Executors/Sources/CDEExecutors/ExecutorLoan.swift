import Dispatch
import Synchronization

/// An executor in the hands of code that belongs to another actor and must not leave it.
///
/// The executor's actor stays in a job that does nothing, so nothing else runs on it, while the borrower runs on its
/// own actor and its own thread.
@usableFromInline
final class ExecutorLoan: @unchecked Sendable {
  // Guard: `before` and `edge` are the borrower's alone, `ticket` is that of the job that keeps the executor; the rest is
  // immutable.
  /// Nil when there is nothing to borrow: the borrower's own executor runs it on the executor already.
  let executor: ContextExecutor?
  /// The executor that the borrower must be on.
  let borrower: UInt
  /// Wakes the thread that keeps the executor.
  let news = DispatchSemaphore(value: 0)
  /// Whether the borrower's thread waited for the loan, and the thread that keeps the executor has nothing to do but wait.
  private let isBlocking: Bool
  fileprivate var edge: UInt64?
  /// The place in line; nil with the turn.
  fileprivate var ticket: Ticket?
  private var before: UnsafeMutableRawPointer?

  init(of executor: ContextExecutor?, to borrower: UInt, isBlocking: Bool = false) {
    self.executor = executor
    self.borrower = borrower
    self.isBlocking = isBlocking
  }

  /// Marks the thread as being on the executor. Until `end()` it must not leave the thread.
  @usableFromInline
  func begin() {
    guard let executor else { return }
    before = ThreadBlock.enter(executor)
  }

  /// Gives the executor back.
  @usableFromInline
  func end() {
    guard let executor else { return }
    ThreadBlock.leave(to: before)
    WaitGraph.end(edge)
    if isBlocking { news.signal() } else { executor.lender.takeBack(self) }
  }
}

/// A thread's wait for an executor, which is ended by the executor's turn or by a loan whose borrower is still on its way.
final class BlockedWait: Sendable {
  private let isTaken = Atomic<Bool>(false)
  private let executor: ContextExecutor
  private let ticket: Ticket?
  private let work: @Sendable () -> Void
  private let finish: @Sendable () -> Void

  init(
    for executor: ContextExecutor, with ticket: Ticket?, _ work: @escaping @Sendable () -> Void,
    finish: @escaping @Sendable () -> Void = {}
  ) {
    self.executor = executor
    self.ticket = ticket
    self.work = work
    self.finish = finish
  }

  /// True for the first who asks, whose it is to do the work.
  func take() -> Bool { !isTaken.exchange(true, ordering: .acquiringAndReleasing) }

  func run() {
    work()
    finish()
  }

  /// Runs ahead of the turn, on the executor, after the blocks that stand in line before it.
  func runEarly() {
    if let ticket {
      for block in executor.takeBlocks(before: ticket) { ThreadBlock.run(as: executor, block) }
    }
    run()
  }
}

/// Keeps an actor for a borrower, and meanwhile admits the threads that wait for the actor.
///
/// The borrower's actor may be blocked by such a thread, or be one: unless these are served, neither could go on.
final class Lender: Sendable {
  private enum Phase {
    case idle
    /// The borrower has been called.
    case awaiting(ExecutorLoan)
    /// A waiting thread's work is under way; the borrower may be asleep until it is over.
    case serving(ExecutorLoan, UnsafeContinuation<Void, Never>?)
    case lent
    case returned
  }

  private struct State {
    var phase = Phase.idle
    var waits: [BlockedWait] = []
  }

  /// Of all executors over the main actor.
  static let main = Lender()

  private let state = Lock(State())

  /// Makes a thread's wait known before it begins.
  func add(_ wait: BlockedWait) {
    let keeper: ExecutorLoan? = state.withLock { state in
      state.waits.append(wait)
      if case .awaiting(let loan) = state.phase { return loan }
      return nil
    }
    keeper?.news.signal()
  }

  func remove(_ wait: BlockedWait) {
    state.withLock { state in
      if let index = state.waits.firstIndex(where: { $0 === wait }) { state.waits.remove(at: index) }
    }
  }

  /// Keeps the actor whose job the caller is until the loan is given back.
  func keep(_ loan: ExecutorLoan, calling borrower: UnsafeContinuation<ExecutorLoan, Never>) {
    enum Step {
      case serve(BlockedWait)
      case sleep, leave
    }
    state.withLock { $0.phase = .awaiting(loan) }
    borrower.resume(returning: loan)
    while true {
      let step: Step = state.withLock { state in
        switch state.phase {
        case .awaiting:
          while !state.waits.isEmpty {
            let wait = state.waits.removeFirst()
            guard wait.take() else { continue }
            state.phase = .serving(loan, nil)
            return .serve(wait)
          }
          return .sleep
        case .returned:
          state.phase = .idle
          return .leave
        case .idle, .serving, .lent: return .sleep
        }
      }
      switch step {
      case .serve(let wait):
        wait.runEarly()
        let waiting: UnsafeContinuation<Void, Never>? = state.withLock { state in
          defer { state.phase = .awaiting(loan) }
          guard case .serving(_, let continuation) = state.phase else { return nil }
          return continuation
        }
        waiting?.resume()
      case .sleep: loan.news.wait()
      case .leave: return
      }
    }
  }

  /// Takes the actor over, as soon as no waiting thread's work is under way on it.
  nonisolated(nonsending) func arrive() async {
    // Taken over without a suspension: in one, the borrower's actor could be kept for another loan.
    while !isTakenOver() {
      await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
        let isFree = state.withLock { state in
          guard case .serving(let loan, _) = state.phase else { return true }
          state.phase = .serving(loan, continuation)
          return false
        }
        if isFree { continuation.resume() }
      }
    }
  }

  private func isTakenOver() -> Bool {
    state.withLock { state in
      guard case .awaiting = state.phase else { return false }
      state.phase = .lent
      return true
    }
  }

  func takeBack(_ loan: ExecutorLoan) {
    state.withLock { $0.phase = .returned }
    loan.news.signal()
  }
}

/// Threads for jobs that keep an executor: they block, which a thread of the shared pool must not.
final class BlockingThreads: TaskExecutor {
  static let shared = BlockingThreads()
  private static let key = DispatchSpecificKey<Bool>()

  /// Whether the calling thread is one of these.
  static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true }

  /// Starts a task that enters an actor, and leaves and enters it again while the job answers false.
  ///
  /// A thread that leaves an actor with jobs in line takes up the next one, whichever executor that one prefers.
  /// A job that blocked such a thread could leave the pool without one for the borrower.
  static func start(_ job: @escaping @Sendable () async -> Bool) {
    Task.detached(executorPreference: shared, priority: Task.currentPriority) {
      while await !job() {}
    }
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    // A serial queue of its own gets a thread beside the pool's, which Dispatch keeps for the next one.
    let queue = DispatchQueue(label: "executor on loan")
    queue.setSpecific(key: Self.key, value: true)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}

/// The address that tells executors apart.
func executorIdentity(_ executor: UnownedSerialExecutor) -> UInt {
  unsafeBitCast(executor, to: (UInt, UInt).self).0
}

extension ContextExecutor {
  /// Borrows the executor for code that belongs to the caller's actor, in turn, without blocking a thread.
  ///
  /// - Returns: The loan, on the caller's actor; nil if the caller's actor is on the executor by nature, or the caller
  ///   belongs to none.
  @usableFromInline
  nonisolated(nonsending) func borrow(_ schedule: RunSchedule) async -> ExecutorLoan? {
    let borrower = Self.identity(of: #isolation)
    if isCurrent {
      if schedule == .immediate || borrower == actorIdentity { return nil }
      // An executor that users wrote over the executor: its jobs are blocks of the executor and can't run while it is lent.
      let ticket = takeTurnOrTicket()
      await pass(on: core ?? MainActor.shared, with: ticket)
      return ExecutorLoan(of: nil, to: borrower)
    }
    let ticket = takeTurnOrTicket()
    let loan = await withUnsafeContinuation { (continuation: UnsafeContinuation<ExecutorLoan, Never>) in
      let loan = ExecutorLoan(of: self, to: borrower)
      loan.ticket = ticket
      BlockingThreads.start {
        await self.keep(
          on: self.core ?? MainActor.shared, for: loan, calling: continuation)
      }
    }
    await lender.arrive()
    loan.edge = WaitGraph.beginLoan(loan)
    return loan
  }

  private static func identity(of actor: (any Actor)?) -> UInt {
    actor.map { executorIdentity($0.unownedExecutor) } ?? 0
  }

  private func pass(on actor: isolated any Actor, with ticket: Ticket?) async {
    if let ticket { await ticket.turn() }
    endTurn()
  }

  /// Keeps the executor until the loan is over; false if that has to be tried again on another thread.
  private func keep(
    on actor: isolated any Actor, for loan: ExecutorLoan,
    calling borrower: UnsafeContinuation<ExecutorLoan, Never>
  ) async -> Bool {
    if let ticket = loan.ticket { await ticket.turn() }
    guard isMain || BlockingThreads.isCurrent else { return false }
    guard WaitGraph.callBorrower(of: loan) else {
      // The borrower's actor is kept for a job of this one. Letting go of this one lets that job through.
      endTurn()
      await WaitGraph.loanCanBegin(loan)
      loan.ticket = takeTurnOrTicket()
      return false
    }
    noteEntry()
    lender.keep(loan, calling: borrower)
    endTurn()
    return true
  }

  /// Whether the caller runs on an actor's executor. Never traps.
  @_spi(CDE) public static func isOnExecutor(of actor: any Actor) -> Bool {
    let executor = identity(of: actor)
    return executor == currentExecutor() || executor == mainIdentity && MainProbe.isCurrent
  }

  /// Whether the caller's code may belong to an actor other than the executor's.
  ///
  /// Not so on plain threads, in tasks that belong to no actor, and in blocks of executors.
  var callerHasActor: Bool {
    if MainProbe.isCurrent { return true }
    let executor = currentExecutor()
    return executor != 0 && ThreadBlock.current?.actorIdentity != executor
  }

  /// Borrows the executor, in turn, while the calling thread waits.
  func borrowAndWait() -> ExecutorLoan {
    let ticket = takeTurnIfFree() ? nil : takeTurnOrTicket()
    let loan = ExecutorLoan(of: self, to: currentExecutor(), isBlocking: true)
    loan.edge = WaitGraph.begin(waitingFor: self)
    let granted = DispatchSemaphore(value: 0)
    let wait = BlockedWait(for: self, with: ticket) {
      granted.signal()
      loan.news.wait()
    }
    let isListed = mustList(ticket)
    if isListed { lender.add(wait) }
    BlockingThreads.start {
      await self.serve(wait, on: self.core ?? MainActor.shared, isListed, with: ticket)
    }
    granted.wait()
    return loan
  }

  /// Whether a loan can keep the executor's actor while a wait with this place in line is under way.
  func mustList(_ ticket: Ticket?) -> Bool {
    // Executors over the main actor have a turn each: the turn of one does not keep another one's loan away.
    ticket != nil || core == nil
  }

  private func serve(
    _ wait: BlockedWait, on actor: isolated any Actor, _ isListed: Bool, with ticket: Ticket?
  ) async -> Bool {
    if let ticket { await ticket.turn() }
    guard isMain || BlockingThreads.isCurrent else { return false }
    if wait.take() {
      if isListed { lender.remove(wait) }
      noteEntry()
      wait.run()
    }
    endTurn()
    return true
  }
}
