#if PostgreSQL
  @_spi(CDE) import CDEExecutors
  @testable import CDEPostgreSQLStore
  @_spi(CDE) import CDESQLiteFaults
  import CDEStore
  @_spi(CDE) import CDEStoreTestKit
  import Foundation
  import Testing

  /// Changes that are no commits of rows, whose connection is cut at a byte. `CDE_EVERY_BYTE=1` takes every byte.
  @Suite(.needsServer) struct OtherFaultTests {
    private let proxy: FaultProxy

    init() throws { proxy = try FaultProxy(TestServer.url!) }

    /// Runs a body undisturbed, and then with a cut at each byte.
    private func atEachByte(_ name: String, _ body: (Comment) throws -> Void) throws {
      proxy.arm(nil)
      try body("\(name), undisturbed")
      let counts = proxy.disarm().counts
      var random = SplitMix(seed: TestScale.seed)
      for direction in FaultProxy.Direction.allCases {
        let count = counts[direction]!
        let offsets =
          TestScale.isEveryByte
          ? Array(0...count) : (0..<8).map { _ in Int.random(in: 0...count, using: &random) } + [count - 5]
        var fired = 0
        for offset in offsets {
          proxy.arm(FaultProxy.Plan(fault: .cut, direction: direction, offset: offset))
          try body("\(name), byte \(offset) of \(count) \(direction), seed \(TestScale.seed)")
          if proxy.disarm().hasFired { fired += 1 }
        }
        print("\(name): \(direction): \(count) bytes, \(fired) cuts; seed \(TestScale.seed)")
        #expect(fired > 0)
      }
    }

    private func configuration(_ place: TestSchema) -> PostgreSQLConfiguration {
      var configuration = place.configuration(poolSize: 1)
      configuration.tracksHistory = true
      return configuration
    }

    @Test func `A store whose creation is cut is there whole or not at all, and opens afterwards`() throws {
      try atEachByte("Creation") { comment in
        let place = TestSchema()
        var configuration = configuration(place)
        configuration.url = proxy.url
        var created: String?
        do throws(StoreError) {
          created = try PostgreSQLStore(schema: HistoryTests.schema, configuration: configuration).identifier
        } catch {
          #expect([.io, .cannotOpen, .unknownOutcome].contains(error.code), "\(comment): \(error)")
        }
        proxy.waitUntilUnused()
        configuration.url = TestServer.url!
        let store = try PostgreSQLStore(schema: HistoryTests.schema, configuration: configuration)
        #expect(created == nil || created == store.identifier, comment)
        #expect(try store.insert("Label", [Draft(key: -1)]) == [1], comment)
      }
    }

    @Test func `Metadata whose change is cut are the old or the new ones, as the call says`() throws {
      let place = TestSchema()
      let direct = try PostgreSQLStore(schema: HistoryTests.schema, configuration: configuration(place))
      var configuration = configuration(place)
      configuration.url = proxy.url
      let store = try PostgreSQLStore(schema: HistoryTests.schema, configuration: configuration)
      var metadata = try direct.metadata()
      var number: Int64 = 0
      try atEachByte("Metadata") { comment in
        // On a connection that was idle a lost change is made again.
        store.pool.dropIdle()
        number += 1
        metadata.values["number"] = .integer(number)
        var allowed = [number]
        do throws(StoreError) { try store.setMetadata(metadata) } catch {
          #expect([.io, .cannotOpen, .unknownOutcome].contains(error.code), "\(comment): \(error)")
          allowed = error.code == .unknownOutcome ? [number - 1, number] : [number - 1]
        }
        proxy.waitUntilUnused(besides: store.statistics().open)
        let found = try direct.metadata().values["number"]
        #expect(allowed.contains { found == .integer($0) }, comment)
        try direct.setMetadata(metadata)
      }
    }
  }
#endif
