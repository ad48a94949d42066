import Dispatch
import Synchronization

/// The reservation of an executor for code that is isolated to another actor and must stay on that actor.
///
/// A job occupies the executor's actor and does nothing, so nothing else runs on it. Meanwhile the holder of the
/// reservation runs on its own actor and its own thread.
@usableFromInline
final class ExecutorReservation: @unchecked Sendable {
  // Guard: the holder alone uses `before` and `edge`, the job that occupies the actor alone uses `waiter`; the rest is
  // immutable.
  /// Nil if nothing is reserved: the holder's own executor runs its jobs on the executor already.
  let executor: ContextExecutor?
  /// The identity of the executor of the holder's actor.
  let holder: UInt
  /// Wakes the thread that occupies the executor's actor.
  let changed = DispatchSemaphore(value: 0)
  /// Whether the holder's thread blocked for the reservation. The occupying thread then only waits for `end()`.
  private let isBlocking: Bool
  fileprivate var edge: UInt64?
  /// The waiter in the executor's queue; nil if the reservation has access.
  fileprivate var waiter: Waiter?
  private var before: UnsafeMutableRawPointer?

  init(of executor: ContextExecutor?, for holder: UInt, isBlocking: Bool = false) {
    self.executor = executor
    self.holder = holder
    self.isBlocking = isBlocking
  }

  /// Marks the thread as being on the executor. Precondition: the holder stays on the thread until `end()`.
  @usableFromInline
  func begin() {
    guard let executor else { return }
    before = ThreadBlock.enter(executor)
  }

  /// Ends the reservation.
  @usableFromInline
  func end() {
    guard let executor else { return }
    ThreadBlock.leave(to: before)
    WaitGraph.end(edge)
    if isBlocking { changed.signal() } else { executor.reservations.end(self) }
  }
}

/// The wait of a blocked thread for an executor. It ends when the wait gets access, or earlier: a reservation whose
/// holder has not started runs its work.
final class BlockedWait: Sendable {
  private let isClaimed = Atomic<Bool>(false)
  private let executor: ContextExecutor
  private let waiter: Waiter?
  private let work: @Sendable () -> Void
  private let finish: @Sendable () -> Void

  init(
    for executor: ContextExecutor, with waiter: Waiter?, _ work: @escaping @Sendable () -> Void,
    finish: @escaping @Sendable () -> Void = {}
  ) {
    self.executor = executor
    self.waiter = waiter
    self.work = work
    self.finish = finish
  }

  /// True for the first call only; that caller must run the work.
  func claim() -> Bool { !isClaimed.exchange(true, ordering: .acquiringAndReleasing) }

  func run() {
    work()
    finish()
  }

  /// Runs the blocks that precede the wait in the queue, then the wait's work, on the executor and before the wait has
  /// access.
  func runEarly() {
    if let waiter {
      for block in executor.takeBlocks(before: waiter) { ThreadBlock.run(as: executor, block) }
    }
    run()
  }
}

/// The reservation that occupies an actor, and the threads that wait for that actor.
///
/// Such a thread may block the holder's actor. While the holder has not started, the occupying job runs the work of
/// these threads; otherwise neither could continue.
final class ActorReservations: Sendable {
  private enum Phase {
    case idle
    /// The holder was resumed and has not started.
    case awaitingHolder(ExecutorReservation)
    /// The work of a waiting thread runs. If the holder arrived meanwhile, its task is suspended until the work ends.
    case runningWait(ExecutorReservation, UnsafeContinuation<Void, Never>?)
    case held
    case ended
  }

  private struct State {
    var phase = Phase.idle
    var waits: [BlockedWait] = []
  }

  /// The reservations of the main actor, common to all executors over it.
  static let main = ActorReservations()

  private let state = Lock(State())

  /// Adds a thread's wait. The thread calls this before it blocks.
  func add(_ wait: BlockedWait) {
    let pending: ExecutorReservation? = state.withLock { state in
      state.waits.append(wait)
      if case .awaitingHolder(let reservation) = state.phase { return reservation }
      return nil
    }
    pending?.changed.signal()
  }

  func remove(_ wait: BlockedWait) {
    state.withLock { state in
      if let index = state.waits.firstIndex(where: { $0 === wait }) { state.waits.remove(at: index) }
    }
  }

  /// Resumes the holder, and occupies the caller's actor until the reservation ends.
  func occupyActor(
    for reservation: ExecutorReservation, resuming holder: UnsafeContinuation<ExecutorReservation, Never>
  ) {
    enum Step {
      case runWait(BlockedWait)
      case sleep, leave
    }
    state.withLock { $0.phase = .awaitingHolder(reservation) }
    holder.resume(returning: reservation)
    while true {
      let step: Step = state.withLock { state in
        switch state.phase {
        case .awaitingHolder:
          while !state.waits.isEmpty {
            let wait = state.waits.removeFirst()
            guard wait.claim() else { continue }
            state.phase = .runningWait(reservation, nil)
            return .runWait(wait)
          }
          return .sleep
        case .ended:
          state.phase = .idle
          return .leave
        case .idle, .runningWait, .held: return .sleep
        }
      }
      switch step {
      case .runWait(let wait):
        wait.runEarly()
        let suspended: UnsafeContinuation<Void, Never>? = state.withLock { state in
          defer { state.phase = .awaitingHolder(reservation) }
          guard case .runningWait(_, let continuation) = state.phase else { return nil }
          return continuation
        }
        suspended?.resume()
      case .sleep: reservation.changed.wait()
      case .leave: return
      }
    }
  }

