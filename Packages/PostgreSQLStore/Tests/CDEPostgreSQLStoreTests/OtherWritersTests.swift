#if PostgreSQL
  @_spi(CDE) import CDEExecutors
  @testable import CDEPostgreSQLStore
  import CDEStore
  @_spi(CDE) import CDEStoreTestKit
  import Foundation
  import Testing

  @Suite(.needsServer, .ownThreads) struct OtherWritersTests {
    let place = TestSchema()
    let store: PostgreSQLStore
    let other: PostgreSQLStore

    init() throws {
      var configuration = place.configuration()
      configuration.tracksHistory = true
      other = try PostgreSQLStore(schema: HistoryTests.schema, configuration: configuration)
      configuration.applicationName = place.name
      store = try PostgreSQLStore(schema: HistoryTests.schema, configuration: configuration)
    }

    /// What an observer was told.
    private final class Reports: Sendable {
      let numbers = Lock<[Int64]>([])
      let afterwards = Lock(0)
      let arrival = DispatchSemaphore(value: 0)

      func handle(_ commits: StoreForeignCommits) -> @Sendable () -> Void {
        numbers.withLock { $0 += (commits.transactions ?? []).map(\.number) }
        return { [self] in
          afterwards.withLock { $0 += 1 }
          arrival.signal()
        }
      }

      /// Waits until a number was reported.
      func wait(for number: Int64) {
        while numbers.withLock({ $0.last ?? 0 }) < number {
          if arrival.wait(timeout: .now() + 10) == .timedOut {
            Issue.record("Transaction \(number) was not reported")
            return
          }
        }
      }
    }

    @Test func `Commits of another store are reported, and own ones are not`() throws {
      let reports = Reports()
      try other.insert("Label", [Draft(key: -1)])
      #expect(try store.observeOthers { reports.handle($0) } == nil)
      try store.insert("Label", [Draft(key: -1)])
      try other.insert("Label", [Draft(key: -1)])
      reports.wait(for: 3)
      try store.insert("Label", [Draft(key: -1)])
      try other.insert("Label", [Draft(key: -1)])
      reports.wait(for: 5)
      // The first was committed before the observation began.
      #expect(reports.numbers.withLock { $0 } == [3, 5])
      waitUntil("Not all blocks ran afterwards") { reports.afterwards.withLock { $0 } == 2 }
    }

    @Test func `A report contains the changes`() throws {
      let found = Lock<[StoreHistoryTransaction]>([])
      let arrival = DispatchSemaphore(value: 0)
      _ = try store.observeOthers { commits in
        found.withLock { $0 += commits.transactions ?? [] }
        return { arrival.signal() }
      }
      try other.commit {
        $0.inserted = [other.batch("Label", [Draft(key: 7)])]
        $0.author = "other"
      }
      #expect(arrival.wait(timeout: .now() + 10) == .success)
      #expect(found.withLock { $0.map(\.author) } == ["other"])
      #expect(found.withLock { $0.flatMap(\.changes).map(\.key) } == [7])
    }

    @Test func `All commits of three writers are reported in their order`() throws {
      let reports = Reports()
      _ = try store.observeOthers { reports.handle($0) }
      let configuration = other.configuration
      let stores = try (0..<3).map { _ in
        try PostgreSQLStore(schema: HistoryTests.schema, configuration: configuration)
      }
      DispatchQueue.concurrentPerform(iterations: 4) { [store] writer in
        for _ in 0..<25 { _ = try? (writer < 3 ? stores[writer] : store).insert("Label", [Draft(key: -1)]) }
      }
      try other.insert("Label", [Draft(key: -1)])
      reports.wait(for: 101)
      let numbers = reports.numbers.withLock { $0 }
      #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count)
      #expect(numbers.count == 76)
    }

    @Test func `Commits are reported although the observer's connection was killed`() throws {
      let reports = Reports()
      _ = try store.observeOthers { reports.handle($0) }
      let connection = try place.connection()
      for round in 1...Int64(3) {
        // All connections of the store, the observer's among them.
        _ = try connection.texts(
          "SELECT pg_terminate_backend(pid, 10000)::text FROM pg_stat_activity WHERE application_name = '\(place.name)'"
        )
        try other.insert("Label", [Draft(key: -1)])
        reports.wait(for: round)
      }
      #expect(reports.numbers.withLock { $0 } == [1, 2, 3])
    }

    @Test func `After closing, the observer's connection ends`() throws {
      let reports = Reports()
      _ = try store.observeOthers { reports.handle($0) }
      let connection = try place.connection()
      let count = "SELECT count(*) FROM pg_stat_activity WHERE application_name = '\(place.name)'"
      #expect(try connection.integer(count) >= 2)
      try store.close()
      try waitUntil("Connections are left") { try connection.integer(count) == 0 }
      try other.insert("Label", [Draft(key: -1)])
      #expect(reports.numbers.withLock { $0 } == [])
    }

    @Test func `Without a history the reason is returned`() throws {
      let store = try PostgreSQLStore(schema: HistoryTests.schema, configuration: place.configuration())
      #expect(try store.observeOthers { _ in {} }?.contains("tracksHistory") == true)
    }
  }
#endif
