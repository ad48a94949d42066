#if PostgreSQL
  @testable import CDEPostgreSQLStore
  @_spi(CDE) import CDESQLiteFaults
  import CDESQLiteStore
  import CDEStore
  @_spi(CDE) import CDEStoreTestKit
  import Foundation
  import Testing

  @Suite(.needsServer) struct BatchTests {
    /// Two engines with the same rows.
    private final class World {
      let place = TestSchema()
      let server: PostgreSQLStore
      let file: SQLiteStore
      var maker: QueryMaker

      init(_ random: SplitMix) throws {
        server = try PostgreSQLStore(schema: Shop.schema, configuration: place.configuration())
        file = try SQLiteStore(
          schema: Shop.schema, configuration: .init(location: .inMemory(name: place.name)))
        maker = QueryMaker(random: random, schema: Shop.resolved)
        try maker.fill(server, file)
      }

      func query(_ name: String) -> StoreQuery {
        var query = StoreQuery(entity: maker.index(name), filter: maker.filter([name], depth: 2))
        query.includesSubentities = maker.chance(80)
        if maker.chance(30) {
          query.sort = [StoreSort(.path(StorePath(end: .object)))]
          query.limit = Int.random(in: 1...9, using: &maker.random)
        }
        return query
      }

      func update() -> StoreBatch {
        let name = maker.pick(["Item", "Category"])
        let query = query(name)
        var values: [RowUpdate] = []
        var computed: [[StoreBatchUpdate.Computed]] = []
        let constant = maker.chance(60)
        let (number, text) = (maker.number([name], depth: 1), maker.text([name], depth: 1))
        let (wantsNumber, wantsText) = (maker.chance(60), maker.chance(40))
        let title: Draft.Value = .text(maker.pick(QueryMaker.texts))
        for concrete in name == "Item" ? ["Item", "SpecialItem"] : ["Category"] {
          let draft =
            name == "Item"
            ? Draft(key: 1, values: ["flag": .integer(1), "ratio": .real(2.5)])
            : Draft(key: 1, values: ["name": title])
          let properties = constant ? (name == "Item" ? ["flag", "ratio", "price"] : ["name"]) : []
          values.append(
            RowUpdate(
              batch: file.batch(concrete, [draft]),
              changed: [PropertySet(properties.map { maker.slot(concrete, $0) })]))
          var results: [StoreBatchUpdate.Computed] = []
          // Slots of an expression are those of the rows' own entity.
          if wantsNumber, concrete == name {
            let target = name == "Item" ? "big" : "code"
            results.append(.init(slot: maker.slot(concrete, target), expression: number))
          }
          if wantsText, concrete == "Item" {
            results.append(.init(slot: maker.slot(concrete, "title"), expression: text))
          }
          computed.append(results)
        }
        return .update(StoreBatchUpdate(query: query, values: values, computed: computed))
      }

      func deletion() -> StoreBatch {
        var rules = IndexedArray<EntityIndex, [SlotIndex: StoreBatchDelete.Rule]>(
          repeating: [:], count: maker.schema.entities.count)
        for entity in maker.schema.entities {
          for property in entity.layout.properties {
            switch property.kind {
            case .toOne, .toMany:
              rules[entity.index][property.slot] = maker.pick([
                .nullify, .nullify, .nullify, .cascade, .deny, .noAction,
              ])
            case .attribute, .composite: continue
            }
          }
        }
        return .delete(StoreBatchDelete(query: query(maker.pick(["Item", "Category", "Tag"])), rules: rules))
      }

      /// All rows without their versions, which SQLite raises once for each cleared reference, and all pairs.
      func content(_ store: some Store) throws -> [[String: String]] {
        var content: [[String: String]] = []
        for name in ["Item", "Category", "Tag"] {
          var query = StoreQuery(entity: store.index(name))
          query.sort = [StoreSort(.path(StorePath(end: .object)))]
          let rows = try store.fetch(query, isKnown: nil)
          let references =
            rows.order.map { $0.map { RowReference(batch: rows.batches[Int($0.batch)], row: Int($0.row)) } }
            ?? rows.batches.flatMap { batch in (0..<batch.count).map { RowReference(batch: batch, row: $0) } }
          content += references.map { row in
            store.describe(row.batch, row.row).filter { $0.key != "version" }
          }
          for property in ["items", "related", "featured"] {
            guard let slot = store.schema.entity(named: name)!.layout.slot(named: property) else { continue }
            let related = try store.related(
              entity: store.index(name), slot: slot, owners: references.map(\.key), isKnown: nil)
            content += related.ranges.map { range in
              [property: "\(related.entries[range].map(\.key).sorted())"]
            }
          }
        }
        return content
      }
    }

    @Test(arguments: TestScale.seeds(21, 22, 12_698_606_276_326_693_373))
    func `Random batches do what they do on SQLite`(seed: UInt64) throws {
      print("seed \(seed)")
      var random = SplitMix(seed: seed)
      var (written, refused) = (0, 0)
      for number in 0..<6 {
        let world = try World(SplitMix(seed: random.next()))
        for round in 0..<10 {
          let batch = world.maker.chance(75) ? world.update() : world.deletion()
          let context: Comment = "seed \(seed), world \(number), round \(round): \(batch)"
          var expected = StoreBatchResult()
          let refusal = failure { () throws(StoreError) in expected = try world.file.commit(batch) }
          if refusal?.code == .unsupportedQuery { continue }
          var result = StoreBatchResult()
          let error = failure { () throws(StoreError) in result = try world.server.commit(batch) }
          // Arithmetic that memory refuses, where SQLite converts.
          if error?.code == .unsupportedQuery, refusal == nil { break }
          // SQLite compares unique values after each row, the server after all: rows may swap theirs.
          if error == nil, refusal?.code == .uniqueness { break }
          try #require(error?.code == refusal?.code, "\(context): \(error?.message ?? "none")")
          refused += refusal == nil ? 0 : 1
          try #require(result.rows == expected.rows, context)
          try #require(result.cascaded == expected.cascaded, context)
          try #require(Set(result.nullified) == Set(expected.nullified), context)
          try #require(Set(result.touched) == Set(expected.touched), context)
          try #require(try world.content(world.server) == world.content(world.file), context)
          written += result.rows.isEmpty ? 0 : 1
        }
      }
      #expect(written > 10, "\(written) batches changed rows, \(refused) were refused")
    }

    // MARK: Single batches

    private let place = TestSchema()

    private func store(tracksHistory: Bool = false) throws -> PostgreSQLStore {
      var configuration = place.configuration()
      configuration.applicationName = place.name
      configuration.tracksHistory = tracksHistory
      return try PostgreSQLStore(schema: Shop.schema, configuration: configuration)
    }

    private func raise(_ store: PostgreSQLStore, where filter: StoreFilter = .constant(true)) -> StoreBatch {
      let slot = store.slot("Item", "big")
      let path = StoreExpression.path(StorePath(end: .property(slot: slot, leaf: 0)))
      return .update(
        StoreBatchUpdate(
          query: StoreQuery(entity: store.index("Item"), filter: filter),
          values: [RowUpdate(batch: store.batch("Item", [Draft(key: 1)]), changed: [[]])],
          computed: [[.init(slot: slot, expression: .function(.add, [path, .value(.integer(1))]))]]))
    }

    @Test func `Twenty thousand rows are changed, deleted, and recorded in the history`() throws {
      let store = try store(tracksHistory: true)
      try store.insert("Item", (1...20_000).map { Draft(key: -$0, values: ["big": .integer($0)]) })
      let changed = try store.commit(raise(store))
      #expect(changed.rows.count == 20_000 && changed.historyNumber == 2)
      #expect(try store.describe("Item", 7)?["big"] == "8")
      #expect(try store.describe("Item", 7)?["version"] == "2")
      let rules = IndexedArray<EntityIndex, [SlotIndex: StoreBatchDelete.Rule]>(
        repeating: [:], count: store.schema.entities.count)
      let deleted = try store.commit(
        .delete(StoreBatchDelete(query: StoreQuery(entity: store.index("Item")), rules: rules)))
      #expect(deleted.rows == changed.rows && deleted.number == changed.number + 1)
      #expect(try store.count(StoreQuery(entity: store.index("Item"))) == 0)
      let history = try store.history(StoreHistoryQuery())
      #expect(history.map(\.changes.count) == [20_000, 20_000, 20_000])
    }

    @Test func `A batch whose rows another writer changes meanwhile starts again, and counts that change`()
      throws
    {
      let store = try store()
      let key = try store.insert("Item", [Draft(key: -1, values: ["big": .integer(1)])])[0]
      let other = try place.connection()
      try other.execute(
        "BEGIN; UPDATE \"ZITEM\" SET \"ZBIG\" = 10, \"Z_OPT\" = \"Z_OPT\" + 1 WHERE \"Z_PK\" = \(key)",
        while: "Testing")
      let batch = raise(store)
      let call = SeveralWritersTests.Call { () throws(StoreError) in try store.commit(batch).rows.count }
      let observer = try place.connection()
      try waitUntil("The batch does not wait for the lock") {
        try observer.integer(
          "SELECT count(*) FROM pg_stat_activity WHERE application_name = '\(place.name)' AND wait_event_type = 'Lock'"
        ) == 1
      }
      try other.execute("COMMIT", while: "Testing")
      #expect(call.error == nil)
      #expect(try store.describe("Item", key)?["big"] == "11")
      #expect(try store.describe("Item", key)?["version"] == "3")
    }

    @Test func `A batch of no rows, of limit zero and of a store for reading`() throws {
      let store = try store()
      #expect(try store.commit(raise(store)).rows.isEmpty)
      try store.insert("Item", [Draft(key: -1)])
      guard case .update(var update) = raise(store) else { return }
      update.query.limit = 0
      #expect(try store.commit(.update(update)).rows.isEmpty)
      var configuration = place.configuration()
      configuration.isReadOnly = true
      let reader = try PostgreSQLStore(schema: Shop.schema, configuration: configuration)
      let refusal = failure { () throws(StoreError) in _ = try reader.commit(raise(store)) }
      #expect(refusal?.code == .readOnly)
    }

    @Test func `A batch waits while another one has its turn`() throws {
      let store = try store()
      try store.insert("Item", [Draft(key: -1, values: ["big": .integer(0)])])
      let (other, observer) = (try place.connection(), try place.connection())
      try other.execute(BatchLock(schema: place.name).excluding, while: "Testing")
      let batch = raise(store)
      let call = SeveralWritersTests.Call { () throws(StoreError) in try store.commit(batch).rows.count }
      try waitUntil("The batch does not wait") {
        try observer.integer(
          "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ShareLock' AND NOT granted "
            + "AND pid IN (SELECT pid FROM pg_stat_activity WHERE application_name = '\(place.name)')") == 1
      }
      // The other one's change makes the batch start again.
      try other.execute(
        #"UPDATE "ZITEM" SET "ZBIG" = 10, "Z_OPT" = "Z_OPT" + 1; SELECT pg_advisory_unlock_all()"#,
        while: "Testing")
      #expect(try call.value.get() == 1)
      #expect(try store.describe("Item", 1)?["big"] == "11")
    }

    @Test func `Increments of sixteen writers of one row add up`() throws {
      let store = try store()
      try store.insert("Item", [Draft(key: -1, values: ["big": .integer(0)])])
      let batch = raise(store)
      let calls = (0..<16).map { _ in
        SeveralWritersTests.Call { () throws(StoreError) in
          for _ in 0..<15 { _ = try store.commit(batch) }
        }
      }
      #expect(calls.compactMap(\.error).map { "\($0)" } == [])
      #expect(try store.describe("Item", 1)?["big"] == "240")
    }
  }
#endif
