#if PostgreSQL
  @_spi(CDE) import CDEExecutors
  @testable import CDEPostgreSQLStore
  @_spi(CDE) import CDESQLiteFaults
  import CDEStore
  import Foundation
  import Testing

  /// Commits whose connection is cut, delayed or split at a byte, in each direction.
  ///
  /// `CDE_EVERY_BYTE=1` takes every byte; otherwise a seed draws some, and `CDE_SEED` repeats them.
  @Suite(.needsServer) struct CommitFaultTests {
    typealias Direction = FaultProxy.Direction

    /// Runs commits of a kind, with a fault at each offset in turn.
    ///
    /// - Parameters:
    ///   - isFresh: whether the commit opens its connection.
    ///   - run: commits and verifies; returns whether the commit succeeded.
    private func atEachByte(
      _ name: String, _ kind: CommitKind, _ world: FaultWorld, _ fault: FaultProxy.Fault,
      isFresh: Bool = false,
      directions: [Direction] = Direction.allCases,
      _ run: (CommitKind.Prepared, Comment) throws -> Bool
    ) throws {
      func prepare() throws -> CommitKind.Prepared {
        if isFresh { world.coolDown() } else { try world.warmUp(kind) }
        return try kind.prepare(world, world.mark())
      }
      let start = ContinuousClock.now
      // An undisturbed commit tells how many bytes there are.
      let first = try prepare()
      world.proxy.arm(nil)
      try world.verify(world.commit(first), first, "\(kind), undisturbed")
      let counts = world.proxy.disarm().counts
      var random = SplitMix(seed: TestScale.seed)
      var summary: [String] = []
      for direction in directions {
        let count = counts[direction]!
        // Names of prepared statements grow, so a later commit may take some bytes more.
        let offsets =
          TestScale.isEveryByte
          ? Array(0...(count + 8))
          : (0..<6).map { _ in Int.random(in: 0...count, using: &random) } + [0, count]
        var (succeeded, fired) = (0, 0)
        for offset in offsets {
          let comment: Comment =
            "\(name), \(kind), byte \(offset) of \(count) \(direction), seed \(TestScale.seed)"
          let prepared = try prepare()
          world.proxy.arm(FaultProxy.Plan(fault: fault, direction: direction, offset: offset))
          if try run(prepared, comment) { succeeded += 1 }
          let hasFired = world.proxy.disarm().hasFired
          if hasFired { fired += 1 }
          // Numbers of commits and of keys have the same length in each run.
          if offset < count - 8 { #expect(hasFired, "\(comment): the byte did not come") }
        }
        summary.append("\(direction): \(count) bytes, \(fired) faults, \(succeeded) commits succeeded")
      }
      print(
        "\(name), \(kind): \(summary.joined(separator: "; ")); seed \(TestScale.seed), \((.now - start).milliseconds) ms"
      )
    }

    @Test(
      "A connection that is cut at a byte loses no acknowledged commit and makes no other",
      arguments: CommitKind.allCases)
    func cuts(kind: CommitKind) throws {
      let world = try FaultWorld(kind)
      try atEachByte("Cut", kind, world, .cut) { prepared, comment in
        try world.verify(world.commit(prepared), prepared, comment)
      }
    }

    @Test("Without a history the same holds")
    func cutsWithoutHistory() throws {
      let world = try FaultWorld(tracksHistory: false)
      try atEachByte("Cut without a history", .mixture, world, .cut) { prepared, comment in
        try world.verify(world.commit(prepared), prepared, comment)
      }
    }

    @Test(
      "A connection that the commit opens is cut at a byte",
      arguments: [CommitKind.insertion, .copying, .mixture])
    func cutsOfNewConnections(kind: CommitKind) throws {
      let world = try FaultWorld(kind)
      try atEachByte("Cut of a new connection", kind, world, .cut, isFresh: true) { prepared, comment in
        try world.verify(world.commit(prepared), prepared, codes: [.io, .cannotOpen], comment)
      }
    }

    @Test(
      "The server learns later than the client that the connection is cut", arguments: CommitKind.allCases)
    func lateDeliveries(kind: CommitKind) throws {
      let world = try FaultWorld(kind)
      try atEachByte("Late", kind, world, .late) { prepared, comment in
        let report = world.commit(prepared)
        world.proxy.release()
        return try world.verify(report, prepared, comment)
      }
    }

    @Test(
      "A commit that arrives in two pieces succeeds, wherever it is split", arguments: CommitKind.allCases)
    func splits(kind: CommitKind) throws {
      let world = try FaultWorld(kind)
      try atEachByte("Split", kind, world, .split) { prepared, comment in
        try world.verify(world.commit(prepared), prepared, codes: [], comment)
      }
    }

    @Test(
      "A commit whose bytes arrive one at a time succeeds", arguments: CommitKind.allCases, [false, true])
    func trickles(kind: CommitKind, isFresh: Bool) throws {
      let world = try FaultWorld(kind)
      if isFresh { world.coolDown() } else { try world.warmUp(kind) }
      let prepared = try kind.prepare(world, world.mark())
      world.proxy.arm(FaultProxy.Plan(fault: .trickle, direction: .toServer, offset: 0))
      let report = world.commit(prepared)
      #expect(world.proxy.disarm().hasFired)
      try world.verify(report, prepared, codes: [], "\(kind)")
    }

    @Test(
      "A commit whose bytes are held back is there whole or not at all, and succeeds",
      arguments: CommitKind.allCases)
    func delays(kind: CommitKind) throws {
      let world = try FaultWorld(kind)
      try atEachByte("Delay", kind, world, .hold) { prepared, comment in
        let call = HeldCommit(world, prepared)
        world.proxy.waitUntilHeld()
        let meanwhile = try world.state(prepared.mark)
        #expect(meanwhile == prepared.before || meanwhile == prepared.after(kind.tracksHistory), comment)
        world.proxy.release()
        return try world.verify(call.report(), prepared, codes: [], comment)
      }
    }

    @Test("The server ends a connection while bytes are held back", arguments: CommitKind.allCases)
    func terminations(kind: CommitKind) throws {
      let world = try FaultWorld(kind)
      try atEachByte("Termination", kind, world, .hold) { prepared, comment in
        let backend = try world.backend()
        let call = HeldCommit(world, prepared)
        world.proxy.waitUntilHeld()
        try world.terminate(backend)
        world.proxy.release()
        return try world.verify(call.report(), prepared, comment)
      }
    }

    @Test(
      "An outcome is unknown only if the commit was sent and the server can't be reached",
      arguments: CommitKind.allCases)
    func unreachable(kind: CommitKind) throws {
      let world = try FaultWorld(kind, recoveryTimeout: .milliseconds(15))
      var unknown = 0
      try atEachByte("Unreachable", kind, world, .cutAndRefuse) { prepared, comment in
        let report = world.commit(prepared)
        world.proxy.acceptAgain()
        guard case .failure(let error) = report.result, error.code == .unknownOutcome else {
          return try world.verify(report, prepared, codes: [.io, .cannotOpen], comment)
        }
        unknown += 1
        #expect(report.announced == [], comment)
        // The caller reads the rows and decides.
        try waitUntil("\(comment): the rows are there in part") {
          let state = try world.state(prepared.mark)
          return state == prepared.before || state == prepared.after(kind.tracksHistory)
        }
        return false
      }
      // COMMIT and its answer have some 40 bytes, a statement that commits by itself more. All earlier losses leave nothing in doubt.
      let limit = kind == .updateAtOnce ? 400 : 50
      if TestScale.isEveryByte { #expect((13...limit).contains(unknown), "\(kind): \(unknown)") }
    }
  }

  /// A commit on a thread of its own.
  private final class HeldCommit: Sendable {
    private let call: SeveralWritersTests.Call<FaultWorld.Report>

    init(_ world: FaultWorld, _ prepared: CommitKind.Prepared) {
      call = SeveralWritersTests.Call { () throws(StoreError) in
        let report = world.commit(prepared)
        world.proxy.cancelHold()
        return report
      }
    }

    func report() throws -> FaultWorld.Report { try call.value.get() }
  }

  extension FaultWorld {
    /// The server's process of the store's idle connection.
    func backend() throws -> Int32 { try store.pool.withConnection { $0.backend } }
  }
#endif
