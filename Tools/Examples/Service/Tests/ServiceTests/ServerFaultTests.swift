import CoreDataEvolution
import PackageModel
import Testing

@testable import ServiceKit

#if PostgreSQL
  @Suite(
    "A server that fails", .timeLimit(.minutes(10)), .enabled(if: Engine.server != nil, "No server is named.")
  )
  struct ServerFaultTests {
    @Test("A pool without a free connection is answered by 504, and the next request after that succeeds")
    func pool() async throws {
      try await TestService.run(
        .postgresql,
        {
          $0.connections = 6; $0.readTime = .milliseconds(300)
        }
      ) { service in
        try await service.makePackage("a")
        var pins: [NSManagedObjectContext] = []
        let container = service.service.store.container
        var reply: HTTPConnection.Reply
        repeat {
          // Each pinned state keeps a connection of its own.
          if pins.count < 10 {
            let pin = container.newBackgroundContext()
            pins.append(pin)
            Task { try await Self.pin(pin) }
          }
          reply = try await service.send("GET", "/packages/a")
        } while reply.status == 200
        #expect(reply.status == 504)
        #expect(try reply.json()["code"] as? String == "timeout")
        #expect(try await service.send("GET", "/health/live").status == 200)
        for pin in pins { try await pin.perform { try pin.setQueryGenerationFrom(nil) } }
        pins = []
        try await Self.recovers(service.port, "/packages/a")
      }
    }

    private static func pin(_ context: NSManagedObjectContext) async throws {
      try await context.perform {
        try context.setQueryGenerationFrom(.current)
        _ = try context.count(for: NSFetchRequest<Package>(entityName: "Package"))
      }
    }

    /// Asks until the answer is 200, and fails if that takes longer than a second.
    private static func recovers(_ port: Int, _ path: String) async throws {
      let start = ContinuousClock.now
      while try await HTTPConnection(port: port).send("GET", path).status != 200 {
        try #require(ContinuousClock.now - start < .seconds(30))
      }
      #expect(ContinuousClock.now - start < .seconds(1))
    }

    @Test(
      "A server that is killed under load is answered by 503 or 504, loses nothing acknowledged, and is used again within a second",
      .enabled(
        if: ProcessInfo.processInfo.environment["CDE_SERVICE_FAULTS"] != nil, "CDE_SERVICE_FAULTS is not set."
      ))
    func restart() async throws {
      let server = try await OwnServer()
      let place = IndexPlace.server(server.url, schema: "packages")
      let service = try await ServiceProcess(place)
      let names = Names()
      for _ in 1...3 {
        let load = Task { await Self.load(service.port, names) }
        await names.wait(for: names.acknowledged.count + 50)
        try await server.run("kill")
        // Until an answer says so.
        await names.waitForRefusal()
        try await server.run("restart")
        try await Self.recovers(service.port, "/packages?limit=1")
        load.cancel()
        await load.value
      }
      for code in await names.codes { #expect(["store", "timeout", "busy", "overloaded"].contains(code)) }
      let connection = try HTTPConnection(port: service.port)
      for name in await names.acknowledged {
        #expect(try await connection.send("GET", "/packages/\(name)").status == 200)
      }
      service.signal(SIGTERM)
      #expect(await service.status() == 0)
      try await server.run("stop")
    }

    /// Makes packages until the task is cancelled.
    private static func load(_ port: Int, _ names: Names) async {
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<4 {
          group.addTask {
            while !Task.isCancelled {
              let name = UUID().uuidString
              guard let connection = try? HTTPConnection(port: port),
                let reply = try? await connection.send("POST", "/packages", [:], #"{"name":"\#(name)"}"#)
              else {
                await Task.yield()
                continue
              }
              if reply.status == 201 {
                await names.acknowledge(name)
              } else {
                await names.refuse((try? reply.json()["code"] as? String) ?? "\(reply.status)")
              }
            }
          }
        }
      }
    }

    private actor Names {
      private(set) var acknowledged: Set<String> = []
      private(set) var codes: Set<String> = []
      private var waiters:
        [(isReached: @Sendable (Int) -> Bool, continuation: CheckedContinuation<Void, Never>)] = []
      private var refusalWaiters: [CheckedContinuation<Void, Never>] = []

      func acknowledge(_ name: String) {
        acknowledged.insert(name)
        let count = acknowledged.count
        for waiter in waiters where waiter.isReached(count) { waiter.continuation.resume() }
        waiters.removeAll { $0.isReached(count) }
      }

      func refuse(_ code: String) {
        codes.insert(code)
        for waiter in refusalWaiters { waiter.resume() }
        refusalWaiters = []
      }

      func wait(for count: Int) async {
        if acknowledged.count >= count { return }
        await withCheckedContinuation { waiters.append(({ $0 >= count }, $0)) }
      }

      func waitForRefusal() async { await withCheckedContinuation { refusalWaiters.append($0) } }
    }

    /// A server of the test's own, which may be killed.
    private struct OwnServer {
      private let folder = "/tmp/cde-service-\(ProcessInfo.processInfo.processIdentifier)"
      private(set) var url = URL(fileURLWithPath: "/")

      init() async throws {
        let text = try await run("start")
        url = try #require(URL(string: text.trimmingCharacters(in: .whitespacesAndNewlines)))
      }

      @discardableResult
      func run(_ command: String) async throws -> String {
        let process = Process()
        let tools = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        process.executableURL = tools.appendingPathComponent("../../../../lib/postgresql").standardized
        process.arguments = [command]
        process.environment = ProcessInfo.processInfo.environment.merging(["CDE_POSTGRESQL_FOLDER": folder]) {
          $1
        }
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        process.terminationHandler = { _ in end.finish() }
        try process.run()
        let text = try await onOwnThread {
          // The server keeps the pipe open, so its end would not come.
          var text = Data()
          while command == "start", text.last != 0x0A,
            case let byte = output.fileHandleForReading.readData(ofLength: 1), !byte.isEmpty
          {
            text.append(byte)
          }
          return String(decoding: text, as: UTF8.self)
        }
        for await _ in ended {}
        return text
      }
    }
  }
#endif
