#if PostgreSQL
  @testable import CDEPostgreSQLStore
  import CDEStore
  @_spi(CDE) import CDEStoreTestKit
  import Testing

  /// How often a save waits for the server's answer.
  @Suite(.needsServer) struct RoundTripTests {
    let place = TestSchema()

    private func store(tracksHistory: Bool) throws -> PostgreSQLStore {
      var configuration = place.configuration(poolSize: 1)
      configuration.tracksHistory = tracksHistory
      return try PostgreSQLStore(schema: Shop.schema, configuration: configuration)
    }

    /// The round trips of a commit of which each statement was prepared before, for others alike.
    private func roundTrips(
      _ store: PostgreSQLStore, _ fill: (inout StoreTransaction, Int) -> Void
    ) throws -> Int {
      var before = 0
      // The first two prepare the statements, and remove old tokens.
      for number in 0..<4 {
        before = store.statistics().statements
        try store.commit { fill(&$0, number) }
      }
      return store.statistics().statements - before
    }

    @Test(arguments: [false, true])
    func `New rows with a unique value take three round trips, with a history and without`(
      tracksHistory: Bool
    ) throws {
      let store = try store(tracksHistory: tracksHistory)
      let count = try roundTrips(store) { transaction, number in
        transaction.inserted = [
          store.batch(
            "Category",
            [Draft(key: -1, values: ["name": .text("\(number)"), "code": .integer(Int64(number))])])
        ]
      }
      // The keys; the begin, the token, the lock of the value, the row and the constraints; the history and the commit.
      #expect(count == 3)
    }

    @Test
    func `A deletion with a history takes three round trips: its lock, what refers to it, and the commit`()
      throws
    {
      let store = try store(tracksHistory: true)
      try store.insert("Tag", (1...4).map { Draft(key: -$0) })
      let count = try roundTrips(store) { transaction, number in
        transaction.deleted = [store.deletion("Tag", Int64(number + 1))]
      }
      #expect(count == 3)
    }

    @Test func `Changes of more than a block are recorded whole, in their order`() throws {
      let store = try store(tracksHistory: true)
      let count = 12_000
      try store.insert("Tag", (1...Int64(count)).map { Draft(key: -$0) })
      let changes = try #require(try store.history(StoreHistoryQuery(after: 0)).last).changes
      #expect(changes.map(\.key) == (1...Int64(count)).map { $0 })
      #expect(
        try place.connection().texts(
          #"SELECT concat(min("Z_PK"), ' ', max("Z_PK"), ' ', count(*)) FROM "ACHANGE""#)
          == ["1 \(count) \(count)"])
    }

    @Test(arguments: [1, 6_000])
    func `A store without the counter of its history refuses a save, and stores nothing`(count: Int) throws {
      let store = try store(tracksHistory: true)
      try place.connection().execute(#"DELETE FROM "Z_HISTORY""#, while: "Damaging a store for a test")
      let error = failure { () throws(StoreError) in
        try store.commit { $0.inserted = [store.batch("Tag", (1...Int64(count)).map { Draft(key: -$0) })] }
      }
      #expect(error?.code == .unreadable && error?.message.contains("Z_HISTORY") == true)
      #expect(try store.count(StoreQuery(entity: store.index("Tag"))) == 0)
      #expect(try place.connection().integer(#"SELECT count(*) FROM "ATRANSACTION""#) == 0)
    }

    @Test func `Values of more bytes than a queue holds are written whole`() throws {
      let store = try store(tracksHistory: true)
      let text = String(repeating: "ä", count: 400_000)
      try store.commit { transaction in
        transaction.inserted = [
          store.batch("Tag", (1...4).map { Draft(key: -$0, values: ["name": .text(text)]) })
        ]
      }
      #expect(
        try place.connection().texts(#"SELECT "ZNAME" FROM "ZTAG""#) == [text, text, text, text])
    }

    @Test func `A statement that fails in the middle of a queue leaves nothing, and the connection goes on`()
      throws
    {
      let store = try store(tracksHistory: true)
      try store.insert("Category", [Draft(key: -1, values: ["name": .text("a"), "code": .integer(1)])])
      for _ in 0..<2 {
        let error = failure { () throws(StoreError) in
          try store.commit { transaction in
            transaction.inserted = [
              store.batch("Tag", (1...40).map { Draft(key: -$0) }),
              store.batch("Category", [Draft(key: -2, values: ["name": .text("a"), "code": .integer(1)])]),
            ]
          }
        }
        #expect(error?.code == .uniqueness && error?.entity == "Category", "\(String(describing: error))")
        #expect(try store.count(StoreQuery(entity: store.index("Tag"))) == 0)
      }
      #expect(store.statistics().lost == 0)
      try store.insert("Tag", [Draft(key: -1)])
      #expect(try store.history(StoreHistoryQuery(after: 0)).map(\.number) == [1, 2])
    }
  }
#endif
