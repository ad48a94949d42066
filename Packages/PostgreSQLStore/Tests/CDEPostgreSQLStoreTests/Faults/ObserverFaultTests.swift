#if PostgreSQL
  @_spi(CDE) import CDEExecutors
  @testable import CDEPostgreSQLStore
  @_spi(CDE) import CDESQLiteFaults
  import CDEStore
  @_spi(CDE) import CDEStoreTestKit
  import Foundation
  import Testing

  /// An observer of other writers' commits whose connection is cut at a byte. `CDE_EVERY_BYTE=1` takes every byte.
  @Suite(.needsServer) struct ObserverFaultTests {
    @Test func `An observer whose connection is cut at a byte misses no commit, and reports none twice`()
      throws
    {
      let place = TestSchema()
      let proxy = try FaultProxy(TestServer.url!)
      var configuration = place.configuration(poolSize: 1)
      configuration.tracksHistory = true
      let direct = try PostgreSQLStore(schema: Shop.resolved, configuration: configuration)
      configuration.url = proxy.url
      let store = try PostgreSQLStore(schema: Shop.resolved, configuration: configuration)
      let observed = try ObservedCommits(store)
      var number: Int64 = 0
      func commit(_ comment: Comment) throws {
        try direct.insert("Tag", [Draft(key: -1)])
        number += 1
        observed.expect(through: number, comment)
      }
      try commit("first")
      // Two reports: the end of a transaction is sent after the report, so each is cut in one of them.
      proxy.arm(nil)
      try commit("undisturbed")
      try commit("undisturbed")
      let counts = proxy.disarm().counts
      var random = SplitMix(seed: TestScale.seed)
      for direction in FaultProxy.Direction.allCases {
        let count = counts[direction]!
        let offsets =
          TestScale.isEveryByte
          ? Array(0...count) : (0..<20).map { _ in Int.random(in: 0...count, using: &random) }
        var fired = 0
        for offset in offsets {
          let comment: Comment = "byte \(offset) of \(count) \(direction), seed \(TestScale.seed)"
          proxy.arm(FaultProxy.Plan(fault: .cut, direction: direction, offset: offset))
          // Reported without a wait for the next regular reading of the history, which is half a minute away.
          try commit(comment)
          try commit(comment)
          if proxy.disarm().hasFired { fired += 1 }
        }
        print("Observer: \(direction): \(count) bytes, \(fired) cuts; seed \(TestScale.seed)")
        #expect(fired > 0)
      }
    }
  }
#endif
