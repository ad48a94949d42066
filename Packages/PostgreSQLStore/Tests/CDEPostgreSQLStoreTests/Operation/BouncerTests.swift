#if PostgreSQL
  @_spi(CDE) import CDEExecutors
  @testable import CDEPostgreSQLStore
  import CDEStore
  @_spi(CDE) import CDEStoreTestKit
  import Foundation
  import Testing

  /// Stores behind PgBouncer in session mode: what lives in a session has to work there, too.
  @Suite(.needsBouncer, .serialized) struct BouncerTests {
    private let place = TestSchema()
    private let bouncer: Bouncer

    init() throws { bouncer = try Bouncer(connections: 20) }

    private func open() throws -> PostgreSQLStore {
      try PostgreSQLStore(schema: Shop.schema, configuration: bouncer.configuration(place))
    }

    @Test func `Saves, reads, kept states and notifications work`() throws {
      let (store, other) = (try open(), try open())
      let numbers = Lock<[Int64]>([])
      let arrival = DispatchSemaphore(value: 0)
      let reason = try store.observeOthers { commits in
        numbers.withLock { $0 += (commits.transactions ?? []).map(\.number) }
        return { arrival.signal() }
      }
      #expect(reason == nil)
      let key = try other.insert("Owner", [Draft(key: -1, values: ["name": .text("a")])])[0]
      #expect(arrival.wait(timeout: .now() + 10) == .success)
      #expect(numbers.withLock { $0 } == [1])
      let pinned = try #require(try store.pinned() as? PostgreSQLStore)
      #expect(try pinned.describe("Owner", key)?["name"] == "a")
      for version in 2...40 {
        let draft = Draft(key: key, version: Int64(version), values: ["name": .text("v\(version)")])
        try (version % 2 == 0 ? store : other).commit {
          $0.updated = [store.update("Owner", [draft], "name")]
        }
      }
      #expect(try store.describe("Owner", key)?["name"] == "v40")
      #expect(try pinned.describe("Owner", key)?["name"] == "a")
    }

    @Test func `Statements and settings of one session do not reach the next one`() throws {
      let store = try open()
      try store.insert("Owner", [Draft(key: -1)])
      try store.close()
      // The server's session is used again.
      let again = try open()
      try again.insert("Owner", [Draft(key: -1)])
      #expect(try again.count(StoreQuery(entity: again.index("Owner"))) == 2)
      let second = TestSchema()
      let elsewhere = try PostgreSQLStore(schema: Shop.schema, configuration: bouncer.configuration(second))
      #expect(try elsewhere.count(StoreQuery(entity: elsewhere.index("Owner"))) == 0)
    }

    @Test func `Writers of four stores and a batch leave what they should`() throws {
      let stores = try (0..<4).map { _ in try open() }
      let key = try stores[0].insert("Item", [Draft(key: -1, values: ["big": .integer(0)])])[0]
      let writers = stores.map { store in
        SeveralWritersTests.Call { () throws(StoreError) -> Int in
          var done = 0
          while done < 10 {
            guard let row = try store.row(entity: store.index("Item"), key: key) else { return -1 }
            let cell = row.batch.layout.property(named: "big")!.cells.lowerBound
            let value = (row.batch.integer(row.row, cell) ?? 0) + 1
            let draft = Draft(key: key, version: row.version + 1, values: ["big": .integer(value)])
            do throws(StoreError) {
              try store.commit { $0.updated = [store.update("Item", [draft], "big")] }
              done += 1
            } catch {
              if error.code != .conflict { throw error }
            }
          }
          return done
        }
      }
      for writer in writers { #expect(try writer.value.get() == 10) }
      #expect(try stores[0].describe("Item", key)?["big"] == "40")
      let rules = stores[0].schema.entities.mapped { _ in [SlotIndex: StoreBatchDelete.Rule]() }
      _ = try stores[1].commit(
        .delete(
          StoreBatchDelete(query: StoreQuery(entity: stores[1].index("Item"), keysOnly: true), rules: rules)))
      #expect(try stores[2].count(StoreQuery(entity: stores[2].index("Item"))) == 0)
    }

    @Test func `A migration waits for the users of the store`() throws {
      let change = try SchemaChange(
        [StoreEntity(name: "Book", attributes: [StoreAttribute(name: "title", type: .string)])],
        [StoreEntity(name: "Book", attributes: [StoreAttribute(name: "name", type: .string)])],
        properties: ["Book.name": "title"])
      var configuration = bouncer.configuration(place)
      configuration.lockTimeout = .milliseconds(300)
      let store = try PostgreSQLStore(schema: change.old, configuration: configuration)
      try store.insert("Book", [Draft(key: -1, values: ["title": .text("a")])])
      func migrate() -> StoreError? {
        failure { () throws(StoreError) in
          _ = try PostgreSQLMigratableStore(configuration).migrate(
            change.migration, from: change.old, to: change.new, entities: Set(change.new.entities.indices),
            modelCache: nil, pace: .unwatched())
        }
      }
      #expect(migrate()?.code == .busy)
      try store.close()
      configuration.lockTimeout = .seconds(10)
      #expect(migrate() == nil)
      let migrated = try PostgreSQLStore(schema: change.new, configuration: configuration)
      #expect(try migrated.describe("Book", 1)?["name"] == "a")
    }
  }
#endif
