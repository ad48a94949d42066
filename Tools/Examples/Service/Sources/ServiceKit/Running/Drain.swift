import Logging
import ServiceLifecycle
import Synchronization

/// The first part of the service's end: it stops work in an order that loses nothing.
///
/// 1. New requests for the store are answered by 503; so is the question whether the service is ready.
/// 2. Requests that run or wait are answered.
/// 3. Clients that follow the events are told of the last commits. Then their streams end.
///
/// Then the server closes its connections, and the store is closed.
final class Drain: Service {
  private let store: ServiceStore
  private let feed: EventFeed
  private let limit: Duration
  private let logger: Logger
  private let onOverdue: @Sendable () -> Void
  private let begun = Atomic<Bool>(false)

  init(
    _ store: ServiceStore, _ feed: EventFeed, within limit: Duration, logger: Logger,
    onOverdue: @escaping @Sendable () -> Void
  ) {
    self.store = store
    self.feed = feed
    self.limit = limit
    self.logger = logger
    self.onOverdue = onOverdue
  }

  /// Whether the service is stopping.
  var hasBegun: Bool { begun.load(ordering: .relaxed) }

  func run() async throws {
    try await gracefulShutdown()
    begun.store(true, ordering: .relaxed)
    logger.info("The service stops.")
    watch()
    async let writes: Void = store.writing.close()
    async let reads: Void = store.reading.close()
    _ = await (writes, reads)
    await feed.finish(within: limit)
    logger.info("All requests are answered, and all commits announced.")
  }

  /// A server that is silent keeps a request, and the connection that it uses, for minutes. Nothing within the process ends that.
  private func watch() {
    let end = limit * 3
    Task.detached { [logger, onOverdue] in
      try await Task.sleep(for: end)
      logger.error("The service did not end in time. Requests without an answer are given up.")
      onOverdue()
    }
  }
}

/// Purges the history of what no client needs any more.
struct HistoryKeeper: Service {
  let store: ServiceStore
  let age: Duration
  let logger: Logger

  func run() async throws {
    await cancelWhenGracefulShutdown {
      while !Task.isCancelled {
        do { try await store.purgeHistory(olderThan: age) } catch {
          logger.warning("The history was not purged.", metadata: ["error": "\(error)"])
        }
        try? await Task.sleep(for: .seconds(3_600))
      }
    }
  }
}

/// Closes the store as the last part of the service's end.
struct StoreCloser: Service {
  let store: ServiceStore
  let logger: Logger

  func run() async throws {
    try await gracefulShutdown()
    try await store.close()
    logger.info("The store is closed.")
  }
}
