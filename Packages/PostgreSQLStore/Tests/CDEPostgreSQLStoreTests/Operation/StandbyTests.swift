#if PostgreSQL
  @_spi(CDE) import CDEExecutors
  @testable import CDEPostgreSQLStore
  @_spi(CDE) import CDESQLiteFaults
  import CDEStore
  @_spi(CDE) import CDEStoreTestKit
  import Foundation
  import Testing

  /// A server that follows another one, and takes over when that one dies. Each commit waits until the follower has it. `CDE_TAKEOVERS`
  /// is the number of rounds.
  @Suite(.needsOwnServer) struct StandbyTests {
    /// Lets commits of a server wait for its follower, or for none.
    private func waitForFollowers(_ names: String, on server: OwnServer) throws {
      let connection = try server.connection()
      try connection.execute("ALTER SYSTEM SET synchronous_standby_names = '\(names)'", while: "Testing")
      try connection.execute("SELECT pg_reload_conf()", while: "Testing")
      if names.isEmpty { return }
      try waitUntil("The follower does not arrive") {
        try server.connection().texts("SELECT sync_state FROM pg_stat_replication") == ["sync"]
      }
    }

    private func configuration(_ servers: [OwnServer], poolSize: Int = 4) -> PostgreSQLConfiguration {
      let hosts = servers.map(\.folder).joined(separator: ",")
        .addingPercentEncoding(withAllowedCharacters: .alphanumerics)!
      var configuration = PostgreSQLConfiguration(
        url: "postgresql://postgres@/postgres?host=\(hosts)&target_session_attrs=read-write", schema: "own",
        poolSize: poolSize)
      configuration.tracksHistory = true
      return configuration
    }

    @Test(
      "When a follower takes over, every commit that succeeded is there once, no other is, and observers miss nothing",
      .timeLimit(.minutes(30)))
    func takeovers() throws {
      let seed = TestScale.seed
      let rounds = TestScale.number("CDE_TAKEOVERS", or: 1)
      var random = SplitMix(seed: seed)
      for round in 0..<rounds {
        let comment: Comment = "seed \(seed), round \(round)"
        let primary = try OwnServer()
        let follower = try OwnServer(following: primary)
        try waitForFollowers("*", on: primary)
        // Both stay open when the other server takes over.
        let store = try PostgreSQLStore(
          schema: Shop.resolved, configuration: configuration([primary, follower]))
        let observing = try PostgreSQLStore(
          schema: Shop.resolved, configuration: configuration([primary, follower], poolSize: 1))
        let observed = try ObservedCommits(observing)
        let writers = try ["first", "second"].map {
          try LedgerWriter(Ledger(seed: seed &+ UInt64(round), writer: $0), store)
        }
        let progress = DispatchSemaphore(value: 0)
        let takeover = FaultProxy.Gate()
        let isOver = Lock(false)
        let calls = writers.map { writer in
          SeveralWritersTests.Call { () throws(StoreError) in
            try ServerDeathTests.write(writer, progress, takeover) { isOver.withLock { $0 } }
          }
        }
        for _ in 0..<Int.random(in: 1...60, using: &random) {
          if progress.wait(timeout: .now() + 30) == .timedOut {
            Issue.record("\(comment): the writers do not go on")
          }
        }
        let reserved = try store.allocateKeys([store.root("Item"): 3])[store.root("Item")]!
        try primary.kill()
        try follower.takeOver()
        try waitForFollowers("", on: follower)
        isOver.withLock { $0 = true }
        takeover.open()
        var errors: [StoreError.Code] = []
        for call in calls { errors += try call.value.get() }
        let check = LedgerCheck(writers.map(\.ledger)) { try follower.connection() }
        try check.check(writers.map(\.last), mayHaveMore: false, comment)
        observed.expect(through: check.historyEnd, comment)
        let keys = [reserved, reserved + 1, reserved + 2] + writers.flatMap { $0.takeKeys() }
        #expect(Set(keys).count == keys.count, "\(comment): keys are given twice")
        print(
          "A follower took over: seed \(seed), \(check.steps.reduce(0, +)) commits, errors \(errors.map(\.rawValue))."
        )
        try store.close()
        try observing.close()
      }
    }
  }
#endif
