import CoreDataEvolution
import Metrics
import PackageModel

#if PostgreSQL
  import CDEPostgreSQL
#endif

/// The service's store: requests read and write it here, each in a context of its own.
///
/// A new context costs microseconds and knows no object. So a request sees all that was committed before it, on whichever machine,
/// and its objects are freed with it.
final class ServiceStore: Sendable {
  let container: NSPersistentContainer
  let reading: Admission
  let writing: Admission
  private let readTime: Timeouts

  /// Opens the store, and migrates it first if it is of an older model.
  ///
  /// - Throws: what kept the store from opening.
  init(_ configuration: ServiceConfiguration, metrics: any MetricsFactory) throws {
    container = try PackageStore.load(configuration.place) { description in
      description.timeout = configuration.lockTime / .seconds(1)
      description.shouldMigrateStoreAutomatically = configuration.migrates
      #if PostgreSQL
        if case .server = configuration.place {
          // Beside the requests: the history, the check of health, the connection that hears of commits.
          let connections = configuration.connections ?? configuration.readers + configuration.writers + 4
          description.setOption(connections as NSNumber, forKey: CDEPostgreSQLPoolSizeOption)
          // The server ends what no request waits for any more.
          description.setOption(
            configuration.readTime / .seconds(1) as NSNumber, forKey: CDEPostgreSQLStatementTimeoutOption)
          description.setOption("package-service", forKey: CDEPostgreSQLApplicationNameOption)
        }
      #endif
    }
    readTime = Timeouts(after: configuration.readTime + configuration.queueTime)
    reading = Admission(
      "read", limit: configuration.readers, queueLimit: configuration.queue,
      patience: configuration.queueTime,
      metrics: metrics)
    writing = Admission(
      "write", limit: configuration.writers, queueLimit: configuration.queue,
      patience: configuration.queueTime, metrics: metrics)
  }

  /// Reads in a new context.
  ///
  /// - Throws: ``Admission/Refusal``, ``TimedOut``, and the errors of the work.
  func read<Value: Sendable>(
    _ work: @escaping @Sendable (NSManagedObjectContext) throws -> Value
  ) async throws -> Value {
    try await reading.run(within: readTime) { [container] in
      let context = container.newBackgroundContext()
      return try await context.perform { try work(context) }
    }
  }

  /// Changes and saves objects in a new context. The work saves.
  ///
  /// A save that has begun is waited for, because its client has to learn whether it happened.
  ///
  /// - Throws: ``Admission/Refusal``, and the errors of the work.
  func write<Value: Sendable>(
    _ work: @escaping @Sendable (NSManagedObjectContext) throws -> Value
  ) async throws -> Value {
    try await writing.run { [container] in
      let context = container.newBackgroundContext()
      context.transactionAuthor = "service"
      return try await context.perform { try work(context) }
    }
  }

  /// Asks the store for the least, beside all requests.
  ///
  /// - Throws: what keeps the store from answering.
  func check() async throws {
    try await onOwnThread(within: .seconds(1)) { [container] in
      let context = container.newBackgroundContext()
      try await context.perform {
        let request = Section.fetchRequest()
        request.fetchLimit = 1
        request.resultType = .managedObjectIDResultType
        _ = try context.count(for: request)
      }
    }
  }

  /// Purges the history of all that is older.
  func purgeHistory(olderThan age: Duration) async throws {
    try await onOwnThread { [container] in
      let context = container.newBackgroundContext()
      let date = Date(timeIntervalSinceNow: -(age / .seconds(1)))
      try await context.perform {
        _ = try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: date))
      }
    }
  }

  /// Closes the store. All requests have to be answered before.
  func close() async throws {
    try await onOwnThread { [container] in
      let coordinator = container.persistentStoreCoordinator
      for store in coordinator.persistentStores { try coordinator.remove(store) }
    }
  }
}
