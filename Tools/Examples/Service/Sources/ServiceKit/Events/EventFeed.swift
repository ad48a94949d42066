import CoreDataEvolution
import Logging
import Metrics
import ServiceLifecycle
import Synchronization

/// Reads the store's history as it grows, by commits of this process and of others, for the clients that follow the events.
///
/// One task reads each transaction and the objects that it has changed once, for all clients. Without clients it waits, and saves cost what
/// they cost without events. A client that comes then finds its place in the history itself.
final class EventFeed: Service {
  private struct State {
    var log: EventLog
    var subscriberCount = 0
    /// Increased when the history lost transactions that no client was told of.
    var generation = 0
    var isFinished = false
    /// The task that reads the history, while no client follows the events.
    var idleFollower: CheckedContinuation<Void, Never>?
    var lastWaiter = 0
    var waiters: [Int: CheckedContinuation<Void, Never>] = [:]

    mutating func takeWaiters() -> [CheckedContinuation<Void, Never>] {
      defer { waiters = [:] }
      return Array(waiters.values)
    }
  }

  private let state: Mutex<State>
  let store: ServiceStore
  let encoder = EventEncoder()
  private let subscriberLimit: Int
  private let logger: Logger
  private let subscribers: Meter
  private let transactions: Counter

  /// - Throws: `ManagedObjectError` if the store has no history that can be read.
  init(_ store: ServiceStore, subscriberLimit: Int, logger: Logger, metrics: any MetricsFactory) throws {
    guard
      let token = store.container.persistentStoreCoordinator.currentPersistentHistoryToken(fromStores: nil)
    else {
      throw ManagedObjectError(
        .unsupportedRequest, "The store's history can't be read. Start the service again.")
    }
    state = Mutex(State(log: EventLog(start: token)))
    self.store = store
    self.subscriberLimit = subscriberLimit
    self.logger = logger
    subscribers = Meter(label: "event_subscribers", factory: metrics)
    transactions = Counter(label: "event_transactions", factory: metrics)
  }

  /// The place up to which the history was read.
  var end: NSPersistentHistoryToken { state.withLock { $0.log.end } }

  // MARK: Reading the history

  func run() async throws {
    try await cancelWhenGracefulShutdown { try await self.follow() }
  }

  private func follow() async throws {
    let context = store.container.newBackgroundContext()
    var wasIdle = true
    while !Task.isCancelled {
      do {
        wasIdle = await waitForClient() || wasIdle
        try Task.checkCancellation()
        if wasIdle { try await beginNow() }
        wasIdle = false
        var transactions = context.changes(after: end).makeAsyncIterator()
        // The next transaction may come long after the last client has left.
        while isFollowed, let transaction = try await transactions.next(), isFollowed {
          try await publish(transaction)
        }
      } catch  where error.isHistoryGone {
        logger.warning("The history was purged further than it was read. Clients have to begin anew.")
        beginAnew()
      } catch is CancellationError {
        return
      } catch {
        logger.warning("The history can't be read, and is asked for again.", metadata: ["error": "\(error)"])
        try? await Task.sleep(for: .milliseconds(200))
      }
    }
  }

  private var isFollowed: Bool { state.withLock { $0.subscriberCount > 0 } }

