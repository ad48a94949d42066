#if PostgreSQL
  @_spi(CDE) import CDEExecutors
  @testable import CDEPostgreSQLStore
  @_spi(CDE) import CDESQLiteFaults
  import CDEStore
  @_spi(CDE) import CDEStoreTestKit
  import Foundation
  import Testing

  /// A server whose processes are killed while stores write. `CDE_SERVER_DEATHS` is the number of rounds.
  @Suite(.needsOwnServer, .ownThreads) struct ServerDeathTests {
    @Test(
      "Over deaths of the server, every commit that succeeded is there once, no other is, and observers miss nothing",
      .timeLimit(.minutes(60)))
    func deaths() throws {
      let seed = TestScale.seed
      let rounds = TestScale.number("CDE_SERVER_DEATHS", or: 2)
      let server = try OwnServer()
      // Both stay open over all deaths.
      let store = try PostgreSQLStore(schema: Shop.resolved, configuration: server.configuration())
      let observing = try PostgreSQLStore(
        schema: Shop.resolved, configuration: server.configuration(poolSize: 1))
      let observed = try ObservedCommits(observing)
      let writers = try ["first", "second"].map {
        try LedgerWriter(Ledger(seed: seed, writer: $0), store)
      }
      let check = LedgerCheck(writers.map(\.ledger)) { try server.connection() }
      var random = SplitMix(seed: seed)
      var given: Set<Int64> = []
      var errors: [StoreError.Code: Int] = [:]
      for round in 0..<rounds {
        let comment: Comment = "seed \(seed), round \(round)"
        let progress = DispatchSemaphore(value: 0)
        let restart = FaultProxy.Gate()
        let isRestarted = Lock(false)
        let calls = writers.map { writer in
          SeveralWritersTests.Call { () throws(StoreError) in
            try Self.write(writer, progress, restart) { isRestarted.withLock { $0 } }
          }
        }
        for _ in 0..<Int.random(in: 1...60, using: &random) {
          if progress.wait(timeout: .now() + 30) == .timedOut {
            Issue.record("\(comment): the writers do not go on")
          }
        }
        let reserved = try store.allocateKeys([store.root("Item"): 3])[store.root("Item")]!
        try server.kill()
        try server.restart()
        isRestarted.withLock { $0 = true }
        restart.open()
        for call in calls {
          for code in try call.value.get() { errors[code, default: 0] += 1 }
        }
        try check.check(writers.map(\.last), mayHaveMore: false, comment)
        observed.expect(through: check.historyEnd, comment)
        let keys = [reserved, reserved + 1, reserved + 2] + writers.flatMap { $0.takeKeys() }
        #expect(
          given.isDisjoint(with: keys) && Set(keys).count == keys.count, "\(comment): keys are given twice")
        given.formUnion(keys)
      }
      let statistics = store.statistics()
      print(
        "Killed servers: seed \(seed), \(rounds) deaths, \(check.steps.reduce(0, +)) commits, errors \(errors.map { "\($0.rawValue) \($1)" }), "
          + "\(statistics.lost) connections lost.")
      #expect(statistics.lost >= rounds)
    }

    /// Commits until a commit succeeds after the restart.
    ///
    /// - Returns: the errors that were reported meanwhile. Any other error is thrown.
    static func write(
      _ writer: LedgerWriter, _ progress: DispatchSemaphore, _ restart: FaultProxy.Gate,
      isRestarted: () -> Bool
    ) throws(StoreError) -> [StoreError.Code] {
      var errors: [StoreError.Code] = []
      while true {
        let isLast = isRestarted()
        do throws(StoreError) {
          try writer.step()
          progress.signal()
          if isLast { return errors }
        } catch {
          // All of them say that nothing was written. If it was, the next attempt is a conflict.
          guard [.io, .cannotOpen, .busy].contains(error.code) else { throw error }
          errors.append(error.code)
          restart.pass()
        }
      }
    }

    @Test func `Keys that a caller was given are not given again after the server died`() throws {
      let server = try OwnServer()
      let store = try PostgreSQLStore(schema: Shop.resolved, configuration: server.configuration())
      let root = store.root("Item")
      var last: Int64 = 0
      for _ in 0..<3 {
        let first = try #require(try store.allocateKeys([root: 5])[root])
        #expect(first == last + 1)
        last = first + 4
        try server.kill()
        try server.restart()
      }
    }

    @Test func `A commit that is repeated after a restart takes new keys`() throws {
      let server = try OwnServer()
      let other = try PostgreSQLStore(schema: Shop.resolved, configuration: server.configuration())
      let proxy = try FaultProxy(server.url)
      var configuration = server.configuration(poolSize: 1)
      configuration.url = proxy.url
      let store = try PostgreSQLStore(schema: Shop.resolved, configuration: configuration)
      try store.insert("Tag", [Draft(key: -1)])
      // The statement that takes keys, and the beginning of the next one.
      proxy.arm(nil)
      _ = try store.allocateKeys([store.root("Tag"): 1])
      let length = proxy.disarm().counts[.toServer]!
      proxy.arm(FaultProxy.Plan(fault: .hold, direction: .toServer, offset: length + 1))
      let call = SeveralWritersTests.Call { () throws(StoreError) in
        defer { proxy.cancelHold() }
        return try store.insert("Tag", [Draft(key: -1)])
      }
      proxy.waitUntilHeld()
      try server.kill()
      try server.restart()
      let others = try other.insert("Tag", [Draft(key: -1), Draft(key: -2)])
      proxy.release()
      let own = try call.value.get()
      #expect(Set(own).isDisjoint(with: others))
      #expect(try server.connection().integer(#"SELECT count(*) FROM "ZTAG""#) == 4)
    }
  }
#endif
