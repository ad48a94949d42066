#if PostgreSQL
  @_spi(CDE) import CDEExecutors
  @testable import CDEPostgreSQLStore
  import CDEStore
  @_spi(CDE) import CDEStoreTestKit
  import Foundation
  import Testing

  @Suite(.needsServer) struct WritingTests {
    let place = TestSchema()
    let store: PostgreSQLStore

    init() throws { store = try PostgreSQLStore(schema: Shop.schema, configuration: place.configuration()) }

    private let everything = Draft(
      key: -1,
      values: [
        "small": .integer(-32768), "big": .integer(.min), "flag": .integer(1),
        "when": .real(700_000_000.123_456_7),
        "ratio": .real(-0.1), "thin": .real(1.5), "price": .text("12345678901234567890.50"),
        "title": .text("naïve 🦆\u{1}'"),
        "link": .text("https://example.com/?q=ü"), "uid": .bytes(Array(0..<16)), "payload": .bytes([0, 255]),
        "form": .bytes([]), "photo": .bytes([1, 9, 9]), "place.latitude": .real(48.25),
        "place.title": .text(""),
      ])

    // MARK: Values

    @Test func `Each type of value is stored as the server's own and read as it was written`() throws {
      let key = try store.insert("Item", [everything])[0]
      let texts = try place.connection().texts(
        """
        SELECT concat_ws('|', "ZSMALL", "ZBIG", "ZFLAG", "ZWHEN", "ZRATIO", "ZTHIN", "ZPRICE", "ZTITLE1", "ZLINK", "ZUID", \
        encode("ZPAYLOAD", 'hex'), encode("ZFORM", 'hex'), encode("ZPHOTO", 'hex'), "ZLATITUDE", "ZTITLE", "Z_ENT", "Z_OPT") \
        FROM "ZITEM"
        """)
      #expect(
        texts == [
          "-32768|-9223372036854775808|t|700000000.1234567|-0.1|1.5|12345678901234567890.50|naïve 🦆\u{1}'|"
            + "https://example.com/?q=ü|00010203-0405-0607-0809-0a0b0c0d0e0f|00ff||010909|48.25||2|1"
        ])
      var expected = store.describe(store.batch("Item", [everything]), 0)
      expected["key"] = "\(key)"
      expected["price"] = "12345678901234567890.5"
      #expect(try store.describe("Item", key) == expected)
      #expect(
        try store.externalValue(ExternalValue.inline([9, 9])) == [9, 9])
    }

    @Test func `A row without values has only nulls`() throws {
      let key = try store.insert("Item", [Draft(key: -1)])[0]
      #expect(try store.describe("Item", key) == ["entity": "Item", "key": "\(key)", "version": "1"])
    }

    @Test(arguments: [
      ("title", Draft.Value.text("zero\0byte")), ("uid", .bytes([1, 2, 3])), ("price", .text("twelve")),
      ("price", .text("NaN")), ("price", .text("")), ("price", .text("1e99999")), ("place", .text("x\0")),
    ])
    func `A value that the server can't store is refused with the attribute's name`(
      property: String, value: Draft.Value
    ) throws {
      var draft = everything
      draft.values[property == "place" ? "place.title" : property] = value
      let batch = store.batch("Item", [draft])
      let error = failure { () throws(StoreError) in try store.commit { $0.inserted = [batch] } }
      #expect(error?.code == .invalidValue)
      #expect(error?.entity == "Item" && error?.properties == [property])
      #expect(try place.connection().integer(#"SELECT count(*) FROM "ZITEM""#) == 0)
      // The batch keeps its pending key, so the transaction can be tried again.
      #expect(batch.key(0) == -1)
      #expect(try store.insert("Item", [everything]).count == 1)
    }

    @Test func `A number that is none is stored as null, as on SQLite`() throws {
      let key = try store.insert(
        "Item", [Draft(key: -1, values: ["ratio": .real(.nan), "thin": .real(.infinity)])])[0]
      #expect(try store.describe("Item", key)?["ratio"] == nil)
      #expect(try store.describe("Item", key)?["thin"] == "inf")
    }

    // MARK: Amounts

    @Test func `Blocks have no seams: 12,001 rows are inserted, changed and deleted`() throws {
      let count = 12_001
      let drafts = (0..<count).map {
        Draft(key: Int64(-1 - $0), values: ["name": .text("n\($0)"), "code": .integer(Int64($0))])
      }
      let keys = try store.insert("Category", drafts)
      #expect(Set(keys).count == count)
      let connection = try place.connection()
      #expect(
        try connection.integer(#"SELECT count(*) FROM "ZCATEGORY" WHERE "ZNAME" = 'n' || "ZCODE""#)
          == Int64(count))
      var changed = drafts
      for index in drafts.indices {
        changed[index].key = keys[index]
        changed[index].version = 2
        changed[index].values["code"] = .integer(Int64(index) + 1_000_000)
      }
      let update = store.update("Category", changed, "code")
      try store.commit { $0.updated = [update] }
      #expect(
        try connection.integer(
          #"SELECT count(*) FROM "ZCATEGORY" WHERE "ZNAME" = 'n' || ("ZCODE" - 1000000) AND "Z_OPT" = 2"#)
          == Int64(count))
      let rows = try store.rows(entity: store.index("Category"), keys: keys.reversed())
      #expect(rows.count == count)
      #expect(rows.batches.flatMap { batch in (0..<batch.count).map { batch.key($0) } } == keys.sorted())
      try store.commit { $0.deleted = keys.dropLast().map { store.deletion("Category", $0, version: 2) } }
      #expect(try connection.integer(#"SELECT count(*) FROM "ZCATEGORY""#) == 1)
    }

    @Test func `Values of many megabytes are written in blocks of their own`() throws {
      let bytes = [UInt8](repeating: 7, count: 9 << 20)
      let drafts = (0..<4).map { Draft(key: -1 - $0, values: ["payload": .bytes(bytes + [UInt8($0)])]) }
      let keys = try store.insert("Item", drafts)
      for (index, key) in keys.enumerated() {
        let row = try #require(try store.row(entity: store.index("Item"), key: key))
        let cell = row.batch.layout.cells.firstIndex { $0.name == "payload" }!
        #expect(row.batch.bytes(row.row, cell).count == 9 << 20 + 1)
        #expect(row.batch.bytes(row.row, cell).last == UInt8(index))
      }
    }

    @Test func `Entities of a tree are read together in the order of their keys`() throws {
      let items = try store.insert("Item", [Draft(key: -1), Draft(key: -3), Draft(key: -5)])
      let special = try store.insert("SpecialItem", [Draft(key: -1, values: ["extra": .text("x")])])
      let all = (items + special).sorted()
      let rows = try store.rows(entity: store.index("Item"), keys: all + [999])
      #expect(rows.order?.map(\.key) == all)
      #expect(rows.order?.last?.entity.index == store.index("SpecialItem"))
      let last = try #require(rows.order?.last)
      #expect(store.describe(rows.batches[Int(last.batch)], Int(last.row))["extra"] == "x")
      #expect(try store.rows(entity: store.index("SpecialItem"), keys: all).count == 1)
      #expect(try store.row(entity: store.index("SpecialItem"), key: items[0]) == nil)
      #expect(
        failure { () throws(StoreError) in _ = try store.rows(entity: 99, keys: [1]) }?.code
          == .unsupportedQuery)
    }

    @Test func `The members of twelve thousand owners are read from one state`() throws {
      let owners = try store.insert("Category", (1...12_001).map { Draft(key: -$0) })
      let items = try store.insert(
        "Item", owners.enumerated().map { Draft(key: Int64(-1 - $0), references: ["category": $1]) })
      let related = try store.related(
        entity: store.index("Category"), slot: store.slot("Category", "items"), owners: owners, isKnown: nil)
      #expect(related.ranges.allSatisfy { $0.count == 1 })
      #expect(related.ranges.map { related.entries[$0.lowerBound].key } == items)
      #expect(related.rows.batches.allSatisfy { $0.asOf == 2 })
    }

    // MARK: Keys

    @Test func `Keys that are assigned at the same time are different`() throws {
      let root = store.root("Tag")
      let keys = Lock<[Int64]>([])
      DispatchQueue.concurrentPerform(iterations: 4) { [store] _ in
        for _ in 0..<25 {
          let first = try? store.allocateKeys([root: 3])[root]
          keys.withLock { $0 += first.map { [$0, $0 + 1, $0 + 2] } ?? [] }
        }
      }
      #expect(keys.withLock { $0.sorted() } == Array(1...300))
    }

    @Test func `A key above the limit is refused, and none is taken`() throws {
      let batch = store.batch("Tag", [Draft(key: -1), Draft(key: -2)])
      let error = failure { () throws(StoreError) in
        try store.commit {
          $0.inserted = [batch]
          $0.keyLimit = 1
        }
      }
      #expect(error?.code == .full)
      #expect(try store.allocateKeys([store.root("Tag"): 1]) == [store.root("Tag"): 1])
    }

    // MARK: Uniqueness

    private func categories() throws -> [Int64] {
      try store.insert(
        "Category",
        [
          Draft(key: -1, values: ["name": .text("a"), "code": .integer(1)]),
          Draft(key: -2, values: ["name": .text("b"), "code": .integer(2)]),
        ])
    }

    @Test func `Rows of one transaction swap unique values`() throws {
      let keys = try categories()
      let update = store.update(
        "Category",
        [
          Draft(key: keys[0], version: 2, values: ["name": .text("b"), "code": .integer(2)]),
          Draft(key: keys[1], version: 2, values: ["name": .text("a"), "code": .integer(1)]),
        ], "name", "code")
      try store.commit { $0.updated = [update] }
      #expect(try store.describe("Category", keys[0])?["name"] == "b")
      #expect(try store.describe("Category", keys[1])?["name"] == "a")
    }

    @Test func `A unique value that another row has is refused, and its owner is found`() throws {
      let keys = try categories()
      var transaction = StoreTransaction()
      transaction.inserted = [
        store.batch("Category", [Draft(key: -1, values: ["name": .text("b"), "code": .integer(2)])])
      ]
      let error = failure { () throws(StoreError) in _ = try store.commit(transaction) }
      #expect(error?.code == .uniqueness)
      #expect(error?.entity == "Category" && error?.properties == ["name", "code"])
      let conflicts = try store.conflicts(of: transaction)
      #expect(conflicts.uniqueness.map(\.stored?.key) == [keys[1]])
      #expect(conflicts.uniqueness.map { $0.rows.map(\.key) } == [[-1]])
      #expect(conflicts.rows.map { $0.key(0) } == [keys[1]])
    }

    // MARK: Housekeeping

    @Test func `Each commit leaves its token, and old tokens are removed`() throws {
      try store.insert("Tag", [Draft(key: -1)])
      try store.insert("Tag", [Draft(key: -1)])
      let connection = try place.connection()
      #expect(try connection.integer(#"SELECT count(*) FROM "Z_TOKEN""#) == 2)
      try connection.execute(
        #"UPDATE "Z_TOKEN" SET "Z_TIME" = "Z_TIME" - interval '25 hours' WHERE ctid = (SELECT min(ctid) FROM "Z_TOKEN")"#,
        while: "Testing")
      UsedTokens.removeOld(on: connection)
      #expect(try connection.integer(#"SELECT count(*) FROM "Z_TOKEN""#) == 1)
    }

    @Test func `Tokens of acknowledged commits are removed, many at once`() throws {
      let keys = try store.insert("Tag", [Draft(key: -1)])
      for version in 2..<Int64(2 * UsedTokens.limit + 3) {
        let draft = Draft(key: keys[0], version: version, values: ["name": .text("t")])
        try store.commit { $0.updated = [store.update("Tag", [draft], "name")] }
      }
      #expect(try place.connection().integer(#"SELECT count(*) FROM "Z_TOKEN""#) == 2)
    }

    @Test func `The first commit of a process removes what ended processes have left`() throws {
      try store.insert("Tag", [Draft(key: -1)])
      let connection = try place.connection()
      try connection.execute(
        #"UPDATE "Z_TOKEN" SET "Z_TIME" = "Z_TIME" - interval '25 hours'"#, while: "Testing")
      let next = try PostgreSQLStore(schema: Shop.schema, configuration: place.configuration())
      try next.insert("Tag", [Draft(key: -1)])
      #expect(try connection.integer(#"SELECT count(*) FROM "Z_TOKEN""#) == 1)
    }
  }
#endif
