import CoreDataEvolution
import Logging
import Metrics
import ServiceLifecycle
import Synchronization

/// Reads the store's history as it grows, by commits of this process and of others, for the clients that follow the events.
///
/// One task reads each transaction and the objects that it has changed once, for all clients.
final class EventFeed: Service {
  private struct State {
    var log: EventLog
    var subscriberCount = 0
    /// Increased when the history lost transactions that no client was told of.
    var generation = 0
    var isFinished = false
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
    while !Task.isCancelled {
      do {
        var transactions = context.changes(after: end).makeAsyncIterator()
        while let transaction = try await transactions.next() { try await publish(transaction) }
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

  private func publish(_ transaction: NSPersistentHistoryTransaction) async throws {
    // Without a client no object is read. One that comes now finds its place before the log, and reads the history.
    let isFollowed = state.withLock { $0.subscriberCount > 0 }
    let events = isFollowed ? try await read(transaction) : []
    let waiters = state.withLock { state in
      if isFollowed {
        state.log.append(EventLog.Entry(token: transaction.token, events: events))
      } else {
        state.log.begin(at: transaction.token)
      }
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
    if let last = last ?? nil {
      let deadline = ContinuousClock.now + limit
      while end.compare(last) == .orderedAscending, ContinuousClock.now < deadline {
        await wait(atMost: deadline - .now) { $0.compare(last) == .orderedAscending }
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
    return EventSubscription(self, generation)
  }

  func unsubscribe() {
    state.withLock { state in
      state.subscriberCount -= 1
      subscribers.set(state.subscriberCount)
    }
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
  /// - Parameter isCurrent: whether the place up to which the history was read is still the one that the caller knows.
  func wait(atMost limit: Duration, while isCurrent: (NSPersistentHistoryToken) -> Bool) async {
    let number = state.withLock { state in
      state.lastWaiter += 1
      return state.lastWaiter
    }
    let timer = Task {
      try await Task.sleep(for: limit)
      wake(number)
    }
    defer { timer.cancel() }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let waits = state.withLock { state in
          guard isCurrent(state.log.end), !state.isFinished else { return false }
          state.waiters[number] = continuation
          return true
        }
        if !waits { continuation.resume() }
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
