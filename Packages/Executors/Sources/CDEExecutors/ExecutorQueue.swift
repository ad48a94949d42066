import Dispatch

/// The states of the exclusive access to an executor.
@usableFromInline
enum AccessState {
  /// Access is free and the queue is empty.
  @usableFromInline static let idle = 0
  /// Access is taken and the queue is empty: a single exchange releases it.
  @usableFromInline static let running = 1
  /// Access is taken, and the queue may have entries. The owner of the access reads the queue, under its lock, before
  /// it releases the access.
  @usableFromInline static let contended = 2
}

/// Blocks and runs that wait for exclusive access to an executor, in the order of their requests.
struct ExecutorQueue {
  enum Entry {
    case block(@Sendable () -> Void)
    case waiter(Waiter)
  }

  enum Drain {
    case none, scheduled, running
  }

  private var entries = FIFO<Entry>()
  var drain = Drain.none
  /// Blocks that were enqueued while the executor was suspended, in the order of their requests; nil unless the
  /// executor is suspended.
  var suspended: [@Sendable () -> Void]?

  var isEmpty: Bool { entries.isEmpty }

  var startsWithBlock: Bool {
    if case .block? = entries.first { return true }
    return false
  }

  mutating func append(_ entry: Entry) { entries.append(entry) }

  mutating func popFirst() -> Entry? { entries.popFirst() }

  /// Removes and returns the blocks that precede a waiter; none if the waiter has left the queue.
  mutating func takeBlocks(before waiter: Waiter) -> [@Sendable () -> Void] {
    entries.remove {
      if case .waiter(let found) = $0 { return found === waiter }
      return false
    } converting: {
      if case .block(let block) = $0 { return block }
      return nil
    }
  }
}

/// A run or a wait in the queue. Its task is suspended, or its thread blocked, until it is granted access.
@usableFromInline
final class Waiter: Sendable {
  private enum State {
    case queued
    case suspended(UnsafeContinuation<Void, Never>)
    case blocked(DispatchSemaphore)
    /// The grant releases the access.
    case abandoned(ContextExecutor)
    case granted
  }

  private let state = Lock(State.queued)

  func grantAccess() {
    let before = state.withLock { state in
      defer { state = .granted }
      return state
    }
    switch before {
    case .suspended(let continuation): continuation.resume()
    case .blocked(let semaphore): semaphore.signal()
    case .abandoned(let executor): executor.releaseAccess()
    case .queued, .granted: break
    }
  }

  /// Signals a semaphore when access is granted, at once if it is.
  func signal(_ semaphore: DispatchSemaphore) {
    let isGranted = state.withLock { state in
      if case .granted = state { return true }
      state = .blocked(semaphore)
      return false
    }
    if isGranted { semaphore.signal() }
  }

  /// Gives the place in the queue up. The caller no longer waits for its semaphore.
  ///
  /// - Returns: false if access was granted: the caller has it.
  func abandon(to executor: ContextExecutor) -> Bool {
    state.withLock { state in
      if case .granted = state { return false }
      state = .abandoned(executor)
      return true
    }
  }

  /// Suspends the task on the caller's actor until access is granted. The task then resumes on that actor and needs
  /// no other thread.
  @usableFromInline
  func wait(isolation: isolated (any Actor)? = #isolation) async {
    await withUnsafeContinuation { continuation in
      let granted = state.withLock { state in
        if case .granted = state { return true }
        state = .suspended(continuation)
        return false
      }
      if granted { continuation.resume() }
    }
  }
}
