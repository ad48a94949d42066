#if PostgreSQL
  @testable import CDEPostgreSQLStore
  @_spi(CDE) import CDESQL
  @_spi(CDE) import CDESQLiteFaults
  import CDESQLiteStore
  import CDEStore
  @_spi(CDE) import CDEStoreTestKit
  import Foundation
  import Testing

  /// Sorts by the columns of a uniqueness constraint, whose index has NULL behind all values.
  @Suite(.needsServer) struct NullOrderTests {
    let place = TestSchema()
    let server: PostgreSQLStore

    init() throws {
      server = try PostgreSQLStore(schema: Shop.schema, configuration: place.configuration())
    }

    private func path(_ property: String) -> StoreExpression {
      let category = Shop.resolved.entity(named: "Category")!
      return .path(
        StorePath(end: .property(slot: category.layout.property(named: property)!.slot, leaf: 0)))
    }

    private func query(
      _ filter: StoreFilter, by properties: [String] = ["name"], isAscending: Bool = true, limit: Int? = 50
    ) -> StoreQuery {
      var query = StoreQuery(entity: server.index("Category"), filter: filter)
      query.sort = properties.map { StoreSort(path($0), isAscending: isAscending) }
      query.limit = limit
      return query
    }

    private func statement(_ query: StoreQuery) throws -> CompiledQuery {
      try QueryReader(server.plans, query).compiledRows()
    }

    private func after(_ name: String) -> StoreFilter {
      .comparison(path("name"), .greater, .value(.text(name)), [])
    }

    private var plans: [(StoreFilter, isWithoutNull: Bool)] {
      let name = path("name")
      let some = after("b")
      let same = StoreFilter.and([
        .comparison(name, .equal, .value(.text("b")), []),
        .comparison(path("code"), .greater, .value(.integer(1)), []),
      ])
      return [
        (some, true), (.comparison(.value(.text("b")), .less, name, []), true),
        (.or([some, same]), true), (.and([.constant(true), some]), true),
        (.comparison(name, .notEqual, .value(.null), []), true),
        (.comparison(name, .in, .list([.value(.text("a")), .value(.text("b"))]), []), true),
        (.comparison(name, .beginsWith, .value(.text("a")), []), true),
        (.comparison(name, .between, .list([.value(.text("a")), .value(.text("c"))]), []), true),
        (.constant(true), false), (.not(some), false),
        (.comparison(name, .notEqual, .value(.text("b")), []), false),
        (.comparison(name, .equal, .value(.null), []), false),
        (.comparison(name, .equal, path("name"), []), false),
        (.comparison(name, .in, .list([.value(.text("a")), .value(.null)]), []), false),
        (.or([some, .comparison(path("code"), .equal, .value(.integer(1)), [])]), false),
        (.comparison(path("code"), .greater, .value(.integer(1)), []), false),
      ]
    }

    @Test func `Only a condition that holds for no row without the value leaves out where NULL goes`() throws
    {
      for (filter, isWithoutNull) in plans {
        for isAscending in [true, false] {
          let sql = try statement(query(filter, isAscending: isAscending)).sql
          #expect(sql.contains("NULLS") != isWithoutNull, "\(filter): \(sql)")
        }
      }
      // The second column of the constraint may be nil here.
      let sql = try statement(query(after("b"), by: ["name", "code"])).sql
      #expect(sql.hasSuffix("ASC, t0.\"ZCODE\" ASC NULLS FIRST LIMIT $2 OFFSET $3"), "\(sql)")
      // The constraint's index does not begin with this column.
      let other = try statement(
        query(.comparison(path("code"), .greater, .value(.integer(1)), []), by: ["code"]))
      #expect(other.sql.contains("NULLS FIRST"))
      // A declared index has NULL where the sort has it.
      let item = Shop.resolved.entity(named: "Item")!
      let title = StoreExpression.path(
        StorePath(end: .property(slot: item.layout.property(named: "title")!.slot, leaf: 0)))
      var items = StoreQuery(
        entity: item.index, filter: .comparison(title, .greater, .value(.text("a")), []))
      items.sort = [StoreSort(title)]
      #expect(try statement(items).sql.contains("NULLS FIRST"))
    }

    @Test func `A page behind a unique value reads the index and not the table`() throws {
      let connection = try place.connection()
      try connection.execute(
        "INSERT INTO \"ZCATEGORY\" (\"Z_PK\", \"Z_ENT\", \"Z_OPT\", \"ZNAME\", \"ZCODE\") SELECT number, 1, 1, "
          + "CASE WHEN number % 10 = 0 THEN NULL ELSE lpad(number::text, 6, '0') END, number % 7 "
          + "FROM generate_series(1, 20000) AS number", while: "Filling a table")
      try connection.execute("ANALYZE \"ZCATEGORY\"", while: "Counting a table")
      for (properties, isAscending) in [(["name"], true), (["name"], false), (["name", "code"], true)] {
        let query = query(after("010000"), by: properties, isAscending: isAscending)
        let compiled = try statement(query)
        let rows = try connection.run(
          "EXPLAIN " + compiled.sql, Parameters(compiled.bindings), while: "Explaining")
        let plan = (0..<rows.count).map { rows.text($0, 0) ?? "" }.joined(separator: "\n")
        #expect(plan.contains("Z_Category_UNIQUE_name_code") && !plan.contains("Seq Scan"), "\(plan)")
        let found = try server.fetch(query, isKnown: nil)
        let keys =
          found.order?.map(\.key)
          ?? found.batches.flatMap { batch in
            (0..<batch.count).map { batch.key($0) }
          }
        let all = (1...20000).filter { $0 % 10 != 0 && $0 > 10000 }.map(Int64.init)
        #expect(keys == Array((isAscending ? all : all.reversed()).prefix(50)))
      }
    }

    @Test(arguments: TestScale.seeds(31, 32, 33))
    func `Rows with and without values have SQLite's order`(seed: UInt64) throws {
      print("seed \(seed)")
      let file = try SQLiteStore(
        schema: Shop.schema, configuration: .init(location: .inMemory(name: place.name)))
      var maker = QueryMaker(random: SplitMix(seed: seed), schema: Shop.resolved)
      try maker.fill(server, file)
      func keys(_ rows: FetchedRows) -> [Int64] {
        rows.order?.map(\.key) ?? rows.batches.flatMap { batch in (0..<batch.count).map { batch.key($0) } }
      }
      for (filter, _) in plans {
        for properties in [["name"], ["name", "code"], ["code", "name"]] {
          var query = query(filter, by: properties, isAscending: maker.chance(50), limit: nil)
          // The order is the same on both engines only if no two rows are equal.
          query.sort.append(StoreSort(.path(StorePath(end: .object))))
          let (found, expected) = (
            try server.fetch(query, isKnown: nil), try file.fetch(query, isKnown: nil)
          )
          #expect(keys(found) == keys(expected), "seed \(seed): \(query)")
        }
      }
    }
  }
#endif