  /// Waits until a client follows the events, or the task is cancelled.
  ///
  /// - Returns: whether there was none.
  private func waitForClient() async -> Bool {
    if isFollowed { return false }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let waits = state.withLock { state in
          guard state.subscriberCount == 0 else { return false }
          state.idleFollower = continuation
          return true
        }
        if !waits { continuation.resume() }
        // A cancellation before found nothing to wake.
        if Task.isCancelled { wakeFollower() }
      }
    } onCancel: {
      wakeFollower()
    }
    return true
  }

  private func wakeFollower() {
    let follower = state.withLock { state in
      defer { state.idleFollower = nil }
      return state.idleFollower
    }
    follower?.resume()
  }

  /// The place after the last commit.
  ///
  /// - Throws: what ``ServiceStore/read(_:)`` throws, and `StoreError` if the store does not answer.
  func now() async throws -> NSPersistentHistoryToken {
    // Within the bound of reads: all clients may come back at once.
    let token = try await store.read { context in
      context.persistentStoreCoordinator?.currentPersistentHistoryToken(fromStores: nil)
    }
    guard let token else {
      throw StoreError(.io, "The place in the store's history can't be read. Try again.")
    }
    return token
  }

  /// Begins the log after the last commit. Clients whose place is before it read the history themselves.
  private func beginNow() async throws {
    let token = try await now()
    let waiters = state.withLock { state in
      state.log.begin(at: token)
      return state.takeWaiters()
    }
    for waiter in waiters { waiter.resume() }
  }

  private func publish(_ transaction: NSPersistentHistoryTransaction) async throws {
    let events = try await read(transaction)
    let waiters = state.withLock { state in
      state.log.append(EventLog.Entry(token: transaction.token, events: events))
      return state.takeWaiters()
    }
    transactions.increment()
    for waiter in waiters { waiter.resume() }
  }

  /// The events of a transaction.
  func read(_ transaction: NSPersistentHistoryTransaction) async throws -> [ChangeEvent] {
    try await onOwnThread { [store, encoder] in
      let context = store.container.newBackgroundContext()
      return try await context.perform { try encoder.events(transaction, in: context) }
    }
  }

  private func beginAnew() {
    let token = store.container.persistentStoreCoordinator.currentPersistentHistoryToken(fromStores: nil)
    let waiters = state.withLock { state in
      if let token { state.log.begin(at: token) }
      state.generation += 1
      return state.takeWaiters()
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Waits until all that is committed was read, then lets the clients end after they were told.
  ///
  /// Precondition: no request writes any more.
  func finish(within limit: Duration) async {
    let last = try? await onOwnThread(within: limit) { [store] in
      store.container.persistentStoreCoordinator.currentPersistentHistoryToken(fromStores: nil)
    }
    // Without a client nothing is read.
    if isFollowed, let last = last ?? nil {
      let deadline = ContinuousClock.now + limit
      while isFollowed, end.compare(last) == .orderedAscending, ContinuousClock.now < deadline {
        await wait(atMost: deadline - .now, forClients: true) { $0.compare(last) == .orderedAscending }
      }
    }
    let waiters = state.withLock { state in
      state.isFinished = true
      return state.takeWaiters()
    }
    for waiter in waiters { waiter.resume() }
  }

  // MARK: Clients

  /// Adds a client.
  ///
  /// - Throws: a ``Problem`` with status 503 if there are too many.
  func subscribe() throws -> EventSubscription {
    let generation: Int? = state.withLock { state in
      guard state.subscriberCount < subscriberLimit, !state.isFinished else { return nil }
      state.subscriberCount += 1
      subscribers.set(state.subscriberCount)
      return state.generation
    }
    guard let generation else {
      throw Problem.later("subscribers", "As many clients follow the events as may. Try again.", seconds: 10)
    }
    wakeFollower()
    return EventSubscription(self, generation)
  }

  func unsubscribe() {
    let waiters = state.withLock { state in
      state.subscriberCount -= 1
      subscribers.set(state.subscriberCount)
      return state.subscriberCount == 0 ? state.takeWaiters() : []
    }
    // Without a client the end of the service does not wait for events.
    for waiter in waiters { waiter.resume() }
  }

  enum Found {
    case log(EventLog.Found)
    case isFinished
    case isGone
  }

  func find(after token: NSPersistentHistoryToken, generation: Int) -> Found {
    state.withLock { state in
      if state.generation != generation { return .isGone }
      let found = state.log.find(after: token)
      if state.isFinished, case .nothing = found { return .isFinished }
      return .log(found)
    }
  }

  /// Waits for the next transaction, the end of the service, or the end of a time.
  ///
  /// - Parameters:
  ///   - forClients: whether the end of the last client ends the wait, too.
  ///   - isCurrent: whether the place up to which the history was read is still the one that the caller knows.
  func wait(
    atMost limit: Duration, forClients: Bool = false, while isCurrent: (NSPersistentHistoryToken) -> Bool
  ) async {
    let number = state.withLock { state in
      state.lastWaiter += 1
      return state.lastWaiter
    }
    var timer: Task<Void, any Error>?
    defer { timer?.cancel() }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let waits = state.withLock { state in
          guard isCurrent(state.log.end), !state.isFinished, !forClients || state.subscriberCount > 0 else {
            return false
          }
          state.waiters[number] = continuation
          return true
        }
        if !waits { return continuation.resume() }
        // Not before: a short time would be over while there is no waiter.
        timer = Task {
          try await Task.sleep(for: limit)
          wake(number)
        }
        // A cancellation before found no waiter.
        if Task.isCancelled { wake(number) }
      }
    } onCancel: {
      wake(number)
    }
  }

  private func wake(_ number: Int) {
    state.withLock { $0.waiters.removeValue(forKey: number) }?.resume()
  }
}

extension Error {
  /// Whether the history lacks transactions after a place.
  var isHistoryGone: Bool {
    if let error = self as? ManagedObjectError { return error.code == .historyTokenExpired }
    let error = self as NSError
    return error.domain == NSCocoaErrorDomain && error.code == NSPersistentHistoryTokenExpiredError
  }
}