  /// Takes the actor over for the holder as soon as no work of a waiting thread runs on it.
  nonisolated(nonsending) func takeOver() async {
    // The successful attempt has no suspension after it: during one, another reservation could occupy the holder's actor.
    while !tryTakeOver() {
      await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
        let isFree = state.withLock { state in
          guard case .runningWait(let reservation, _) = state.phase else { return true }
          state.phase = .runningWait(reservation, continuation)
          return false
        }
        if isFree { continuation.resume() }
      }
    }
  }

  private func tryTakeOver() -> Bool {
    state.withLock { state in
      guard case .awaitingHolder = state.phase else { return false }
      state.phase = .held
      return true
    }
  }

  func end(_ reservation: ExecutorReservation) {
    state.withLock { $0.phase = .ended }
    reservation.changed.signal()
  }
}

/// The address that identifies an executor.
func executorIdentity(_ executor: UnownedSerialExecutor) -> UInt {
  unsafeBitCast(executor, to: (UInt, UInt).self).0
}

extension ContextExecutor {
  /// Reserves the executor for the caller's code, in the order of the queue, without blocking a thread.
  ///
  /// - Returns: The reservation, on the caller's actor; nil if the caller's actor shares the executor, or the caller
  ///   is isolated to none.
  @usableFromInline
  nonisolated(nonsending) func reserve(_ schedule: RunSchedule) async -> ExecutorReservation? {
    let holder = Self.identity(of: #isolation)
    if isCurrent {
      if schedule == .immediate || holder == actorIdentity { return nil }
      // The caller's executor is one that a user wrote over this executor. Its jobs are blocks of this executor, so they
      // can't run while it is reserved.
      let waiter = acquireOrEnqueue()
      await awaitAccess(on: defaultActor ?? MainActor.shared, with: waiter)
      return ExecutorReservation(of: nil, for: holder)
    }
    let waiter = acquireOrEnqueue()
    let reservation = await withUnsafeContinuation {
      (continuation: UnsafeContinuation<ExecutorReservation, Never>) in
      let reservation = ExecutorReservation(of: self, for: holder)
      reservation.waiter = waiter
      BlockingThreads.start {
        await self.occupy(
          self.defaultActor ?? MainActor.shared, for: reservation, resuming: continuation)
      }
    }
    await reservations.takeOver()
    reservation.edge = WaitGraph.beginReservation(reservation)
    return reservation
  }

  private static func identity(of actor: (any Actor)?) -> UInt {
    actor.map { executorIdentity($0.unownedExecutor) } ?? 0
  }

  /// Waits for access, and releases it.
  private func awaitAccess(on actor: isolated any Actor, with waiter: Waiter?) async {
    if let waiter { await waiter.wait() }
    releaseAccess()
  }

  /// Occupies the executor's actor until the reservation ends.
  ///
  /// - Returns: false if the caller must call this again on another thread.
  private func occupy(
    _ actor: isolated any Actor, for reservation: ExecutorReservation,
    resuming holder: UnsafeContinuation<ExecutorReservation, Never>
  ) async -> Bool {
    if let waiter = reservation.waiter { await waiter.wait() }
    guard isMain || BlockingThreads.isCurrent else { return false }
    guard WaitGraph.addPending(reservation) else {
      // The holder's actor is occupied until a job of this executor has run. Releasing this executor lets that job run.
      releaseAccess()
      await WaitGraph.waitUntilReservable(reservation)
      reservation.waiter = acquireOrEnqueue()
      return false
    }
    noteEntry()
    let below = WaitGraph.beginOccupying()
    reservations.occupyActor(for: reservation, resuming: holder)
    WaitGraph.end(below)
    releaseAccess()
    return true
  }

  /// Whether the caller runs on an actor's executor. Never traps.
  @_spi(CDE) public static func isOnExecutor(of actor: any Actor) -> Bool {
    let executor = identity(of: actor)
    return executor == currentExecutor() || executor == mainIdentity && MainProbe.isCurrent
  }

  /// Whether the caller's code may be isolated to an actor other than the executor's.
  ///
  /// False on plain threads, in tasks that are isolated to no actor, and in blocks of executors.
  var callerHasActor: Bool {
    if MainProbe.isCurrent { return true }
    let executor = currentExecutor()
    return executor != 0 && ThreadBlock.current?.actorIdentity != executor
  }

  /// Reserves the executor, in the order of the queue, while the calling thread waits.
  func reserveAndWait() -> ExecutorReservation {
    let waiter = tryAcquire() ? nil : acquireOrEnqueue()
    let reservation = ExecutorReservation(of: self, for: currentExecutor(), isBlocking: true)
    reservation.edge = WaitGraph.begin(waitingFor: self)
    let granted = DispatchSemaphore(value: 0)
    let wait = BlockedWait(for: self, with: waiter) {
      let below = WaitGraph.beginOccupying()
      granted.signal()
      reservation.changed.wait()
      WaitGraph.end(below)
    }
    let isListed = mayMeetReservation(waiter)
    if isListed { reservations.add(wait) }
    BlockingThreads.start {
      await self.run(wait, on: self.defaultActor ?? MainActor.shared, isListed, with: waiter)
    }
    granted.wait()
    return reservation
  }

  /// Whether a reservation can occupy the executor's actor while a wait with this waiter is pending.
  func mayMeetReservation(_ waiter: Waiter?) -> Bool {
    // Each executor over the main actor has its own access, so another one's reservation can occupy the main actor.
    waiter != nil || defaultActor == nil
  }

  private func run(
    _ wait: BlockedWait, on actor: isolated any Actor, _ isListed: Bool, with waiter: Waiter?
  ) async -> Bool {
    if let waiter { await waiter.wait() }
    guard isMain || BlockingThreads.isCurrent else { return false }
    if wait.claim() {
      if isListed { reservations.remove(wait) }
      noteEntry()
      wait.run()
    }
    releaseAccess()
    return true
  }
}
