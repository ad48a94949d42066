#if PostgreSQL
  @testable import CDEPostgreSQLStore
  import CDEStore
  @_spi(CDE) import CDEStoreTestKit
  import Testing

  /// Insertions whose rows are not in memory at the same time, and rows that are written by COPY.
  @Suite(.needsServer) struct InsertionTests {
    let place = TestSchema()

    private func store(copyLimit: Int = 1_000, tracksHistory: Bool = false) throws -> PostgreSQLStore {
      var configuration = place.configuration(poolSize: 1)
      (configuration.copyLimit, configuration.tracksHistory) = (copyLimit, tracksHistory)
      return try PostgreSQLStore(schema: Shop.schema, configuration: configuration)
    }

    private func items(_ count: Int) -> [Draft] {
      let decimals = [
        "0", "-0", "0.00", "1", "-1", "9999", "10000", "10000.0001", "0.0001", "0.00001", "1e10", "1E-7",
        "+12.50",
        "-123456789012345678901234567890.12345678", "1200e-2", "00012.300", ".5", "5.", "99999999", "1e-30",
        "4e127",
      ]
      return (0..<count).map { number in
        var draft = Draft(
          key: -Int64(number) - 1,
          values: [
            "small": .integer(Int64(number % 60_000) - 30_000), "big": .integer(.max - Int64(number)),
            "flag": .integer(Int64(number % 2)), "when": .real(Double(number) / 3), "ratio": .real(-0.1),
            "thin": .real(number % 5 == 0 ? .nan : 1.5), "title": .text("naïve 🦆 \(number)\u{1}'\\\t"),
            "uid": .bytes(Array(repeating: UInt8(number % 256), count: 16)), "payload": .bytes([0, 255, 10]),
            "form": .bytes([]), "photo": .bytes([1, 9, 9]), "place.latitude": .real(48.25),
            "place.title": .text(""),
            "price": .text(decimals[number % decimals.count]),
          ])
        if number % 7 == 0 { draft.values = ["big": .integer(Int64(number))] }
        return draft
      }
    }

    private func insertion(
      _ store: PostgreSQLStore, _ entity: String, _ drafts: [Draft], batches: Int = 100
    ) -> StoreInsertion {
      StoreInsertion(of: store.index(entity), count: drafts.count) { (body) throws(StoreError) in
        for start in stride(from: 0, to: drafts.count, by: batches) {
          try body(store.batch(entity, Array(drafts[start..<min(start + batches, drafts.count)])))
        }
      }
    }

    @Test(arguments: [1, 1_000_000])
    func `Rows are the same whether they are copied or inserted`(copyLimit: Int) throws {
      let store = try store(copyLimit: copyLimit)
      let drafts = items(210)
      _ = try store.commit(insertion(store, "SpecialItem", drafts))
      let other = try self.store(copyLimit: 1_000_000)
      try other.insert("SpecialItem", drafts)
      // The second half was written from arrays, in which decimals are texts that the server reads.
      #expect(
        try place.connection().integer(
          """
          SELECT count(*) FROM (SELECT (to_jsonb(t) - 'Z_PK')::text, "ZPRICE"::text FROM "ZITEM" t WHERE "Z_PK" <= 210 \
          INTERSECT ALL SELECT (to_jsonb(t) - 'Z_PK')::text, "ZPRICE"::text FROM "ZITEM" t WHERE "Z_PK" > 210) s
          """) == 210)
      for key in [1, 2, 8, 210] as [Int64] {
        var expected = try #require(try other.describe("Item", key + 210))
        expected["key"] = "\(key)"
        #expect(try store.describe("Item", key) == expected)
      }
    }

    @Test(arguments: [10, 2_500])
    func `An insertion has consecutive keys and one transaction in the history`(count: Int) throws {
      let store = try store(tracksHistory: true)
      try store.insert("Tag", [Draft(key: -1)])
      var insertion = insertion(store, "Tag", (1...Int64(count)).map { Draft(key: -$0) })
      (insertion.author, insertion.contextName) = ("me", "import")
      let result = try store.commit(insertion)
      #expect(result.keyBase[store.root("Tag")] == 1)
      #expect(try store.count(StoreQuery(entity: store.index("Tag"))) == count + 1)
      let recorded = try #require(try store.history(StoreHistoryQuery(after: 1)).last)
      #expect(recorded.number == result.historyNumber)
      #expect(recorded.author == "me" && recorded.contextName == "import")
      #expect(recorded.changes.map(\.key) == (2...Int64(count) + 1).map { $0 })
      #expect(recorded.changes.allSatisfy { $0.kind == .inserted && $0.entity == store.index("Tag") })
      try store.insert("Tag", [Draft(key: -1)])
      #expect(
        try place.connection().texts(
          #"SELECT concat(min("Z_PK"), ' ', max("Z_PK"), ' ', count(*)) FROM "ACHANGE""#) == [
            "1 \(count + 2) \(count + 2)"
          ])
    }

    @Test(arguments: [1, 1_000_000])
    func `A repeated unique value, a value that does not fit and a source that fails leave nothing`(
      copyLimit: Int
    ) throws {
      let store = try store(copyLimit: copyLimit, tracksHistory: true)
      func category(_ number: Int, _ name: String) -> Draft {
        Draft(key: -Int64(number) - 1, values: ["name": .text(name), "code": .integer(1)])
      }
      var drafts = (0..<1_200).map { category($0, "\($0)") }
      func failure(_ insertion: StoreInsertion) -> StoreError? {
        CDEPostgreSQLStoreTests.failure { () throws(StoreError) in _ = try store.commit(insertion) }
      }
      drafts[1_100].values["name"] = .text("7")
      let repeated = failure(insertion(store, "Category", drafts))
      #expect(repeated?.code == .uniqueness && repeated?.properties == ["name", "code"])
      drafts[1_100].values["name"] = .text("zero\0byte")
      let unfit = failure(insertion(store, "Category", drafts))
      #expect(unfit?.code == .invalidValue && unfit?.entity == "Category" && unfit?.properties == ["name"])
      let ended = failure(
        StoreInsertion(of: store.index("Category"), count: 1_200) { (body) throws(StoreError) in
          try body(store.batch("Category", Array(drafts[..<1_000])))
          throw StoreError(.cancelled, "Enough.")
        })
      #expect(ended?.code == .cancelled && ended?.message == "Enough.")
      #expect(try place.connection().integer(#"SELECT count(*) FROM "ZCATEGORY""#) == 0)
      #expect(try store.history(StoreHistoryQuery(after: 0)).isEmpty)
      // The connection is of use afterwards.
      drafts[1_100].values["name"] = .text("other")
      _ = try store.commit(insertion(store, "Category", drafts))
      #expect(try store.count(StoreQuery(entity: store.index("Category"))) == 1_200)
    }

    @Test func `Many rows take few round trips`() throws {
      let store = try store()
      let drafts = (1...Int64(30_000)).map { Draft(key: -$0, values: ["name": .text("n\($0)")]) }
      _ = try store.commit(insertion(store, "Tag", drafts))
      let before = store.statistics().statements
      _ = try store.commit(insertion(store, "Tag", drafts))
      // The keys; the begin and the token; the rows; the commit.
      #expect(store.statistics().statements - before == 4)
    }

    @Test func `A save of many objects with references copies them, too`() throws {
      let store = try store(copyLimit: 10)
      try store.commit {
        $0.inserted = [
          store.batch("Category", [Draft(key: -1, values: ["name": .text("c")])]),
          store.batch("Item", (1...20).map { Draft(key: -$0, references: ["category": -1]) }),
          store.batch("SpecialItem", (21...40).map { Draft(key: -$0, references: ["category": -1]) }),
        ]
      }
      #expect(
        try place.connection().texts(
          #"SELECT count(*)::text FROM "ZITEM" WHERE "ZCATEGORY" = 1 GROUP BY "Z_ENT""#) == ["20", "20"])
    }

    @Test func `Keys are read in parts of one state, pinned or not, in the query's order`() throws {
      let store = try store()
      let count = 250_000
      let insertion = StoreInsertion(of: store.index("Tag"), count: count) { (body) throws(StoreError) in
        for start in stride(from: 1, through: Int64(count), by: 5_000) {
          try body(
            store.batch(
              "Tag", (start..<start + 5_000).map { Draft(key: -$0, values: ["name": .text("\($0 % 10)")]) }))
        }
      }
      _ = try store.commit(insertion)
      var all = try store.keys(of: StoreQuery(entity: store.index("Tag")))
      #expect(Set(all.takeFirst(.max)) == Set(1...Int64(count)))
      let query = StoreQuery(
        entity: store.index("Tag"), filter: .keys(Array(100_000...220_000)),
        sort: [
          StoreSort(
            .path(StorePath(end: .property(slot: store.slot("Tag", "name"), leaf: 0))), isAscending: false),
          StoreSort(.path(StorePath(end: .object)), isAscending: true),
        ], limit: 110_000, offset: 3)
      let expected = Array(
        (100_000...220_000).sorted { ($1 % 10, $0) < ($0 % 10, $1) }.dropFirst(3).prefix(110_000)
      ).map { Int64($0) }
      for reader in [store, try #require(try store.pinned())] as [any Store] {
        var keys = try reader.keys(of: query)
        #expect(keys.takeFirst(.max) == expected)
        // The connection is of use afterwards, and the cursor's name is free.
        #expect(try reader.count(StoreQuery(entity: store.index("Tag"))) == count)
        #expect(try reader.keys(of: query).count == 110_000)
      }
    }
  }
#endif
