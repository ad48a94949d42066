import CoreDataEvolution
import Logging
import PackageModel
import Testing

@testable import ServiceKit

/// A service within the test's process.
struct TestService: Sendable {
  let port: Int
  let place: IndexPlace
  let metrics: PrometheusMetrics
  let service: PackageService

  /// Runs a service over a new store while the body runs.
  static func run(
    _ engine: Engine, _ configure: @Sendable (inout ServiceConfiguration) -> Void = { _ in },
    _ body: @Sendable (TestService) async throws -> Void
  ) async throws {
    let place = engine.newPlace()
    defer { place.remove() }
    var configuration = ServiceConfiguration(place: place)
    configuration.port = 0
    configure(&configuration)
    let (ports, running) = AsyncStream.makeStream(of: Int.self)
    let metrics = PrometheusMetrics()
    let service = try PackageService(
      configuration, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, metrics: metrics,
      signals: []
    ) { running.yield($0) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        defer { running.finish() }
        try await service.run()
      }
      var iterator = ports.makeAsyncIterator()
      guard let port = await iterator.next() else { return try await group.waitForAll() }
      do {
        try await body(TestService(port: port, place: place, metrics: metrics, service: service))
      } catch {
        await service.stop()
        throw error
      }
      await service.stop()
      try await group.waitForAll()
    }
  }

  func stop() async { await service.stop() }

  /// Sends a request on a connection of its own.
  @discardableResult
  func send(
    _ method: String, _ path: String, _ headers: [String: String] = [:], _ body: String? = nil
  ) async throws -> HTTPConnection.Reply {
    try await HTTPConnection(port: port).send(method, path, headers, body)
  }

  /// Makes a package, and expects success.
  @discardableResult
  func makePackage(_ name: String) async throws -> HTTPConnection.Reply {
    let reply = try await send("POST", "/packages", [:], #"{"name":"\#(name)"}"#)
    #expect(reply.status == 201)
    return reply
  }

  /// Makes a version, and expects success.
  @discardableResult
  func makeVersion(_ package: String, _ number: String, _ more: String = "") async throws
    -> HTTPConnection.Reply
  {
    let reply = try await send(
      "POST", "/versions", [:],
      #"{"package":"\#(package)","number":"\#(number)","architecture":"amd64"\#(more)}"#)
    #expect(reply.status == 201, "\(String(decoding: reply.body, as: UTF8.self))")
    return reply
  }
}
