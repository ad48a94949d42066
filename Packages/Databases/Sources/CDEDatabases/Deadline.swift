@_spi(CDE) internal import CDEExecutors
internal import CDEModelRuntime
internal import Dispatch

/// Lets a caller go when its time is over, and keeps the operation from starting afterwards.
nonisolated final class Deadline<Value: Sendable>: Sendable {
  private enum Phase {
    case waiting, running, over
  }

  private struct State {
    var phase = Phase.waiting
    var isLate = false
    var caller: CheckedContinuation<Value, any Error>?
    /// The answer, if it came before the caller was there to take it.
    var answer: Result<Value, any Error>?
    var work: Task<Void, Never>?
    var timer: DeadlineTimer?
  }

  private let name: String
  private let timeout: Duration
  private let isRead: Bool
  private let state = Lock(State())

  init(name: String, timeout: Duration, isRead: Bool) {
    self.name = name
    self.timeout = timeout
    self.isRead = isRead
  }

  func run(
    _ operation: DatabaseOperation<Value>,
    _ perform: @escaping @Sendable (DatabaseOperation<Value>) async throws -> Value
  ) async throws -> Value {
    let guarded = operation.wrapping { proceed in
      try self.begin()
      try proceed()
    }
    let work = Task {
      do {
        settle(.success(try await perform(guarded)))
      } catch {
        settle(.failure(isLate && error is CancellationError ? timedOut(hasRun: true) : error))
      }
    }
    let timer = DeadlineTimer(after: timeout) { self.expire(cancelled: false) }
    let hasEnded = state.withLock { state in
      state.work = work
      state.timer = timer
      return state.answer != nil
    }
    if hasEnded {
      timer.cancel()
      work.cancel()
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { caller in
        let answer = state.withLock { state -> Result<Value, any Error>? in
          if let answer = state.answer { return answer }
          state.caller = caller
          return nil
        }
        if let answer { finish(caller, answer) }
      }
    } onCancel: {
      expire(cancelled: true)
    }
  }

  private var isLate: Bool { state.withLock { $0.isLate } }

  private func begin() throws {
    let mayRun = state.withLock { state in
      if state.phase == .over { return false }
      state.phase = .running
      return true
    }
    if !mayRun { throw CancellationError() }
  }

  private func settle(_ answer: Result<Value, any Error>) {
    let caller = state.withLock { Self.settle(answer, &$0) }
    if let caller { finish(caller, answer) }
  }

  /// - Returns: the caller to be told; nil if it was told before, or does not wait yet.
  private static func settle(
    _ answer: Result<Value, any Error>, _ state: inout State
  ) -> CheckedContinuation<Value, any Error>? {
    state.phase = .over
    guard state.answer == nil else { return nil }
    state.answer = answer
    defer { state.caller = nil }
    return state.caller
  }

  private func finish(_ caller: CheckedContinuation<Value, any Error>, _ answer: Result<Value, any Error>) {
    state.withLock { $0.timer }?.cancel()
    caller.resume(with: answer)
  }

  private func expire(cancelled: Bool) {
    // Decided with the look at the phase: a write that begins meanwhile would save although its caller was told that it will not run.
    let (work, caller, answer) = state.withLock { state in
      if !cancelled { state.isLate = true }
      // A write that has begun ends by itself: its caller must know how.
      guard state.phase == .waiting || (state.phase == .running && isRead) else {
        return (state.work, CheckedContinuation<Value, any Error>?.none, Result<Value, any Error>?.none)
      }
      let answer = Result<Value, any Error>.failure(
        cancelled ? CancellationError() : timedOut(hasRun: state.phase == .running))
      return (state.work, Self.settle(answer, &state), answer)
    }
    if let caller, let answer { finish(caller, answer) }
    work?.cancel()
  }

  private func timedOut(hasRun: Bool) -> DatabaseError {
    DatabaseError(
      .timedOut,
      hasRun
        ? "\(name) took longer than \(timeout) and was told to stop. Nothing of it was saved."
        : "\(name) did not start within \(timeout) and will not run. Try again, or allow more time.")
  }
}

/// Calls a function once, after a time in which the machine was awake.
private final class DeadlineTimer: @unchecked Sendable {
  // Guard: immutable, and Dispatch's sources may be used on any thread.
  private let source: any DispatchSourceTimer

  // A queue of its own, because operations that compute may occupy every thread that tasks share. On a machine with one processor there
  // is one.
  private static let queue = DispatchQueue(label: "deadlines of database operations")

  init(after time: Duration, _ action: @escaping @Sendable () -> Void) {
    source = DispatchSource.makeTimerSource(queue: Self.queue)
    let (seconds, attoseconds) = max(time, .zero).components
    // Longer than a year is no limit.
    let isLimited = seconds < 31_536_000
    let nanoseconds = isLimited ? Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000) : 0
    source.schedule(deadline: isLimited ? .now() + .nanoseconds(nanoseconds) : .distantFuture)
    source.setEventHandler(handler: action)
    source.activate()
  }

  func cancel() { source.cancel() }
}
