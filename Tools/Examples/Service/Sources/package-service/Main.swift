import ArgumentParser
import Foundation
import Logging
import PackageModel
import ServiceKit

/// The program: a service over one store.
@main
struct Main: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "package-service", abstract: "Serves an index of packages as JSON over HTTP.",
    discussion: """
      Options can be given by the environment as well: PACKAGE_SERVICE_PORT for --port, and so on. An option on the command line \
      comes first.
      """,
    subcommands: [Serve.self, Migrate.self], defaultSubcommand: Serve.self)
}

/// Which store is meant.
struct StoreOptions: ParsableArguments {
  @Option(help: "The file of the store. (default: packages.sqlite)") var store: String?
  @Option(help: "The URL of a PostgreSQL database, postgresql://ROLE@HOST/DATABASE, instead of a file.")
  var postgresql: String?
  @Option(help: "The schema with the store's tables in that database. (default: packages)") var schema:
    String?

  func place() throws -> IndexPlace {
    if let text = postgresql ?? Environment.text("postgresql") {
      guard let url = URL(string: text), text.hasPrefix("postgres") else {
        throw ValidationError("\(text.prefix(20))… is no URL of a PostgreSQL database.")
      }
      return .server(url, schema: schema ?? Environment.text("schema") ?? "packages")
    }
    return .file(URL(fileURLWithPath: store ?? Environment.text("store") ?? "packages.sqlite"))
  }
}

/// Options in the environment.
enum Environment {
  static func text(_ option: String) -> String? {
    let name = "PACKAGE_SERVICE_" + option.uppercased().replacingOccurrences(of: "-", with: "_")
    return ProcessInfo.processInfo.environment[name]
  }

  static func number(_ option: String, _ value: Int?, _ range: ClosedRange<Int>) throws -> Int? {
    var value = value
    if value == nil, let text = text(option) {
      guard let number = Int(text) else {
        throw ValidationError("The environment's value of --\(option) is no number.")
      }
      value = number
    }
    guard let value else { return nil }
    guard range.contains(value) else {
      throw ValidationError("--\(option) is a number from \(range.lowerBound) to \(range.upperBound).")
    }
    return value
  }
}

struct Serve: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Serves requests until SIGTERM or SIGINT.")

  @OptionGroup var location: StoreOptions
  @Option(help: "The address to listen on. (default: 127.0.0.1)") var host: String?
  @Option(help: "The port; 0 for any that is free. (default: 8080)") var port: Int?
  @Option(help: "How many requests read the store at once. (default: two for each processor, at least four)")
  var workers: Int?
  @Option(help: "How many requests write to the store at once. (default: 2)") var writers: Int?
  @Option(
    help: "How many connections to a server there are at most. (default: workers, writers, and four more)")
  var connections: Int?
  @Option(help: "How many requests of each kind wait for one of these. (default: 256)") var queue: Int?
  @Option(help: "How many milliseconds they wait before they are answered by 503. (default: 1000)")
  var queueTime: Int?
  @Option(help: "How many milliseconds a request may read before it is answered by 504. (default: 5000)")
  var readTime: Int?
  @Option(
    help:
      "How many milliseconds a save waits for other processes before it is answered by 503. (default: 5000)")
  var lockTime: Int?
  @Option(help: "How many clients follow the events at once. (default: 1000)") var subscribers: Int?
  @Option(help: "For how many hours the events are kept for clients that come back. (default: 168)")
  var historyHours: Int?
  @Option(help: "How many seconds the end of the service waits for running requests. (default: 20)")
  var drainTime: Int?
  @Flag(help: "Refuse a store of an older model, instead of migrating it.") var noMigration = false
  @Option(
    help: "Log messages of this level and above: trace, debug, info, notice, warning, error. (default: info)")
  var logLevel: String?

  func run() async throws {
    var logger = Logger(label: "package-service", factory: { StreamLogHandler.standardError(label: $0) })
    let level = logLevel ?? Environment.text("log-level") ?? "info"
    guard let level = Logger.Level(rawValue: level) else {
      throw ValidationError("There is no log level \(level).")
    }
    logger.logLevel = level
    let configuration = try configured()
    let service = try PackageService(configuration, logger: logger) { port in
      print("Serving \(configuration.place.name) at http://\(configuration.host):\(port)")
      fflush(nil)
    } onOverdue: {
      _exit(1)
    }
    try await service.run()
  }

  private func configured() throws -> ServiceConfiguration {
    var configuration = ServiceConfiguration(place: try location.place())
    configuration.host = host ?? Environment.text("host") ?? configuration.host
    func set<Value>(
      _ path: WritableKeyPath<ServiceConfiguration, Value>, _ option: String, _ value: Int?,
      _ range: ClosedRange<Int>, _ convert: (Int) -> Value
    ) throws {
      if let number = try Environment.number(option, value, range) {
        configuration[keyPath: path] = convert(number)
      }
    }
    try set(\.port, "port", port, 0...65_535) { $0 }
    try set(\.readers, "workers", workers, 1...128) { $0 }
    try set(\.writers, "writers", writers, 1...64) { $0 }
    try set(\.connections, "connections", connections, 2...10_000) { $0 }
    try set(\.queue, "queue", queue, 0...100_000) { $0 }
    try set(\.queueTime, "queue-time", queueTime, 0...600_000) { .milliseconds($0) }
    try set(\.readTime, "read-time", readTime, 1...600_000) { .milliseconds($0) }
    try set(\.lockTime, "lock-time", lockTime, 1...600_000) { .milliseconds($0) }
    try set(\.subscribers, "subscribers", subscribers, 0...1_000_000) { $0 }
    try set(\.historyAge, "history-hours", historyHours, 1...100_000) { .seconds($0 * 3_600) }
    try set(\.drainTime, "drain-time", drainTime, 1...3_600) { .seconds($0) }
    configuration.migrates = !noMigration && Environment.text("no-migration") == nil
    return configuration
  }
}

struct Migrate: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Brings a store to the model of this program, or makes it, and ends.")

  @OptionGroup var location: StoreOptions

  func run() throws {
    let place = try location.place()
    try PackageService.migrate(place)
    print("\(place.name) has the model of this program.")
  }
}
