import Dispatch
import Synchronization

/// The wait of a blocked thread for an executor whose code may be about to wait for the thread's own executor. That code
/// runs the wait's work first.
final class NestedWait: @unchecked Sendable {
  // Guard: `edge` belongs to the wait graph's lock until the wait starts, and then to the one thread that claimed
  // the wait.
  private let isClaimed = Atomic<Bool>(false)
  private let work: @Sendable () -> Void
  private let finish: @Sendable () -> Void
  var edge: UInt64?

  init(_ work: @escaping @Sendable () -> Void, finish: @escaping @Sendable () -> Void) {
    self.work = work
    self.finish = finish
  }

  /// Runs the work, unless another thread does or did.
  ///
  /// - Returns: whether this call ran it.
  @discardableResult
  func run() -> Bool {
    if isClaimed.exchange(true, ordering: .acquiringAndReleasing) { return false }
    work()
    // The blocked thread no longer waits for the executor, so the executor may now wait for the thread's.
    WaitGraph.end(edge)
    finish()
    return true
  }
}

extension ContextExecutor {
  /// Runs a block on the executor while the calling thread waits, as ``runAndWait(_:)`` does. Does not trap if code of
  /// the executor waits for the caller's executor.
  ///
  /// If that code was blocked first, the block runs at once, on the calling thread: the blocked code can't use the
  /// executor meanwhile. If the caller was blocked first, the code that is about to close a cycle with its own wait
  /// runs the block before, on its own thread. The block must therefore be valid in the middle of any job of the
  /// executor that waits for other executors. On a main executor, the first case runs the block on the calling
  /// thread, which may not be the main one.
  ///
  /// The block belongs to the executor, also if the caller is isolated to an actor.
  ///
  /// - Throws: What the block throws.
  public func runNestedAndWait<Value, Failure: Error>(
    _ body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    if isCurrent { return try body() }
    if isOnNoActor, tryAcquireUnshared() { return try runUnshared(waitingBy: body) }
    let result = withoutActuallyEscaping(body) { body in
      let block = WaitingBlock(body)
      waitNested { block.run() }
      return block.result
    }
    guard let result else { fatalError("An executor ended a wait before its block had run.") }
    return try result.get()
  }

  /// The calling thread runs no other jobs meanwhile: such a job could wait for the caller's executor, which the code
  /// below it on the same stack occupies.
  private func waitNested(_ work: @escaping @Sendable () -> Void) {
    let finished = DispatchSemaphore(value: 0)
    let wait = NestedWait {
      self.noteEntry()
      ThreadBlock.run(as: self, work)
    } finish: {
      finished.signal()
    }
    if let edge = WaitGraph.begin(wait, for: self) {
      ThreadBlock.run(as: self, work)
      return WaitGraph.end(edge)
    }
    let waiter = tryAcquire() ? nil : acquireOrEnqueue()
    let listed =
      mayMeetReservation(waiter) ? BlockedWait(for: self, with: waiter) { wait.run() } : nil
    if let listed { reservations.add(listed) }
    if isOnNoActor, runOnThisThread(wait, listed, with: waiter, finished) { return }
    BlockingThreads.start {
      await self.run(wait, on: self.defaultActor ?? MainActor.shared, listed, with: waiter)
    }
    finished.wait()
  }

  /// Whether the calling thread is on no actor. On an actor's thread, code of a nested block would be on that actor as well.
  private var isOnNoActor: Bool { currentExecutor() == 0 && !MainProbe.isCurrent }

  /// Runs a wait on the calling thread when it has access, or returns when another thread has run it. No other thread is needed: all
  /// threads that may block can be blocked in such waits.
  ///
  /// - Parameter finished: is signalled when the work has run.
  /// - Returns: false if actors can run jobs on the executor. The waiter is as it was then.
  private func runOnThisThread(
    _ wait: NestedWait, _ listed: BlockedWait?, with waiter: Waiter?, _ finished: DispatchSemaphore
  ) -> Bool {
    if isShared { return false }
    if let waiter {
      waiter.signal(finished)
      finished.wait()
      if waiter.abandon(to: self) { return true }
    }
    if isShared { return false }
    if let listed { reservations.remove(listed) }
    // Another thread that runs the work signals once more.
    if !wait.run() { finished.wait() }
    releaseAccess()
    return true
  }

  private func run(
    _ wait: NestedWait, on actor: isolated any Actor, _ listed: BlockedWait?, with waiter: Waiter?
  ) async -> Bool {
    if let waiter { await waiter.wait() }
    // The work may wait for another executor, which would block a thread of the pool.
    guard isMain || BlockingThreads.isCurrent else { return false }
    if let listed { reservations.remove(listed) }
    wait.run()
    releaseAccess()
    return true
  }
}
