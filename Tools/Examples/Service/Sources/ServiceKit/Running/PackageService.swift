import CoreDataEvolution
import Hummingbird
import Logging
import Metrics
import PackageModel
import ServiceLifecycle
import UnixSignals

/// The service: a store, the requests for its objects, and the stream of their changes.
public struct PackageService: Sendable {
  private let group: ServiceGroup
  let store: ServiceStore

  /// Opens the store, and migrates it first if it is of an older model.
  ///
  /// - Parameters:
  ///   - signals: those that end the service.
  ///   - onRunning: is told the port when the service accepts connections.
  ///   - onOverdue: is called if the service has not ended within three times the configuration's `drainTime` after it was told to,
  ///     for example because a server does not answer. Requests without an answer are lost then.
  /// - Throws: what kept the store from opening.
  public init(
    _ configuration: ServiceConfiguration, logger: Logger, metrics: PrometheusMetrics = PrometheusMetrics(),
    signals: [UnixSignal] = [.sigterm, .sigint],
    onRunning: @escaping @Sendable (Int) async -> Void = { _ in },
    onOverdue: @escaping @Sendable () -> Void = {}
  ) throws {
    store = try ServiceStore(configuration, metrics: metrics)
    let feed = try EventFeed(
      store, subscriberLimit: configuration.subscribers, logger: logger, metrics: metrics)
    let drain = Drain(store, feed, within: configuration.drainTime, logger: logger, onOverdue: onOverdue)
    let router = Router(context: BasicRequestContext.self, options: .autoGenerateHeadEndpoints)
    router.add(middleware: MetricsMiddleware(metrics: metrics))
    router.add(middleware: DrainMiddleware(drain: drain))
    router.add(middleware: ProblemMiddleware())
    ResourceRoutes<Package>(store: store).add(to: router)
    ResourceRoutes<Version>(store: store).add(to: router)
    ResourceRoutes<Section>(store: store).add(to: router)
    ResourceRoutes<Maintainer>(store: store).add(to: router)
    EventRoutes(feed: feed, heartbeat: configuration.heartbeat).add(to: router)
    OperationRoutes(store: store, drain: drain, metrics: metrics).add(to: router)
    let server = Application(
      router: router,
      // A client that is silent between requests is disconnected.
      server: .http1(configuration: .init(idleTimeout: .seconds(75))),
      configuration: ApplicationConfiguration(
        address: .hostname(configuration.host, port: configuration.port), serverName: "package-service",
        backlog: 1_024),
      onServerRunning: { channel in await onRunning(channel.localAddress?.port ?? 0) },
      logger: logger)
    // A group ends its services in the opposite order.
    let services: [any Service] = [
      StoreCloser(store: store, logger: logger),
      HistoryKeeper(store: store, age: configuration.historyAge, logger: logger), feed, server, drain,
    ]
    var parts = ServiceGroupConfiguration(
      services: services.map { .init(service: $0, successTerminationBehavior: .gracefullyShutdownGroup) },
      gracefulShutdownSignals: signals, logger: logger)
    parts.maximumGracefulShutdownDuration = configuration.drainTime * 2
    group = ServiceGroup(configuration: parts)
  }

  /// Serves requests until a signal, or the cancellation of the task, ends the service.
  ///
  /// - Throws: what ended it early, such as a port that is in use.
  public func run() async throws { try await group.run() }

  /// Ends the service as a signal does.
  public func stop() async { await group.triggerGracefulShutdown() }

  /// Migrates the store to the service's model, or makes it.
  ///
  /// - Throws: what kept the store from opening. Then it is as it was.
  public static func migrate(_ place: IndexPlace) throws {
    let container = try PackageStore.load(place) { _ in }
    let coordinator = container.persistentStoreCoordinator
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }
}
