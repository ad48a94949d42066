#if PostgreSQL
  @testable import CDEPostgreSQLStore
  @_spi(CDE) import CDESQL
  @_spi(CDE) import CDESQLiteFaults
  import CDESQLiteStore
  import CDEStore
  @_spi(CDE) import CDEStoreTestKit
  import Foundation
  import Testing

  /// Attributes that are derived from other rows.
  @Suite(.needsServer) struct DerivedValueTests {
    private let place = TestSchema()
    private static let roots = ["Shelf", "Book", "Tag"]

    private func open(
      _ schema: StoreSchema = Library.schema, poolSize: Int = 4, history: Bool = false
    ) throws -> PostgreSQLStore {
      var configuration = place.configuration(poolSize: poolSize)
      configuration.tracksHistory = history
      configuration.applicationName = place.name
      return try PostgreSQLStore(schema: schema, configuration: configuration)
    }

    private func rows(_ store: some Store, upTo last: Int64) throws -> [String: [String: String]] {
      var result: [String: [String: String]] = [:]
      for root in Self.roots {
        result.merge(
          describe(try store.rows(entity: store.index(root), keys: Array(1...last)).batches, store)
        ) {
          $1
        }
      }
      return result
    }

    private func describe(_ batches: [RowBatch], _ store: some Store) -> [String: [String: String]] {
      var result: [String: [String: String]] = [:]
      for batch in batches {
        for row in 0..<batch.count {
          var values = store.describe(batch, row)
          // SQLite's sums of decimals end in ".0".
          values["cost"] = values["cost"].flatMap { Decimal(string: $0)?.description }
          result[values["entity"]! + values["key"]!] = values
        }
      }
      return result
    }

    // MARK: Against SQLite

    @Test(arguments: TestScale.seeds(1, 2, 3, 4))
    func `Random transactions leave the values that triggers leave on SQLite`(seed: UInt64) throws {
      print("seed \(seed)")
      let server = try open(history: true)
      let file = try SQLiteStore(
        schema: Library.schema, configuration: .init(location: .inMemory(name: place.name)))
      var random = SplitMix(seed: seed)
      var known: [String: [String: String]] = [:]
      for round in 0..<80 {
        let context: Comment = "seed \(seed), round \(round)"
        let sorted = known.sorted { $0.key < $1.key }.map(\.value)
        let plan = LibraryPlan(sorted, steps: .random(in: 1...8, using: &random), &random).changes
        let (left, right) = (plan.transaction(file), plan.transaction(server))
        if left.isEmpty { continue }
        _ = try file.commit(left) { _ in }
        let result = try server.commit(right) { _ in }
        let expected = try rows(file, upTo: 400)
        let found = try rows(server, upTo: 400)
        for name in Set(found.keys).union(expected.keys).sorted() where found[name] != expected[name] {
          #expect(found[name] == expected[name], context)
        }
        // The result has all rows whose values have changed, as they are stored.
        let told = describe(result.derived, server)
        for (name, row) in found {
          let changed = Library.derived.contains { row[$0] != known[name]?[$0] }
          #expect(told[name] == row || (told[name] == nil && !changed), context)
        }
        #expect(result.derived.allSatisfy { $0.asOf == result.number })
        known = found
      }
      try expectCopies(of: file, "seed \(seed)")
      try expectCopies(of: server, "seed \(seed)")
      // Otherwise the test would say little.
      for name in Library.derived.sorted() {
        #expect(Set(known.values.compactMap { $0[name] }).count > 1, "\(name) has one value only")
      }
    }

    // MARK: Several writers

    /// Two stores, as on two machines, each with four threads.
    @Test func `Values are right after concurrent changes of the same owners, members and sources`() throws {
      let seed = UInt64.random(in: 0...UInt64(UInt32.max))
      print("seed \(seed)")
      let machines = [try open(poolSize: 5), try open(poolSize: 5)]
      let shelves = try machines[0].insert(
        "Shelf", (1...3).map { Draft(key: -$0, values: ["name": .text("s")]) })
      let tags = try machines[0].insert(
        "Tag", (1...3).map { Draft(key: -$0, values: ["weight": .integer(1)]) })
      let writers = (0..<8).map { number in
        SeveralWritersTests.Call { () throws(StoreError) -> Int in
          try Self.write(machines[number % 2], shelves, tags, SplitMix(seed: seed &+ UInt64(number)))
        }
      }
      for writer in writers { #expect(try writer.value.get() > 0) }
      let connection = try place.connection()
      for plan in try DerivedPlan.all(machines[0].physical) {
        // Each row with a value that differs from its computation would be written.
        let changed = try connection.run(plan.recomputation, while: "Testing")
        #expect(changed.affected == 0, "\(plan.attributes.map(\.name)), seed \(seed)")
      }
    }

    /// - Returns: the number of commits.
    private static func write(
      _ store: PostgreSQLStore, _ shelves: [Int64], _ tags: [Int64], _ generator: SplitMix
    ) throws(StoreError) -> Int {
      var random = generator
      var commits = 0
      var own: [Int64: Int64] = [:]
      let shelfEntity = store.index("Shelf")
      for _ in 0..<40 {
        let shelf = shelves.randomElement(using: &random)!
        let tag = tags.randomElement(using: &random)!
        let pages = Draft.Value.integer(.random(in: 1...9, using: &random))
        do throws(StoreError) {
          switch Int.random(in: 0..<6, using: &random) {
          case 0, 1:
            let draft = Draft(
              key: -1, values: ["pages": pages], references: ["shelf": shelf],
              entities: ["shelf": shelfEntity])
            for key in try store.insert("Book", [draft]) { own[key] = 1 }
          case 2:
            guard let (key, version) = own.randomElement(using: &random) else { continue }
            let draft = Draft(
              key: key, version: version + 1, values: ["pages": pages], references: ["shelf": shelf],
              entities: ["shelf": shelfEntity])
            try store.commit { $0.updated = [store.update("Book", [draft], "pages", "shelf")] }
            own[key] = version + 1
          case 3:
            guard let row = try store.row(entity: shelfEntity, key: shelf) else { continue }
            let draft = Draft(
              key: shelf, version: row.batch.version(row.row) + 1,
              values: [
                "name": .text("n\(random.next() % 50)"), "serial": .integer(Int64(random.next() % 50)),
              ])
            try store.commit { $0.updated = [store.update("Shelf", [draft], "name", "serial")] }
          case 4:
            guard let row = try store.row(entity: store.index("Tag"), key: tag) else { continue }
            let draft = Draft(key: tag, version: row.batch.version(row.row) + 1, values: ["weight": pages])
            try store.commit { $0.updated = [store.update("Tag", [draft], "weight")] }
          default:
            try store.commit {
              $0.links = [
                LinkChange(
                  kind: Bool.random(using: &random) ? .add : .remove, entity: shelfEntity,
                  slot: store.slot("Shelf", "tags"), owner: shelf, member: tag)
              ]
            }
          }
          commits += 1
        } catch {
          // Another writer was faster. Anything else ends the test.
          guard error.code == .conflict || error.code == .busy else { throw error }
        }
      }
      return commits
    }

    @Test(arguments: [true, false])
    func `A copy waits for the writer of its source, and has the new value`(isCounted: Bool) throws {
      let store = try open(isCounted ? Library.schema : Self.copies)
      let shelf = try store.insert("Shelf", [Draft(key: -1, values: ["name": .text("old")])])[0]
      let other = try place.connection()
      try other.execute(#"BEGIN; UPDATE "ZSHELF" SET "ZNAME" = 'new'"#, while: "Testing")
      let index = store.index("Shelf")
      let call = SeveralWritersTests.Call { () throws(StoreError) in
        let entities = isCounted ? ["shelf": index] : [:]
        return try store.insert("Book", [Draft(key: -1, references: ["shelf": shelf], entities: entities)])
      }
      let observer = try place.connection()
      try waitUntil("The store does not wait for the lock") {
        try observer.integer(
          "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = '\(place.name)'"
        ) == 1
      }
      try other.execute("COMMIT", while: "Testing")
      let key = try #require(try call.value.get().first)
      #expect(try store.describe("Book", key)?["shelfName"] == "new")
    }

    /// Books that copy the names of shelves, which depend on nothing.
    private static let copies = StoreSchema(entities: [
      StoreEntity(
        name: "Shelf", attributes: [StoreAttribute(name: "name", type: .string)],
        relationships: [
          StoreRelationship(name: "books", destination: "Book", inverse: "shelf", isToMany: true)
        ]),
      StoreEntity(
        name: "Book",
        attributes: [
          StoreAttribute(
            name: "shelfName", type: .string, derivation: .copy(relationship: "shelf", attribute: "name"))
        ],
        relationships: [
          StoreRelationship(name: "shelf", destination: "Shelf", inverse: "books", isToMany: false)
        ]),
    ])

    @Test func `Two writers copy from one row at the same time`() throws {
      let store = try open(Self.copies)
      let shelf = try store.insert("Shelf", [Draft(key: -1, values: ["name": .text("s")])])[0]
      let other = try place.connection()
      try other.execute(#"BEGIN; SELECT FROM "ZSHELF" FOR SHARE"#, while: "Testing")
      let key = try store.insert("Book", [Draft(key: -1, references: ["shelf": shelf])])[0]
      #expect(try store.describe("Book", key)?["shelfName"] == "s")
    }

    // MARK: Cost

    @Test func `A change that nothing depends on is still one round trip before the commit`() throws {
      let store = try open()
      let book = try store.insert("Book", [Draft(key: -1)])[0]
      func statements(_ version: Int64, _ property: String) throws -> Int {
        let before = store.statistics().statements
        let draft = Draft(
          key: book, version: version, values: ["title": .text("t\(version)"), "pages": .integer(version)])
        try store.commit { $0.updated = [store.update("Book", [draft], property)] }
        return store.statistics().statements - before
      }
      _ = try statements(2, "title")
      _ = try statements(3, "pages")
      // The row is read, because its copies may be older than the stored ones.
      #expect(try statements(4, "title") == 3)
      #expect(try statements(5, "pages") > 3)
    }

    // MARK: Errors

    @Test func `A sum that does not fit its attribute is an error that names it, and nothing is written`()
      throws
    {
      let server = try open()
      let file = try SQLiteStore(
        schema: Library.schema, configuration: .init(location: .inMemory(name: place.name)))
      let stores: [any Store] = [server, file]
      for store in stores {
        let shelf = try store.insert("Shelf", [Draft(key: -1)])[0]
        let index = store.index("Shelf")
        func draft(_ key: Int64) -> Draft {
          Draft(
            key: key, values: ["pages": .integer(.max)], references: ["shelf": shelf],
            entities: ["shelf": index])
        }
        try store.insert("Book", [draft(-1)])
        let error = failure { () throws(StoreError) in try store.insert("Book", [draft(-1)]) }
        #expect(error?.code == .tooBig, "\(type(of: store))")
        #expect(try store.describe("Shelf", shelf)?["bookCount"] == "1")
        #expect(try store.rows(entity: store.index("Book"), keys: Array(1...9)).count == 1)
      }
      let error = failure { () throws(StoreError) in
        try server.insert(
          "Book",
          [
            Draft(
              key: -1, values: ["pages": .integer(.max)], references: ["shelf": 1],
              entities: ["shelf": server.index("Shelf")])
          ])
      }
      #expect(error?.entity == "Shelf" && error?.properties.contains("pages") == true)
    }

    @Test func `A save that would have to compute an unknown expression is refused`() throws {
      let store = try open(
        StoreSchema(entities: [
          StoreEntity(
            name: "Book",
            attributes: [
              StoreAttribute(name: "title", type: .string),
              StoreAttribute(name: "mystery", type: .string, derivation: .foreign("title.reversed")),
            ])
        ]))
      let error = failure { () throws(StoreError) in try store.insert("Book", [Draft(key: -1)]) }
      #expect(error?.code == .unknownDerivation && error?.properties == ["mystery"])
      try place.connection().execute(
        #"INSERT INTO "ZBOOK" ("Z_PK", "Z_ENT", "Z_OPT", "ZMYSTERY") VALUES (1, 1, 1, 'x')"#, while: "Testing"
      )
      #expect(try store.describe("Book", 1)?["mystery"] == "x")
    }

    // MARK: History

    @Test func `The history tells of values that other rows' changes have computed`() throws {
      let store = try open(history: true)
      let shelf = try store.insert("Shelf", [Draft(key: -1)])[0]
      try store.insert(
        "Book", [Draft(key: -1, references: ["shelf": shelf], entities: ["shelf": store.index("Shelf")])])
      let last = try #require(try store.history(StoreHistoryQuery(after: 0)).last)
      let change = try #require(
        last.changes.first { $0.entity == store.index("Shelf") && $0.kind == .updated })
      #expect(change.key == shelf)
      #expect(change.properties?.contains(store.slot("Shelf", "bookCount")) == true)
      // The sum is what it was.
      #expect(change.properties?.contains(store.slot("Shelf", "pages")) == false)
    }

    // MARK: Batches

    @Test func `A batch computes the values that depend on its rows`() throws {
      let store = try open()
      let shelf = try store.insert("Shelf", [Draft(key: -1)])[0]
      let index = store.index("Shelf")
      try store.insert(
        "Book",
        (1...9).map { number in
          Draft(
            key: -number, values: ["pages": .integer(number)], references: ["shelf": shelf],
            entities: ["shelf": index])
        })
      #expect(try store.describe("Shelf", shelf)?["pages"] == "45")
      let rules = IndexedArray<EntityIndex, [SlotIndex: StoreBatchDelete.Rule]>(
        repeating: [:], count: store.schema.entities.count)
      let query = StoreQuery(entity: store.index("Book"))
      let result = try store.commit(.delete(StoreBatchDelete(query: query, rules: rules)))
      #expect(try store.describe("Shelf", shelf)?["bookCount"] == "0")
      #expect(describe(result.derived, store)["Shelf\(shelf)"]?["pages"] == "0")
    }
  }
#endif
