import CoreDataEvolution
import Metrics
import Synchronization

/// Lets a bounded number of pieces of work run on threads of their own, and a bounded number wait for a bounded time.
///
/// The store would accept all of them, and each would take longer. A bound keeps the time of those that run, and tells the
/// others at once to come back.
final class Admission: Sendable {
  typealias Refusal = AdmissionState.Refusal

  private struct State {
    var admission: AdmissionState
    var lastTicket: AdmissionState.Ticket = 0
    var waiters: [AdmissionState.Ticket: Waiter] = [:]
    /// Calls of `close()`.
    var idleWaiters: [CheckedContinuation<Void, Never>] = []

    /// Those that wait for the end of all work, if there is none.
    mutating func takeIdleWaiters() -> [CheckedContinuation<Void, Never>] {
      guard admission.isIdle, admission.isClosed else { return [] }
      defer { idleWaiters = [] }
      return idleWaiters
    }
  }

  /// A piece of work that waits.
  private struct Waiter {
    var answer: @Sendable (Refusal?) -> Void
    var timeout: Timeouts.ID
  }

  private let state: Mutex<State>
  /// As many as work may run: the thread that ends a piece of work begins the one that has waited longest.
  private let threads: BlockingThreads
  private let patience: Timeouts
  private let running: Meter
  private let waiting: Meter
  private let refused: Counter

  /// - Parameters:
  ///   - name: of the metrics' dimension `kind`.
  ///   - limit: how much runs at once.
  ///   - queueLimit: how much waits.
  ///   - patience: how long it waits.
  init(_ name: String, limit: Int, queueLimit: Int, patience: Duration, metrics: any MetricsFactory) {
    state = Mutex(State(admission: AdmissionState(limit: limit, queueLimit: queueLimit)))
    threads = BlockingThreads(limit: limit)
    self.patience = Timeouts(after: patience)
    let kind = [("kind", name)]
    running = Meter(label: "store_work_running", dimensions: kind, factory: metrics)
    waiting = Meter(label: "store_work_waiting", dimensions: kind, factory: metrics)
    refused = Counter(label: "store_work_refused", dimensions: kind, factory: metrics)
  }

  /// Runs work on a thread of its own, as soon as it may run.
  ///
  /// The work has none of the caller's task-local values. When its time is over, the caller goes on, and the work keeps its place until it has ended: so no more work than allowed runs, however
  /// slow it is.
  ///
  /// - Parameter limit: the time for waiting and running; nil to wait for the end.
  /// - Throws: ``Refusal``, ``TimedOut``, and the errors of the work.
  func run<Value: Sendable>(
    within limit: Timeouts? = nil, _ work: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    let answer = FirstAnswer<Value>()
    let priority = Task.currentPriority
    return try await withCheckedThrowingContinuation { continuation in
      answer.expect(continuation)
      let timeout = limit?.add { answer.give(.failure(TimedOut())) }
      enter { [threads] refusal in
        if let refusal {
          if let timeout { limit?.remove(timeout) }
          return answer.give(.failure(refusal))
        }
        // This may run in the task of the work that has ended, whose values are another client's.
        Task.detached(executorPreference: threads, priority: priority) {
          let result: Result<Value, any Error>
          do { result = .success(try await work()) } catch { result = .failure(error) }
          self.leave()
          if let timeout { limit?.remove(timeout) }
          answer.give(result)
        }
      }
    }
  }

  /// Waits until work may run. Then the caller has to call ``leave()`` once.
  ///
  /// - Throws: ``Refusal``.
  func enter() async throws {
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      enter { refusal in
        if let refusal { continuation.resume(throwing: refusal) } else { continuation.resume() }
      }
    }
  }

  /// Asks to run.
  ///
  /// - Parameter answer: is called once, now or later: with nil when the work may run, after which the caller has to call ``leave()`` once;
  ///   else with what refuses it.
  private func enter(_ answer: @escaping @Sendable (Refusal?) -> Void) {
    let entry: AdmissionState.Entry = state.withLock { state in
      state.lastTicket += 1
      let ticket = state.lastTicket
      let entry = state.admission.enter(ticket)
      if entry == .waits {
        let timeout = patience.add { self.giveUp(ticket) }
        state.waiters[ticket] = Waiter(answer: answer, timeout: timeout)
      }
      report(state)
      return entry
    }
    switch entry {
    case .runs: answer(nil)
    case .waits: break
    case .isRefused(let refusal):
      refused.increment()
      answer(refusal)
    }
  }

  /// Ends a piece of work, and begins the next one.
  func leave() {
    let (next, idle) = state.withLock { state in
      let next = state.admission.leave().flatMap { state.waiters.removeValue(forKey: $0) }
      report(state)
      return (next, state.takeIdleWaiters())
    }
    if let next {
      patience.remove(next.timeout)
      next.answer(nil)
    }
    for waiter in idle { waiter.resume() }
  }

  /// Refuses all work from now on, and waits until what runs or waits has ended.
  func close() async {
    await withCheckedContinuation { continuation in
      let idle = state.withLock { state in
        state.admission.close()
        state.idleWaiters.append(continuation)
        return state.takeIdleWaiters()
      }
      for waiter in idle { waiter.resume() }
    }
  }

  private func giveUp(_ ticket: AdmissionState.Ticket) {
    let (waiter, idle) = state.withLock { state in
      let isWaiting = state.admission.giveUp(ticket)
      report(state)
      return (isWaiting ? state.waiters.removeValue(forKey: ticket) : nil, state.takeIdleWaiters())
    }
    if let waiter {
      refused.increment()
      waiter.answer(.waitedTooLong)
    }
    for waiter in idle { waiter.resume() }
  }

  private func report(_ state: borrowing State) {
    running.set(state.admission.running)
    waiting.set(state.admission.waiting.count)
  }
}
