import CoreDataEvolution
import PackageModel
import SystemSQLite
import Testing

@testable import ServiceKit

@Suite("Operation: overload, locks, health, the end", .timeLimit(.minutes(5)))
struct OperationTests {
  @Test("Overload is answered at once by 503, and the service recovers", arguments: Engine.available)
  func overload(_ engine: Engine) async throws {
    try await TestService.run(
      engine,
      {
        $0.writers = 1; $0.queue = 0
      }
    ) { service in
      let writing = service.service.store.writing
      try await writing.enter()
      let refused = try await service.send("POST", "/packages", [:], #"{"name":"a"}"#)
      #expect(refused.status == 503)
      #expect(refused.headers["retry-after"] == "1")
      #expect(try refused.json()["code"] as? String == "overloaded")
      // Requests of the other kind have places of their own.
      #expect(try await service.send("GET", "/packages").status == 200)
      writing.leave()
      try await service.makePackage("a")
      #expect(service.metrics.text.contains("store_work_refused_total{kind=\"write\"} 1\n"))
    }
  }

  @Test("A request that waits is answered when there is a place, or by 503 when it has waited too long")
  func waiting() async throws {
    try await TestService.run(
      .sqlite,
      {
        $0.writers = 1; $0.queue = 1; $0.queueTime = .milliseconds(50)
      }
    ) { service in
      let writing = service.service.store.writing
      try await writing.enter()
      #expect(try await service.send("POST", "/packages", [:], #"{"name":"a"}"#).status == 503)
      writing.leave()
      try await service.makePackage("a")
    }
    try await TestService.run(
      .sqlite,
      {
        $0.writers = 1; $0.queue = 1; $0.queueTime = .seconds(60)
      }
    ) { service in
      let writing = service.service.store.writing
      try await writing.enter()
      async let made = service.send("POST", "/packages", [:], #"{"name":"a"}"#)
      while !service.metrics.text.contains("store_work_waiting{kind=\"write\"} 1.0\n") { await Task.yield() }
      writing.leave()
      #expect(try await made.status == 201)
    }
  }

  @Test("A read that takes longer than it may is answered by 504, and keeps its place until it has ended")
  func slowReads() async throws {
    try await TestService.run(
      .sqlite,
      {
        $0.readTime = .milliseconds(50); $0.readers = 1; $0.queue = 0
      }
    ) { service in
      let store = service.service.store
      let isReleased = DispatchSemaphore(value: 0)
      await #expect(throws: TimedOut.self) { try await store.read { _ in isReleased.wait() } }
      #expect(try await service.send("GET", "/packages").status == 503)
      isReleased.signal()
      try await store.reading.enterEventually()
      store.reading.leave()
      #expect(try await service.send("GET", "/packages").status == 200)
    }
  }

  @Test("A file that another program has locked is answered by 503, and the next request after that succeeds")
  func lock() async throws {
    try await TestService.run(.sqlite, { $0.lockTime = .milliseconds(100) }) { service in
      guard case .file(let url) = service.place else { return }
      var database: OpaquePointer?
      #expect(sqlite3_open(url.path, &database) == SQLITE_OK)
      defer { sqlite3_close(database) }
      #expect(sqlite3_exec(database, "BEGIN IMMEDIATE", nil, nil, nil) == SQLITE_OK)
      let refused = try await service.send("POST", "/packages", [:], #"{"name":"a"}"#)
      #expect(refused.status == 503)
      #expect(refused.headers["retry-after"] == "1")
      #expect(try refused.json()["code"] as? String == "busy")
      #expect(try await service.send("GET", "/packages").status == 200)
      #expect(sqlite3_exec(database, "ROLLBACK", nil, nil, nil) == SQLITE_OK)
      try await service.makePackage("a")
    }
  }

  @Test("Health tells a living process from one that may get requests", arguments: Engine.available)
  func health(_ engine: Engine) async throws {
    try await TestService.run(engine) { service in
      for path in ["/health/live", "/health/ready"] {
        let reply = try await service.send("GET", path)
        #expect(reply.status == 200)
      }
    }
  }

  @Test("While the service stops, running work ends, new work is refused, and events come to their end")
  func draining() async throws {
    try await TestService.run(.sqlite) { service in
      let writing = service.service.store.writing
      let reader = try await EventReader(port: service.port)
      let connection = try HTTPConnection(port: service.port)
      #expect(try await connection.send("GET", "/health/ready").status == 200)
      try await writing.enter()
      await service.stop()
      while try await service.send("GET", "/health/ready").status == 200 {}
      #expect(try await service.send("GET", "/health/live").status == 200)
      let refused = try await service.send("POST", "/packages", [:], #"{"name":"b"}"#)
      #expect(refused.status == 503)
      #expect(refused.headers["connection"] == "close")
      #expect(try refused.json()["code"] as? String == "stopping")
      // Work that was admitted before commits now.
      let context = service.service.store.container.newBackgroundContext()
      try await context.perform {
        Package(context: context).name = "a"
        try context.save()
      }
      writing.leave()
      #expect(try await reader.next()?.name == "a")
      #expect(try await reader.next() == nil)
    }
  }

  @Test("Metrics count requests by route and status, and measure their time")
  func metrics() async throws {
    try await TestService.run(.sqlite) { service in
      try await service.makePackage("a")
      for _ in 0..<3 { try await service.send("GET", "/packages/a") }
      try await service.send("GET", "/packages/b")
      let reader = try await EventReader(port: service.port)
      let text = String(decoding: try await service.send("GET", "/metrics").body, as: UTF8.self)
      let route = #"{method="GET",route="/packages/{key}",status="200"}"#
      #expect(text.contains("# TYPE http_request_seconds histogram\n"))
      #expect(text.contains("http_request_seconds_count\(route) 3\n"))
      #expect(
        text.contains(#"http_request_seconds_count{method="GET",route="/packages/{key}",status="404"} 1"#))
      #expect(text.contains("event_subscribers 1.0\n"))
      withExtendedLifetime(reader) {}
    }
  }

  @Test("As many clients follow the events as may, and a place is free again when one has gone")
  func subscribers() async throws {
    try await TestService.run(.sqlite, { $0.subscribers = 1 }) { service in
      do {
        let first = try await EventReader(port: service.port)
        #expect(first.head.status == 200)
        #expect(try await EventReader(port: service.port).head.status == 503)
      }
      while try await EventReader(port: service.port).head.status == 503 {}
    }
  }

  @Test("A histogram's buckets count what is at most as large as their bound")
  func histogram() {
    let metrics = PrometheusMetrics()
    let timer = metrics.makeTimer(label: "work.time", dimensions: [("kind", "a\"b")])
    for milliseconds: Int64 in [1, 2, 30, 20_000] { timer.recordNanoseconds(milliseconds * 1_000_000) }
    let lines = metrics.text.split(separator: "\n").map(String.init)
    #expect(lines.first == "# TYPE work_time_seconds histogram")
    for line in [
      #"work_time_seconds_bucket{kind="a\"b",le="0.0005"} 0"#,
      #"work_time_seconds_bucket{kind="a\"b",le="0.001"} 1"#,
      #"work_time_seconds_bucket{kind="a\"b",le="0.0025"} 2"#,
      #"work_time_seconds_bucket{kind="a\"b",le="10.0"} 3"#,
      #"work_time_seconds_bucket{kind="a\"b",le="+Inf"} 4"#, #"work_time_seconds_count{kind="a\"b"} 4"#,
      #"work_time_seconds_sum{kind="a\"b"} 20.033"#,
    ] { #expect(lines.contains(line), "\(line)") }
  }
}

extension Admission {
  /// Enters as soon as there is a place.
  fileprivate func enterEventually() async throws {
    while true {
      do { return try await enter() } catch Refusal.queueIsFull { await Task.yield() }
    }
  }
}
