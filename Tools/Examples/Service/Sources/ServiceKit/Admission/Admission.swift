import Metrics
import Synchronization

/// Lets a bounded number of pieces of work run, and a bounded number wait for a bounded time.
///
/// The store would accept all of them, and each would take longer. A bound keeps the time of those that run, and tells the
/// others at once to come back.
final class Admission: Sendable {
  typealias Refusal = AdmissionState.Refusal

  private enum Outcome {
    case runs
    case isRefused(Refusal)
  }

  private struct State {
    var admission: AdmissionState
    var lastTicket: AdmissionState.Ticket = 0
    /// The work that waits.
    var waiters: [AdmissionState.Ticket: CheckedContinuation<Outcome, Never>] = [:]
    /// Calls of `close()`.
    var idleWaiters: [CheckedContinuation<Void, Never>] = []

    /// Lets a piece of work run without a ticket, if nothing is before it.
    mutating func enterAtOnce() -> Bool {
      guard admission.running < admission.limit, !admission.isClosed else { return false }
      return admission.enter(0) == .runs
    }

    /// Those that wait for the end of all work, if there is none.
    mutating func takeIdleWaiters() -> [CheckedContinuation<Void, Never>] {
      guard admission.isIdle, admission.isClosed else { return [] }
      defer { idleWaiters = [] }
      return idleWaiters
    }
  }

  private let state: Mutex<State>
  private let patience: Duration
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
    self.patience = patience
    let kind = [("kind", name)]
    running = Meter(label: "store_work_running", dimensions: kind, factory: metrics)
    waiting = Meter(label: "store_work_waiting", dimensions: kind, factory: metrics)
    refused = Counter(label: "store_work_refused", dimensions: kind, factory: metrics)
  }

  /// Refuses work for which there is no place, without a task or a thread for it.
  ///
  /// - Throws: ``Refusal``.
  func refuseIfFull() throws {
    let refusal = state.withLock { $0.admission.refusal }
    guard let refusal else { return }
    refused.increment()
    throw refusal
  }

  /// Waits until work may run. Then the caller has to call ``leave()`` once.
  ///
  /// - Throws: ``Refusal``; `CancellationError` if the task is cancelled while it waits.
  func enter() async throws {
    let runs = state.withLock { state in
      defer { report(state) }
      return state.enterAtOnce()
    }
    if runs { return }
    switch await entry() {
    case .runs: return
    case .isRefused(let refusal):
      try Task.checkCancellation()
      refused.increment()
      throw refusal
    }
  }

  /// Ends a piece of work, and begins the next one.
  func leave() {
    let (next, idle) = state.withLock { state in
      let next = state.admission.leave().flatMap { state.waiters.removeValue(forKey: $0) }
      let idle = state.takeIdleWaiters()
      report(state)
      return (next, idle)
    }
    next?.resume(returning: .runs)
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

  private func entry() async -> Outcome {
    let ticket = state.withLock { state in
      state.lastTicket += 1
      return state.lastTicket
    }
    let patience = Task { [patience] in
      try await Task.sleep(for: patience)
      giveUp(ticket)
    }
    defer { patience.cancel() }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let outcome: Outcome? = state.withLock { state in
          defer { report(state) }
          switch state.admission.enter(ticket) {
          case .runs: return .runs
          case .isRefused(let refusal): return .isRefused(refusal)
          case .waits:
            state.waiters[ticket] = continuation
            return nil
          }
        }
        if let outcome { continuation.resume(returning: outcome) }
        // A cancellation before the entry found no ticket.
        if Task.isCancelled { giveUp(ticket) }
      }
    } onCancel: {
      giveUp(ticket)
    }
  }

  private func giveUp(_ ticket: AdmissionState.Ticket) {
    let (waiter, idle) = state.withLock { state in
      let isWaiting = state.admission.giveUp(ticket)
      report(state)
      return (isWaiting ? state.waiters.removeValue(forKey: ticket) : nil, state.takeIdleWaiters())
    }
    waiter?.resume(returning: .isRefused(.waitedTooLong))
    for waiter in idle { waiter.resume() }
  }

  private func report(_ state: borrowing State) {
    running.set(state.admission.running)
    waiting.set(state.admission.waiting.count)
  }
}
