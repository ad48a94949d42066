import CoreDataEvolution
import PackageModel
import Testing

@testable import ServiceKit

#if PostgreSQL
  @Suite(
    "A server that fails", .timeLimit(.minutes(10)), .enabled(if: Engine.server != nil, "No server is named.")
  )
  struct ServerFaultTests {
    @Test(
      "Requests that hold all connections for too long are answered by 504 or 503, and the service is used again within a second"
    )
    func pool() async throws {
      try await TestService.run(
        .postgresql,
        {
          $0.readers = 8
          $0.connections = 4
          $0.readTime = .milliseconds(300)
          $0.queueTime = .milliseconds(100)
        }
      ) { service in
        try await service.makePackage("a")
        guard case .server(_, let schema) = service.place else { return }
        let lock = try await TableLock("\(schema).\"ZPACKAGE\"")
        let replies = try await withThrowingTaskGroup(of: HTTPConnection.Reply.self) { group in
          for _ in 0..<24 { group.addTask { try await service.send("GET", "/packages/a") } }
          return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(replies.map(\.status)) == [503, 504])
        #expect(
          Set(try replies.map { try $0.json()["code"] as? String ?? "" }) == ["overloaded", "timeout"])
        let live = try await service.send("GET", "/health/live")
        #expect(live.status == 200)
        try await lock.release()
        try await Self.recovers(service.port, "/packages/a")
      }
    }

    @Test("A service whose server does not answer a request ends nevertheless, with an error")
    func overdue() async throws {
      let place = Engine.postgresql.newPlace()
      defer { place.remove() }
      let service = try await ServiceProcess(
        place, ["--drain-time", "1", "--lock-time", "600000", "--read-time", "600000"])
      let made = try await HTTPConnection(port: service.port).send("POST", "/packages", [:], #"{"name":"a"}"#)
      #expect(made.status == 201)
      guard case .server(_, let schema) = place else { return }
      let lock = try await TableLock("\(schema).\"ZPACKAGE\"")
      let request = Task { try await HTTPConnection(port: service.port).send("GET", "/packages/a").status }
      try await lock.waitForOther()
      service.signal(SIGTERM)
      #expect(await service.status() == 1)
      #expect((try? await request.value) != 200)
      try await lock.release()
    }

    /// A session of another program that locks a table.
    private struct TableLock {
      private let process = Process()
      private let input = Pipe()
      private let output = Pipe()

      private let table: String

      init(_ table: String) async throws {
        self.table = table
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["psql", "-qAt", Engine.server!.absoluteString]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        try await send("BEGIN; LOCK TABLE \(table)")
      }

      /// Waits until another session waits for the lock.
      func waitForOther() async throws {
        try await send(
          "DO $$ BEGIN WHILE NOT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND relation = '\(table)'::regclass) "
            + "LOOP PERFORM pg_sleep(0.01); END LOOP; END $$")
      }

      func release() async throws {
        try await send("ROLLBACK")
        process.terminate()
      }

      /// Sends statements, and waits until they are done.
      private func send(_ statements: String) async throws {
        input.fileHandleForWriting.write(Data("\(statements); SELECT 1;\n".utf8))
        let answer = try await onOwnThread { [output] in output.fileHandleForReading.readData(ofLength: 2) }
        try #require(answer == Data("1\n".utf8))
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
        #expect(try await HTTPConnection(port: service.port).send("GET", "/events").status == 503)
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
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
          .appendingPathComponent("../../../../lib/postgresql").standardized
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        // The server inherits what tells of the script's end, so that the script has to say it.
        process.arguments = ["-c", #""$0" "$1" 2>/dev/null; echo done"#, script.path, command]
        process.environment = ProcessInfo.processInfo.environment.merging(["CDE_POSTGRESQL_FOLDER": folder]) {
          $1
        }
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        return try await onOwnThread {
          var text = Data()
          while !text.suffix(5).elementsEqual("done\n".utf8),
            case let byte = output.fileHandleForReading.readData(ofLength: 1), !byte.isEmpty
          {
            text.append(byte)
          }
          return String(decoding: text.dropLast(5), as: UTF8.self)
        }
      }
    }
  }
#endif
