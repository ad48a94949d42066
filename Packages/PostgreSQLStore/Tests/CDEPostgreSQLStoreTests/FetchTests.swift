#if PostgreSQL
  @testable import CDEPostgreSQLStore
  @_spi(CDE) import CDESQLiteFaults
  import CDESQLiteStore
  import CDEStore
  @_spi(CDE) import CDEStoreTestKit
  import Foundation
  import Testing

  @Suite(.needsServer) struct FetchTests {
    let place = TestSchema()
    let server: PostgreSQLStore
    let file: SQLiteStore

    init() throws {
      server = try PostgreSQLStore(schema: Shop.schema, configuration: place.configuration())
      file = try SQLiteStore(schema: Shop.schema, configuration: .init(location: .inMemory(name: place.name)))
    }

    // MARK: Random queries

    private func keys(_ rows: FetchedRows) -> [Int64] {
      rows.order?.map(\.key) ?? rows.batches.flatMap { batch in (0..<batch.count).map { batch.key($0) } }
    }

    private func described(_ rows: FetchedRows, _ store: some Store) -> [[String: String]] {
      if let order = rows.order {
        return order.map { entry in
          entry.batch < 0
            ? ["key": "\(entry.key)"] : store.describe(rows.batches[Int(entry.batch)], Int(entry.row))
        }
      }
      return rows.batches.flatMap { batch in (0..<batch.count).map { store.describe(batch, $0) } }
    }

    @Test(arguments: TestScale.seeds(11, 12, 13))
    func `Random queries find the rows that SQLite finds, in its order`(seed: UInt64) throws {
      print("seed \(seed)")
      var maker = QueryMaker(random: SplitMix(seed: seed), schema: Shop.resolved)
      try maker.fill(server, file)
      var found = 0
      let rounds = DrawnSteps.takesAll ? 150 : 60
      for round in 0..<rounds {
        let name = maker.pick(["Item", "Category", "Tag"])
        var query = StoreQuery(entity: maker.index(name), filter: maker.filter([name], depth: 3))
        query.includesSubentities = maker.chance(80)
        let expression = maker.chance(50) ? maker.number([name], depth: 1) : maker.text([name], depth: 1)
        var options: StoreFilter.TextOptions = []
        if maker.chance(30) { options = [.caseInsensitive, .diacriticInsensitive] }
        query.sort = [
          StoreSort(expression, isAscending: maker.chance(50), options: options),
          // The order is the same on both engines only if no two rows are equal.
          StoreSort(.path(StorePath(end: .object))),
        ]
        query.limit = maker.chance(50) ? Int.random(in: 0...20, using: &maker.random) : nil
        query.offset = maker.chance(30) ? Int.random(in: 0...10, using: &maker.random) : 0
        let context: Comment = "seed \(seed), round \(round): \(query)"
        let expected = try file.fetch(query, isKnown: nil)
        let rows = try server.fetch(query, isKnown: nil)
        try #require(keys(rows) == keys(expected), context)
        try #require(described(rows, server) == described(expected, file), context)
        try #require(try server.count(query) == file.count(query), context)
        let isOdd = { (_: RootIndex, key: Int64) in key % 2 == 1 }
        try #require(
          described(try server.fetch(query, isKnown: isOdd), server)
            == described(try file.fetch(query, isKnown: isOdd), file),
          context)
        query.keysOnly = true
        let onlyKeys = try server.fetch(query, isKnown: nil)
        try #require(onlyKeys.batches.isEmpty && keys(onlyKeys) == keys(expected), context)
        found += expected.count
      }
      #expect(found > rounds)
    }

    // MARK: Projections

    /// Results as text, in which numbers of all kinds are alike.
    private func texts(_ rows: ProjectedRows) -> [[String]] {
      (0..<rows.count).map { row in
        (0..<rows.columnCount).map { column in
          switch rows[row, column] {
          case .integer(let value): String(format: "%.12g", Double(value))
          case .real(let value): "\(value)"
          case let value: "\(value)"
          }
        }
      }
    }

    @Test(arguments: TestScale.seeds(21, 22))
    func `Random projections give the values that SQLite gives`(seed: UInt64) throws {
      print("seed \(seed)")
      var maker = QueryMaker(random: SplitMix(seed: seed), schema: Shop.resolved)
      try maker.fill(server, file)
      var (compared, grouped) = (0, 0)
      for round in 0..<200 {
        let name = maker.pick(["Item", "Category", "Tag"])
        var projection = StoreProjection(entity: maker.index(name), columns: [])
        if maker.chance(50) { projection.filter = maker.filter([name], depth: 1) }
        if maker.chance(50) {
          let paths = [
            "Item": [
              [("Item", "title")], [("Item", "small")], [("Item", "category"), ("Category", "name")],
            ],
            "Category": [[("Category", "name")], [("Category", "parent"), ("Category", "code")]],
            "Tag": [[("Tag", "name")]],
          ]
          projection.grouping = [.path(maker.path(0, maker.pick(paths[name]!)))]
          projection.columns = projection.grouping.map { .value($0) }
          let aggregate = maker.pick([StoreExpression.Aggregate.count, .sum, .min, .max, .average])
          projection.columns.append(.value(.group(aggregate, maker.number([name], depth: 0))))
          if maker.chance(30) {
            projection.having = .comparison(
              .group(.count, .value(.integer(1))), .greater, .value(.integer(1)), [])
          }
          if maker.chance(50) {
            projection.sort = [
              StoreSort(.group(.count, .value(.integer(1))), isAscending: maker.chance(50)),
              StoreSort(projection.grouping[0], isAscending: true),
            ]
            projection.limit = maker.chance(50) ? 3 : nil
            projection.offset = maker.chance(30) ? 1 : 0
          }
        } else if maker.chance(30) {
          projection.columns = [.value(maker.text([name], depth: 1))]
          projection.isDistinct = true
          projection.sort = [StoreSort(maker.number([name], depth: 1), isAscending: true)]
        } else {
          projection.columns = [
            .object(StorePath(end: .object)), .value(maker.number([name], depth: 1)),
            .value(maker.text([name], depth: 1)),
          ]
        }
        let context: Comment = "seed \(seed), round \(round): \(projection)"
        var expected: ProjectedRows?
        let unsupported = failure { () throws(StoreError) in expected = try file.project(projection) }
        var found: ProjectedRows?
        let error = failure { () throws(StoreError) in found = try server.project(projection) }
        // What the server can't compute is computed in memory, so only what SQLite refuses may be refused.
        try #require(error == nil || unsupported != nil, context)
        guard unsupported == nil, found != nil else { continue }
        try #require(
          texts(found!).sorted { "\($0)" < "\($1)" } == texts(expected!).sorted { "\($0)" < "\($1)" }, context
        )
        compared += 1
        if !projection.grouping.isEmpty { grouped += 1 }
      }
      #expect(compared > 60 && grouped > 20, "\(compared), \(grouped)")
    }

    @Test func `A decimal is a number as long as a number has its digits`() throws {
      let values = ["1.5", "12345678901234567890.5", "7", "0.000001"]
      try server.insert(
        "Item", values.enumerated().map { Draft(key: Int64(-1 - $0), values: ["price": .text($1)]) })
      let price = StoreExpression.path(StorePath(end: .property(slot: server.slot("Item", "price"), leaf: 0)))
      let rows = try server.project(
        StoreProjection(
          entity: server.index("Item"), columns: [.value(price)],
          sort: [StoreSort(.path(StorePath(end: .object)))]))
      #expect(rows.values == [.real(1.5), .text("12345678901234567890.5"), .integer(7), .real(0.000001)])
    }

    @Test func `An average has the digits of SQLite's, and rows may be grouped by nothing`() throws {
      let numbers = [1, 5, 2, 3, 3, 1, 4, 2, 2]
      for store in [server, file] as [any Store] {
        try store.insert(
          "Item",
          numbers.enumerated().map { Draft(key: Int64(-1 - $0), values: ["big": .integer(Int64($1))]) })
        let big = StoreExpression.path(StorePath(end: .property(slot: store.slot("Item", "big"), leaf: 0)))
        var projection = StoreProjection(
          entity: store.index("Item"),
          columns: [.value(.group(.average, big)), .value(.group(.sum, big)), .value(.value(.null))])
        projection.grouping = [.value(.null)]
        let rows = try store.project(projection)
        #expect(rows.values[0] == .real(23.0 / 9.0) && rows.values[2] == .null)
        projection.filter = .constant(false)
        #expect(try store.project(projection).count == 0)
      }
    }

    @Test func `Two spellings of a letter are two values in grouped results, too`() throws {
      for store in [server, file] as [any Store] {
        try store.insert("Item", [Draft(key: -1, values: ["big": .integer(1)])])
        let big = StoreExpression.path(StorePath(end: .property(slot: store.slot("Item", "big"), leaf: 0)))
        var projection = StoreProjection(entity: store.index("Item"), columns: [.value(.group(.sum, big))])
        projection.grouping = [big]
        projection.filter = .comparison(.value(.text("\u{E9}")), .equal, .value(.text("e\u{301}")), [])
        #expect(try store.project(projection).count == 0)
      }
    }

    // MARK: Single queries

    private func title(_ store: some Store) -> StoreExpression {
      .path(StorePath(end: .property(slot: store.slot("Item", "title"), leaf: 0)))
    }

    @Test func `A condition that this process decides reads each relationship once`() throws {
      var maker = QueryMaker(random: SplitMix(seed: 5), schema: server.schema)
      try maker.fill(server, file)
      let name = StoreExpression.path(
        StorePath(
          hops: [server.slot("Item", "category"), server.slot("Category", "parent")],
          end: .property(slot: server.slot("Category", "name"), leaf: 0)))
      let query = StoreQuery(
        entity: server.index("Item"),
        filter: .comparison(name, .contains, .value(.text("A")), [.caseInsensitive]))
      let before = server.statistics().statements
      let rows = try server.fetch(query, isKnown: nil)
      // The beginning of the transaction with the candidates, the categories, their parents, and the end.
      #expect(server.statistics().statements - before == 4)
      #expect(try Set(keys(rows)) == Set(keys(file.fetch(query, isKnown: nil))))
      #expect(rows.count > 0)
    }

    @Test func `A folded condition finds one row among twenty thousand`() throws {
      try server.insert("Tag", (1...20_000).map { Draft(key: -$0, values: ["name": .text("Tag \($0)")]) })
      let name = StoreExpression.path(StorePath(end: .property(slot: server.slot("Tag", "name"), leaf: 0)))
      let query = StoreQuery(
        entity: server.index("Tag"),
        filter: .comparison(name, .equal, .value(.text("tAG 17321")), [.caseInsensitive]))
      let rows = try server.fetch(query, isKnown: nil)
      #expect(described(rows, server).map { $0["name"] } == ["Tag 17321"])
      #expect(rows.batches.map(\.count) == [1])
      #expect(try server.count(query) == 1)
    }

    @Test(arguments: [
      [""], ["", "a"], ["a,b", "c"], ["{}", "\"", "\\", "NULL", "null"], ["one", "two", "\u{1}"],
      ["," + String(String.UnicodeScalarView((1..<32).map { Unicode.Scalar($0 as UInt8) })), "", "x"],
    ])
    func `A list of texts finds its members, whatever characters they have`(texts: [String]) throws {
      let others = ["other", "a", "b", "NULL "].filter { !texts.contains($0) }
      for store in [server, file] as [any Store] {
        let drafts = (texts + others).enumerated().map {
          Draft(key: -Int64($0 + 1), values: ["title": .text($1)])
        }
        try store.insert("Item", drafts)
        let title = StoreExpression.path(
          StorePath(end: .property(slot: store.slot("Item", "title"), leaf: 0)))
        let isMember = StoreFilter.comparison(title, .in, .list(texts.map { .value(.text($0)) }), [])
        let query = StoreQuery(entity: store.index("Item"), filter: isMember)
        #expect(try store.count(query) == texts.count)
        #expect(Set(keys(try store.fetch(query, isKnown: nil))) == Set(1...Int64(texts.count)))
      }
    }

    @Test func `A long list of keys is looked up, in a table without statistics as well`() throws {
      try server.insert("Tag", (1...20_000).map { Draft(key: -$0) })
      let query = StoreQuery(entity: server.index("Tag"), filter: .keys(Array(5_001...25_000)))
      // The server hashes the members of a constant. Otherwise each row would be compared with each key.
      let sql = try server.plans(of: query, prefersIndexes: false)[0].sql
      var parameters = Parameters()
      parameters.append((5_001...25_000).map(String.init).joined(separator: ","))
      parameters.append(",")
      let lines = try place.connection().run("EXPLAIN " + sql, parameters, while: "Explaining for a test")
      let plan = (0..<lines.count).map { lines.text($0, 0) ?? "" }.joined()
      #expect(plan.contains("ANY ('{5001,5002,"))
      #expect(try server.count(query) == 15_000)
    }

    @Test(arguments: ["small", "big", "flag", "ratio", "when", "title", "price", "uid"])
    func `Many alternatives of one attribute are one list`(name: String) throws {
      var maker = QueryMaker(random: SplitMix(seed: 11), schema: server.schema)
      try maker.fill(server, file)
      let item = server.index("Item")
      let path = StoreExpression.path(StorePath(end: .property(slot: server.slot("Item", name), leaf: 0)))
      // The layer above gives no attribute a text but those of texts.
      let texts: [StoreValue] = name == "title" ? [.text("B"), .text("1")] : []
      let strange: [StoreValue] =
        texts + [.null, .real(2.5), .real(.infinity), .integer(.max), .integer(0), .real(1)]
      for options in [[], .caseInsensitive] as [StoreFilter.TextOptions]
      where options.isEmpty || name == "title" {
        let values = (0..<500).map { number -> StoreValue in
          name == "title" ? .text("t\(number)") : .integer(Int64(number))
        }
        for values in [values, Array(values.prefix(80)) + strange] {
          let equal = StoreFilter.or(values.map { .comparison(path, .equal, .value($0), options) })
          let other = StoreFilter.and(values.map { .comparison(path, .notEqual, .value($0), options) })
          for filter in [equal, .not(equal), other, .not(other), .and([equal, .constant(true)])] {
            let query = StoreQuery(entity: item, filter: filter)
            let found = try Set(keys(server.fetch(query, isKnown: nil)))
            #expect(
              found == (try Set(keys(file.fetch(query, isKnown: nil)))), "\(name) \(options) \(values.count)")
            let sql = try server.plans(of: query, prefersIndexes: false).first?.sql ?? ""
            #expect(sql.utf8.count < 4_000, "\(sql.prefix(200))")
          }
        }
      }
    }

    @Test func `Text with a zero byte equals no stored text`() throws {
      try server.insert("Item", [Draft(key: -1, values: ["title": .text("a")])])
      for comparison in [StoreFilter.Comparison.equal, .contains, .beginsWith] {
        let query = StoreQuery(
          entity: server.index("Item"),
          filter: .comparison(title(server), comparison, .value(.text("a\0")), []))
        #expect(try server.count(query) == 0)
      }
    }

    @Test func `A query of no entity is refused`() {
      let error = failure { () throws(StoreError) in
        _ = try server.fetch(StoreQuery(entity: 77), isKnown: nil)
      }
      #expect(error?.code == .unsupportedQuery)
    }

    @Test func `A fetch whose backend was killed is repeated on another connection`() throws {
      try server.insert("Tag", [Draft(key: -1)])
      let victim = try server.pool.withConnection { $0.backend }
      try place.connection().terminate(victim)
      #expect(try server.count(StoreQuery(entity: server.index("Tag"))) == 1)
      #expect(server.statistics().lost == 1)
    }
  }
#endif
