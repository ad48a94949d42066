import CoreDataEvolution
import PackageModel
import Testing

@testable import ServiceKit

@Suite("Events: exactly the changed objects", .timeLimit(.minutes(5)))
struct EventTests {
  @Test("Insertions, changes and deletions are told with the object as it is", arguments: Engine.available)
  func changes(_ engine: Engine) async throws {
    try await TestService.run(engine) { service in
      let reader = try await EventReader(port: service.port)
      #expect(reader.head.headers["content-type"] == "text/event-stream")
      let tag = try #require(try await service.makePackage("bash").headers["etag"])
      let inserted = try #require(try await reader.next())
      #expect(inserted.kind == "insert")
      #expect(inserted.resource == "packages")
      #expect(inserted.name == "bash")
      #expect(inserted.json["etag"] as? String == tag)
      #expect(inserted.json["url"] as? String == "/packages/bash")

      try await service.send("PATCH", "/packages/bash", ["If-Match": tag], #"{"name":"dash"}"#)
      let updated = try #require(try await reader.next())
      #expect(updated.kind == "update")
      #expect(updated.changed == ["name"])
      #expect(updated.name == "dash")
      #expect(updated.json["id"] as? String == inserted.json["id"] as? String)

      // Writes nothing.
      try await service.send("PATCH", "/packages/dash", ["If-Match": "*"], #"{"name":"dash"}"#)
      try await service.send("DELETE", "/packages/dash", ["If-Match": "*"])
      let deleted = try #require(try await reader.next())
      #expect(deleted.kind == "delete")
      #expect(deleted.json["id"] as? String == inserted.json["id"] as? String)
      #expect(deleted.json["object"] is NSNull)
    }
  }

  @Test("A client gets the resources that it names, and no others", arguments: Engine.available)
  func resources(_ engine: Engine) async throws {
    try await TestService.run(engine) { service in
      #expect(try await service.send("GET", "/events?resources=colours").status == 400)
      let reader = try await EventReader(port: service.port, "?resources=versions,sections")
      try await service.makePackage("bash")
      try await service.makeVersion("bash", "5.2")
      try await service.send("POST", "/sections", [:], #"{"name":"libs"}"#)
      try await service.send(
        "PATCH", "/versions/bash%205.2%20amd64", ["If-Match": "*"],
        #"{"section":"libs","dependencies":["bash"],"installedSize":3}"#)
      #expect(try await reader.next()?.object?["key"] as? String == "bash 5.2 amd64")
      #expect(try await reader.next()?.name == "libs")
      let update = try #require(try await reader.next())
      #expect(update.resource == "versions")
      #expect(Set(update.changed ?? []) == ["section", "dependencies", "installedSize"])
      #expect(update.object?["dependencies"] as? [String] == ["bash"])
    }
  }

  @Test(
    "A client that comes back reads on where it was, whichever service wrote meanwhile",
    arguments: Engine.available)
  func resumption(_ engine: Engine) async throws {
    try await TestService.run(engine) { service in
      var place: String?
      do {
        let reader = try await EventReader(port: service.port)
        try await service.makePackage("p0")
        #expect(try await reader.next()?.name == "p0")
        place = reader.lastID
      }
      for number in 1...5 { try await service.makePackage("p\(number)") }
      let reader = try await EventReader(port: service.port, after: place)
      try await service.makePackage("p6")
      var names: [String?] = []
      for _ in 1...6 { names.append(try await reader.next()?.name) }
      #expect(names == (1...6).map { "p\($0)" })
    }
  }

  @Test(
    "Many clients that come and go at random miss nothing and read nothing twice", arguments: Engine.available
  )
  func comingAndGoing(_ engine: Engine) async throws {
    try await TestService.run(engine) { service in
      let start = try #require(try await EventReader(port: service.port).lastID)
      let names = (0..<60).map { "p\($0)" }
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { for name in names { try await service.makePackage(name) } }
        for client in 0..<6 {
          group.addTask {
            var random = SeededRandom(seed: UInt64(client))
            var place = start
            var read: [String] = []
            while read.count < names.count {
              let reader = try await EventReader(port: service.port, after: place)
              for _ in 0..<Int.random(in: 1...20, using: &random) where read.count < names.count {
                read.append(try await reader.next()?.name ?? "")
                place = try #require(reader.lastID)
              }
            }
            #expect(read == names)
          }
        }
        try await group.waitForAll()
      }
    }
  }

  @Test(
    "A place whose history was purged is answered by 410, and text that is no place by 400",
    arguments: Engine.available)
  func expiry(_ engine: Engine) async throws {
    try await TestService.run(engine) { service in
      try await service.makePackage("a")
      let reader = try await EventReader(port: service.port)
      let place = try #require(reader.lastID)
      for name in ["b", "c"] { try await service.makePackage(name) }
      #expect(try await service.send("GET", "/events", ["Last-Event-ID": "nonsense"]).status == 400)
      let container = try PackageStore.load(service.place) { _ in }
      let context = container.newBackgroundContext()
      try await context.perform {
        let request = NSPersistentHistoryChangeRequest.deleteHistory(before: Date(timeIntervalSinceNow: 60))
        _ = try context.execute(request)
      }
      let reply = try await service.send("GET", "/events", ["Last-Event-ID": place])
      #expect(reply.status == 410)
      #expect(try reply.json()["code"] as? String == "history")
    }
  }

  @Test(
    "Without clients no transaction is read, and the next client begins after the last one",
    arguments: Engine.available)
  func idleness(_ engine: Engine) async throws {
    try await TestService.run(engine) { service in
      for name in ["a", "b"] { try await service.makePackage(name) }
      #expect(service.metrics.text.contains("event_transactions_total 0\n"))
      for (before, after) in [("c", "d"), ("e", "f")] {
        try await service.makePackage(before)
        do {
          let reader = try await EventReader(port: service.port)
          try await service.makePackage(after)
          #expect(try await reader.next()?.name == after)
        }
        while !service.metrics.text.contains("event_subscribers 0.0\n") { await Task.yield() }
      }
      // Those with a client, and at most the one that was saved as the second client came.
      let counts = (2...3).map { "event_transactions_total \($0)\n" }
      #expect(counts.contains { service.metrics.text.contains($0) })
    }
  }

  @Test("A bounded log: readers within it, at its end, behind it", arguments: [1, 5, 3_000])
  func log(_ count: Int) async throws {
    let container = try PackageStore.load(Engine.sqlite.newPlace()) { _ in }
    let coordinator = container.persistentStoreCoordinator
    let context = container.newBackgroundContext()
    var tokens: [NSPersistentHistoryToken] = [coordinator.currentPersistentHistoryToken(fromStores: nil)!]
    try await context.perform {
      for _ in 0..<min(count, 1_100) {
        _ = Section(context: context).name = UUID().uuidString
        try context.save()
        context.reset()
        tokens.append(coordinator.currentPersistentHistoryToken(fromStores: nil)!)
      }
    }
    var log = EventLog(start: tokens[0])
    for token in tokens.dropFirst() { log.append(EventLog.Entry(token: token, events: [])) }
    #expect(log.entries.count <= EventLog.entryLimit)
    #expect(log.end == tokens.last)
    guard case .nothing = log.find(after: tokens.last!) else { Issue.record("The end is not found."); return }
    for (index, token) in tokens.enumerated().dropLast() {
      switch log.find(after: token) {
      case .entries(let entries): #expect(entries.first?.token == tokens[index + 1])
      case .isBehind: #expect(token.compare(log.start) == .orderedAscending)
      case .nothing: Issue.record("An entry after \(token) is not found.")
      }
    }
  }
}
