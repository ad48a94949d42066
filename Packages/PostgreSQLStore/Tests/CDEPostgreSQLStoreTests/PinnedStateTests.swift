#if PostgreSQL
  @testable import CDEPostgreSQLStore
  import CDEStore
  @_spi(CDE) import CDEStoreTestKit
  import Foundation
  import Testing

  @Suite(.needsServer) struct PinnedStateTests {
    let place = TestSchema()
    let store: PostgreSQLStore

    init() throws {
      var configuration = place.configuration()
      configuration.applicationName = place.name
      configuration.tracksHistory = true
      store = try PostgreSQLStore(schema: Shop.schema, configuration: configuration)
    }

    private func everything(_ entity: String) -> StoreQuery { StoreQuery(entity: store.index(entity)) }

    @Test func `A kept state answers all reads as before later commits`() throws {
      let items = try store.insert(
        "Item", [Draft(key: -1, values: ["title": .text("a")]), Draft(key: -2)])
      let pinned = try #require(try store.pinned())
      let reader = try #require(pinned as? PostgreSQLStore)
      try store.commit {
        $0.updated = [
          store.update("Item", [Draft(key: items[0], version: 2, values: ["title": .text("b")])], "title")
        ]
        $0.deleted = [store.deletion("Item", items[1])]
      }
      #expect(try store.count(everything("Item")) == 1)
      #expect(try pinned.count(everything("Item")) == 2)
      #expect(try pinned.fetch(everything("Item"), isKnown: nil).count == 2)
      #expect(try reader.describe("Item", items[0])?["title"] == "a")
      #expect(try store.describe("Item", items[0])?["title"] == "b")
      let title = StoreExpression.path(
        StorePath(end: .property(slot: store.slot("Item", "title"), leaf: 0)))
      let projection = StoreProjection(
        entity: store.index("Item"), columns: [.value(.function(.uppercase, [title]))],
        sort: [StoreSort(title, isAscending: true)])
      // Changing the case is computed in memory, from rows of the same state.
      #expect(try pinned.project(projection).values == [.null, .text("A")])
      #expect(try pinned.historyExtent()?.last == 1)
      #expect(try store.historyExtent()?.last == 2)
      #expect(
        failure { () throws(StoreError) in try reader.insert("Item", [Draft(key: -1)]) }?.code == .readOnly)
    }

    @Test func `A statement that fails does not end a kept state`() throws {
      try store.insert("Item", [Draft(key: -1)])
      let pinned = try #require(try store.pinned() as? PostgreSQLStore)
      try store.insert("Item", [Draft(key: -1)])
      let error = failure { () throws(StoreError) in
        try pinned.pool.withConnection { (connection) throws(StoreError) in
          try connection.execute("SELECT 1 / 0", while: "Failing")
        }
      }
      #expect(error?.code == .constraint)
      #expect(try pinned.count(everything("Item")) == 1)
    }

    @Test func `A kept state outlives its store, and its reads of several threads follow each other`()
      async throws
    {
      try store.insert("Item", [Draft(key: -1)])
      let pinned = try #require(try store.pinned())
      try store.insert("Item", [Draft(key: -1)])
      try store.close()
      let query = everything("Item")
      try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<20 { group.addTask { try pinned.count(query) } }
        for try await count in group { #expect(count == 1) }
      }
    }

    @Test func `A kept state whose connection is lost is an error, and the store goes on`() throws {
      try store.insert("Item", [Draft(key: -1)])
      let pinned = try #require(try store.pinned() as? PostgreSQLStore)
      let backend = try pinned.pool.withConnection { (connection) throws(StoreError) in connection.backend }
      try place.connection().terminate(backend)
      for _ in 0..<2 {
        #expect(failure { () throws(StoreError) in _ = try pinned.count(everything("Item")) }?.code == .io)
      }
      #expect(try store.count(everything("Item")) == 1)
      #expect(try store.pinned()?.count(everything("Item")) == 1)
    }
  }
#endif
