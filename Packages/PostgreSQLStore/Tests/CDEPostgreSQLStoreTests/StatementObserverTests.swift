#if PostgreSQL
  @_spi(CDE) @testable import CDEPostgreSQLStore
  @_spi(CDE) import CDEStore
  @_spi(CDE) import CDEStoreTestKit
  import Foundation
  import Testing

  @Suite(.needsServer) struct StatementObserverTests {
    private let place = TestSchema()

    private func store(_ listener: StatementListener) throws -> PostgreSQLStore {
      try PostgreSQLStore(
        schema: Shop.resolved, configuration: place.configuration(), observer: listener)
    }

    @Test func `Opening is not told, and each call is one request of its kind`() throws {
      let listener = StatementListener()
      let store = try store(listener)
      #expect(listener.take().isEmpty)
      try store.insert("Tag", (1...3).map { Draft(key: -$0, values: ["name": .text("t\($0)")]) })
      let saved = listener.take()
      #expect(saved.map(\.kind) == [.save])
      // What the store does for its tokens is none of the save's statements.
      #expect(
        saved.flatMap(\.statements).allSatisfy { !$0.sql.contains("synchronous_commit TO off; DELETE") })
      let tag = store.index("Tag")
      #expect(try store.count(StoreQuery(entity: tag)) == 3)
      _ = try store.fetch(StoreQuery(entity: tag), isKnown: nil)
      _ = try store.rows(entity: tag, keys: [1, 2, 3])
      _ = try store.related(entity: tag, slot: store.slot("Tag", "items"), owners: [1, 2], isKnown: nil)
      let reads = listener.take()
      #expect(reads.map(\.kind) == [.read, .read, .read, .read])
      #expect(reads.flatMap(\.statements).allSatisfy { $0.sql.hasPrefix("SELECT ") && $0.runs == 1 })
      _ = try store.metadata()
      _ = try store.allocateKeys([store.root("Tag"): 1])
      #expect(listener.take().map(\.kind) == [.upkeep, .upkeep])
      let rules = store.schema.entities.mapped { _ in [SlotIndex: StoreBatchDelete.Rule]() }
      _ = try store.commit(
        .delete(StoreBatchDelete(query: StoreQuery(entity: tag, keysOnly: true), rules: rules)))
      #expect(listener.take().map(\.kind) == [.batch])
    }

    @Test func `The wait for a connection of the pool is told, and is no time of the engine`() throws {
      let listener = StatementListener()
      let store = try store(listener)
      let tag = store.index("Tag")
      let asked = ContinuousClock.now
      _ = try store.count(StoreQuery(entity: tag))
      let passed = asked.duration(to: .now)
      let told = listener.take()
      #expect(told.count == 1 && told[0].waiting > .zero && told[0].duration > .zero)
      #expect(told[0].waiting + told[0].duration <= passed)
    }

    @Test func `A read in steps is one request without its transaction, also if this process decides`() throws
    {
      let listener = StatementListener()
      let store = try store(listener)
      try store.insert("Tag", [Draft(key: -1, values: ["name": .text("Änne")])])
      _ = listener.take()
      let name = StoreExpression.path(StorePath(end: .property(slot: store.slot("Tag", "name"), leaf: 0)))
      let query = StoreQuery(
        entity: store.index("Tag"),
        filter: .comparison(
          name, .contains, .value(.text("anne")), [.caseInsensitive, .diacriticInsensitive]))
      #expect(try store.fetch(query, isKnown: nil).count == 1)
      let told = listener.take()
      #expect(told.map(\.kind) == [.read])
      #expect(told[0].statements.allSatisfy { $0.sql.hasPrefix("SELECT ") })
    }

    @Test func `Values are told only to those who want them`() throws {
      for wantsValues in [false, true] {
        let listener = StatementListener(wantsValues: wantsValues)
        let store = try store(listener)
        let id = UUID()
        let bytes = withUnsafeBytes(of: id.uuid) { Array($0) }
        let keys = try store.insert(
          "Item",
          (1...2).map {
            Draft(
              key: -$0,
              values: [
                "title": .text("it's \($0)"), "big": .integer(70_000 + $0), "ratio": .real(0.25),
                "flag": .integer(1),
                "uid": .bytes(bytes), "payload": .bytes([1, 171]),
              ])
          })
        _ = try store.rows(entity: store.index("Item"), keys: keys)
        let texts = listener.take().flatMap(\.statements).map(\.sql)
        let insert = try #require(texts.first { $0.hasPrefix("INSERT INTO \"ZITEM\"") })
        for value in [
          "'it''s 2'", "70001, 70002", "0.25", "true", "'\(id.uuidString)'", #"'\x01ab'"#, "NULL",
        ] {
          #expect(insert.contains(value) == wantsValues, "\(value)")
        }
        #expect(insert.contains("$1") != wantsValues)
      }
    }

    @Test func `A failed request and a repeated one are told once`() throws {
      let listener = StatementListener()
      let store = try store(listener)
      let category = Draft(key: -1, values: ["name": .text("a"), "code": .integer(1)])
      try store.insert("Category", [category])
      _ = listener.take()
      #expect(
        failure { () throws(StoreError) in try store.insert("Category", [category]) }?.code == .uniqueness)
      let told = listener.take()
      #expect(told.map(\.kind) == [.save])
      #expect(told[0].statements.contains { $0.sql.hasPrefix("INSERT INTO ") })
      // The connection was idle when it was lost, so the read runs once more.
      let (idle, _) = try store.pool.borrow()
      let backend = idle.backend
      store.pool.giveBack(idle)
      try place.connection().terminate(backend)
      #expect(try store.count(StoreQuery(entity: store.index("Category"))) == 1)
      #expect(listener.take().map(\.kind) == [.read])
    }
  }
#endif
