import CoreDataEvolution
import PackageModel
import Synchronization
import Testing

@testable import ServiceKit

@Suite("Processes: killed, stopped, and several over one store", .timeLimit(.minutes(60)))
struct ProcessTests {
  /// Which packages were acknowledged.
  private actor Acknowledged {
    private(set) var names: Set<String> = []
    private var waiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

    func add(_ name: String) {
      names.insert(name)
      for waiter in waiters where waiter.count <= names.count { waiter.continuation.resume() }
      waiters.removeAll { $0.count <= names.count }
    }

    func wait(for count: Int) async {
      if names.count >= count { return }
      await withCheckedContinuation { waiters.append((count, $0)) }
    }
  }

  /// Makes packages on several connections until the service is gone. Each connection ends with the first answer that is no success.
  ///
  /// - Returns: the statuses of those answers.
  private static func load(_ port: Int, _ prefix: String, _ acknowledged: Acknowledged) async -> [Int] {
    await withTaskGroup(of: Int?.self) { group in
      for client in 0..<4 {
        group.addTask {
          guard let connection = try? HTTPConnection(port: port) else { return nil }
          for number in 0... {
            let name = "\(prefix)-\(client)-\(number)"
            guard let reply = try? await connection.send("POST", "/packages", [:], #"{"name":"\#(name)"}"#)
            else { return nil }
            if reply.status != 201 { return reply.status }
            await acknowledged.add(name)
            if reply.headers["connection"] == "close" { return nil }
          }
          return nil
        }
      }
      return await group.reduce(into: []) { if let status = $1 { $0.append(status) } }
    }
  }

  /// The names of all packages, as another program reads them.
  private static func stored(_ place: IndexPlace) async throws -> Set<String> {
    let container = try PackageStore.load(place) { _ in }
    let context = container.newBackgroundContext()
    return try await context.perform {
      Set(try context.fetch(NSFetchRequest<Package>(entityName: "Package")).map(\.name))
    }
  }

  @Test(
    "A service that is killed while it writes has lost nothing that it acknowledged",
    arguments: Engine.available)
  func killed(_ engine: Engine) async throws {
    let place = engine.newPlace()
    defer { place.remove() }
    let acknowledged = Acknowledged()
    for round in 1...(Int(ProcessInfo.processInfo.environment["CDE_SERVICE_DEATHS"] ?? "") ?? 2) {
      let service = try await ServiceProcess(place)
      async let ended = Self.load(service.port, "r\(round)", acknowledged)
      await acknowledged.wait(for: round * 40)
      service.signal(SIGKILL)
      #expect(await service.status() == SIGKILL)
      _ = await ended
      let names = await acknowledged.names
      #expect(names.subtracting(try await Self.stored(place)).isEmpty)
    }
    let service = try await ServiceProcess(place)
    let connection = try HTTPConnection(port: service.port)
    for name in await acknowledged.names {
      #expect(try await connection.send("GET", "/packages/\(name)").status == 200)
    }
  }

  @Test(
    "A service that is stopped under load answers what it has begun, tells all commits, and ends with status 0",
    arguments: Engine.available)
  func stopped(_ engine: Engine) async throws {
    let place = engine.newPlace()
    defer { place.remove() }
    let service = try await ServiceProcess(place)
    let reader = try await EventReader(port: service.port)
    let acknowledged = Acknowledged()
    async let refusals = Self.load(service.port, "p", acknowledged)
    async let told: Set<String> = {
      var names: Set<String> = []
      while let event = try await reader.next() { names.insert(event.name ?? "") }
      return names
    }()
    await acknowledged.wait(for: 40)
    service.signal(SIGTERM)
    #expect(await service.status() == 0)
    #expect(await refusals.allSatisfy { $0 == 503 })
    let names = await acknowledged.names
    #expect(try await Self.stored(place) == names)
    #expect(try await told == names)
  }

  @Test("Two services over one store tell each other's commits", arguments: Engine.available)
  func two(_ engine: Engine) async throws {
    let place = engine.newPlace()
    defer { place.remove() }
    let services = [try await ServiceProcess(place), try await ServiceProcess(place)]
    let readers = [
      try await EventReader(port: services[0].port), try await EventReader(port: services[1].port),
    ]
    var made: [String] = []
    for number in 0..<10 {
      made.append("p\(number)")
      let connection = try HTTPConnection(port: services[number % 2].port)
      #expect(try await connection.send("POST", "/packages", [:], #"{"name":"p\#(number)"}"#).status == 201)
    }
    for reader in readers {
      var names: [String] = []
      for _ in made { names.append(try await reader.next()?.name ?? "") }
      #expect(names == made)
    }
    // What one has made the other one changes by the tag that the first one gave.
    let first = try HTTPConnection(port: services[0].port)
    let second = try HTTPConnection(port: services[1].port)
    let tag = try #require(try await first.send("GET", "/packages/p0").headers["etag"])
    #expect(try await second.send("PATCH", "/packages/p0", ["If-Match": tag], #"{"name":"q"}"#).status == 200)
    #expect(try await first.send("GET", "/packages/q").status == 200)
    #expect(try await first.send("PATCH", "/packages/q", ["If-Match": tag], #"{"name":"r"}"#).status == 412)
    for service in services {
      service.signal(SIGINT)
      #expect(await service.status() == 0)
    }
  }

  @Test(
    "A client whose service was killed reads on at another one, and at the one that is started again",
    arguments: Engine.available)
  func resumption(_ engine: Engine) async throws {
    let place = engine.newPlace()
    defer { place.remove() }
    let first = try await ServiceProcess(place)
    let second = try await ServiceProcess(place)
    let other = try HTTPConnection(port: second.port)
    let reader = try await EventReader(port: first.port)
    _ = try await other.send("POST", "/packages", [:], #"{"name":"p0"}"#)
    #expect(try await reader.next()?.name == "p0")
    let id = reader.lastID
    first.signal(SIGKILL)
    _ = await first.status()
    for number in 1...5 { _ = try await other.send("POST", "/packages", [:], #"{"name":"p\#(number)"}"#) }
    let again = try await ServiceProcess(place)
    for port in [second.port, again.port] {
      let reader = try await EventReader(port: port, after: id)
      var names: [String?] = []
      for _ in 1...5 { names.append(try await reader.next()?.name) }
      #expect(names == (1...5).map { "p\($0)" })
    }
  }
}
