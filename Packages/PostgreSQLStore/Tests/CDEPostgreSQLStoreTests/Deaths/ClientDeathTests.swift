#if PostgreSQL
  @_spi(CDE) import CDEExecutors
  @testable import CDEPostgreSQLStore
  @_spi(CDE) import CDESQLiteFaults
  import CDEStore
  @_spi(CDE) import CDEStoreTestKit
  import Foundation
  import Testing

  /// Two processes over one store, each killed at some moment. `CDE_CLIENT_DEATHS` is the number of rounds.
  @Suite(.needsServer) struct ClientDeathTests {
    @Test(
      "Every commit that a killed process acknowledged is there once, and no other in part",
      .timeLimit(.minutes(60)))
    func deaths() async throws {
      let seed = TestScale.seed
      let rounds = TestScale.number("CDE_CLIENT_DEATHS", or: 12)
      var random = SplitMix(seed: seed)
      var world = try World(seed: seed, round: 0)
      var (commits, unacknowledged) = (0, 0)
      for round in 0..<rounds {
        // Each fifth round begins a store, and its processes die early: some of them while they create it. The time of the others
        // begins with their first commit, so that a busy machine has commits, too.
        let isFresh = round % 5 == 0 && round > 0
        if isFresh { world = try World(seed: seed, round: round) }
        let delays = (0..<2).map { _ in
          UInt32.random(in: isFresh ? 0...80_000 : 5_000...200_000, using: &random)
        }
        let comment: Comment = "seed \(seed), round \(round)"
        let before = (world.check.steps.reduce(0, +), world.check.unacknowledged)
        try await world.kill(after: delays, early: isFresh, comment)
        commits += world.check.steps.reduce(0, +) - before.0
        unacknowledged += world.check.unacknowledged - before.1
      }
      print(
        "Killed clients: seed \(seed), \(rounds) rounds, \(2 * rounds) deaths, \(commits) commits, "
          + "\(unacknowledged) committed but not acknowledged.")
      #expect(commits > rounds, "seed \(seed): the processes were killed before they committed")
    }

    /// One store with its two writers.
    private final class World {
      let place = TestSchema()
      let check: LedgerCheck
      private let pipes = [AcknowledgementPipe(), AcknowledgementPipe()]
      private let seed: UInt64
      private let name: String
      private var observed: ObservedCommits?
      private var observing: PostgreSQLStore?

      init(seed: UInt64, round: Int) throws {
        self.seed = seed
        name = "cde-death-\(round)-\(getpid())"
        let place = place
        check = LedgerCheck(["first", "second"].map { Ledger(seed: seed, writer: $0) }) {
          try place.connection()
        }
      }

      deinit { try? observing?.close() }

      /// Starts both writers and waits for their ends, then compares.
      func kill(after delays: [UInt32], early: Bool, _ comment: Comment) async throws {
        let (schema, name, seed) = (place.name, name, seed)
        await withTaskGroup(of: Void.self) { group in
          for index in 0..<2 {
            let (writer, pipe, delay) = (check.ledgers[index].writer, pipes[index].path, delays[index])
            group.addTask {
              await ClientDeathTests.write(schema, name, seed, writer, pipe, delay, early, comment)
            }
          }
        }
        let connection = try place.connection()
        // The server may still be at work on what a killed process sent last.
        try waitUntil("\(comment): the server does not end the connections of killed processes") {
          try connection.integer("SELECT count(*) FROM pg_stat_activity WHERE application_name = '\(name)'")
            == 0
        }
        let acknowledged = zip(pipes, check.steps).map { pipe, former in pipe.take().last ?? former }
        // Opens the store also if no process came so far as to create it.
        if observing == nil {
          var configuration = place.configuration(poolSize: 2)
          configuration.tracksHistory = true
          observing = try PostgreSQLStore(schema: Shop.resolved, configuration: configuration)
        }
        try check.check(acknowledged, mayHaveMore: true, comment)
        if observed == nil {
          observed = try ObservedCommits(observing!, from: check.historyEnd)
        } else {
          observed!.expect(through: check.historyEnd, comment)
        }
      }
    }

    private static func write(
      _ schema: String, _ name: String, _ seed: UInt64, _ writer: String, _ pipe: String, _ delay: UInt32,
      _ early: Bool, _ comment: Comment
    ) async {
      await #expect(processExitsWith: .signal(SIGKILL), comment) {
        [
          schema = schema as String, name = name as String, seed = seed as UInt64, writer = writer as String,
          pipe = pipe as String, delay = delay as UInt32, early = early as Bool
        ] in
        if early { killThisProcess(afterMicroseconds: delay) }
        var configuration = PostgreSQLConfiguration(url: TestServer.url!, schema: schema, poolSize: 2)
        configuration.applicationName = name
        configuration.tracksHistory = true
        let store = try PostgreSQLStore(schema: Shop.resolved, configuration: configuration)
        let ledger = try LedgerWriter(Ledger(seed: seed, writer: writer), store)
        let acknowledgements = AcknowledgementPipe.Writer(pipe)
        if !early {
          try ledger.step()
          acknowledgements.write(ledger.last)
          killThisProcess(afterMicroseconds: delay)
        }
        while true {
          try ledger.step()
          acknowledgements.write(ledger.last)
        }
      }
    }
  }
#endif
