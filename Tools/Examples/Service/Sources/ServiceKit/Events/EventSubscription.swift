import CoreDataEvolution

/// A client that follows the events, from its place in the history on.
///
/// The client takes what it can send. What it does not take stays in the log or in the history, and needs no memory of its own.
final class EventSubscription: Sendable {
  enum Delivery {
    case entries([EventLog.Entry])
    /// Nothing has happened for a while.
    case silence
    /// The service stops, and everything was delivered.
    case isFinished
    /// Transactions after the place were purged.
    case isGone
  }

  private let feed: EventFeed
  private let generation: Int

  init(_ feed: EventFeed, _ generation: Int) {
    self.feed = feed
    self.generation = generation
  }

  deinit { feed.unsubscribe() }

  /// The place of an event, or of now.
  ///
  /// - Throws: a ``Problem``: 400 for a text that is no place, 410 if events after it are not kept any more; the errors of reading.
  func place(_ text: String?) async throws -> NSPersistentHistoryToken {
    guard let text else { return try await feed.now() }
    guard let token = NSPersistentHistoryToken(stringRepresentation: text) else {
      throw Problem(.badRequest, "history", "The value of Last-Event-ID is the ID of no event.")
    }
    // The log can't tell a place of another history from a later one of this.
    try await feed.store.read { context in
      let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
      request.resultType = .transactionsOnly
      let first = NSPersistentHistoryTransaction.fetchRequest
      first?.fetchLimit = 1
      request.fetchRequest = first
      _ = try context.execute(request)
    }
    return token
  }

  /// Waits for what comes after a place.
  ///
  /// - Throws: the errors of reading the history.
  func next(after token: NSPersistentHistoryToken, atMost limit: Duration) async throws -> Delivery {
    var hasWaited = false
    while true {
      switch feed.find(after: token, generation: generation) {
      case .isFinished: return .isFinished
      case .isGone: return .isGone
      case .log(.entries(let entries)): return .entries(entries)
      case .log(.isBehind): return try await history(after: token)
      case .log(.nothing):
        if hasWaited { return .silence }
        hasWaited = true
        await feed.wait(atMost: limit) { token.compare($0) != .orderedAscending }
        try Task.checkCancellation()
      }
    }
  }

  /// The next transaction, from the history itself.
  private func history(after token: NSPersistentHistoryToken) async throws -> Delivery {
    do {
      let context = feed.store.container.newBackgroundContext()
      var transactions = context.changes(after: token).makeAsyncIterator()
      var entries: [EventLog.Entry] = []
      var size = 0
      // The log begins later, so there is a next one. The log is asked again before the client would wait.
      while size < 1 << 16, entries.count < 64, let transaction = try await transactions.next() {
        let events = try await feed.read(transaction)
        entries.append(EventLog.Entry(token: transaction.token, events: events))
        size += events.reduce(0) { $0 + $1.text.readableBytes }
        guard case .log(.isBehind) = feed.find(after: transaction.token, generation: generation) else {
          break
        }
      }
      try Task.checkCancellation()
      return .entries(entries)
    } catch  where error.isHistoryGone {
      return .isGone
    }
  }
}
