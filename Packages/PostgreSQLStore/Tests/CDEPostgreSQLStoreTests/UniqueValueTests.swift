#if PostgreSQL
  @_spi(CDE) import CDEExecutors
  @testable import CDEPostgreSQLStore
  @_spi(CDE) import CDESQL
  import CDEStore
  @_spi(CDE) import CDEStoreTestKit
  import Foundation
  import Testing

  /// The locks that writers of the same unique values share.
  @Suite(.needsServer) struct UniqueValueTests {
    let place = TestSchema()
    let store: PostgreSQLStore
    let values: UniqueValues

    init() throws {
      var configuration = place.configuration()
      configuration.applicationName = place.name
      store = try PostgreSQLStore(schema: Shop.schema, configuration: configuration)
      let plans = store.plans
      values = UniqueValues(
        plans.schema.entities.mapped { WritePlan(entity: $0.index, physical: plans.physical) }, plans)
    }

    private func category(_ name: String?, _ code: Int64?, key: Int64 = -1, version: Int64 = 1) -> Draft {
      var draft = Draft(key: key, version: version)
      draft.values["name"] = name.map { .text($0) }
      draft.values["code"] = code.map { .integer($0) }
      return draft
    }

    private func statement(_ change: (inout StoreTransaction) -> Void) -> String? {
      var transaction = StoreTransaction()
      change(&transaction)
      return values.lockStatement(transaction)
    }

    private func inserting(_ drafts: Draft...) -> String? {
      statement { $0.inserted = [store.batch("Category", drafts)] }
    }

    @Test func `Equal values have equal locks, in one order, and other values have others`() throws {
      let first = try #require(inserting(category("a", 1)))
      #expect(inserting(category("a", 1)) == first)
      #expect(inserting(category("a", 2)) != first && inserting(category("b", 1)) != first)
      #expect(inserting(category("a", 1), category("b", 2)) == inserting(category("b", 2), category("a", 1)))
      let renamed = category("a", 1, key: 7, version: 2)
      #expect(statement { $0.updated = [store.update("Category", [renamed], "name")] } == first)
    }

    @Test func `Values that collide with nothing have no lock`() {
      #expect(inserting(category("a", nil)) == nil && inserting(category(nil, 1)) == nil)
      #expect(statement { $0.inserted = [store.batch("Tag", [Draft(key: -1)])] } == nil)
      let unchanged = category("a", 1, key: 7, version: 2)
      #expect(statement { $0.updated = [store.update("Category", [unchanged], "parent")] } == nil)
    }

    @Test func `Many values have no locks`() {
      func inserting(_ count: Int) -> String? {
        statement {
          $0.inserted = [
            store.batch("Category", (1...count).map { category("a", Int64($0), key: -Int64($0)) })
          ]
        }
      }
      #expect(inserting(64) != nil && inserting(65) == nil)
    }

    @Test func `A writer waits for another one of the same value before it writes`() throws {
      let other = try place.connection()
      try other.execute("BEGIN; " + (try #require(inserting(category("a", 1)))), while: "Testing")
      let call = SeveralWritersTests.Call { [store, category] () throws(StoreError) in
        try store.insert("Category", [category("a", 1, -1, 1)])
      }
      let observer = try place.connection()
      try waitUntil("The store does not wait for the lock") {
        try observer.integer(
          "SELECT count(*) FROM pg_stat_activity WHERE application_name = '\(place.name)' AND wait_event = 'advisory'"
        ) == 1
      }
      // Other values go on.
      #expect(try store.insert("Category", [category("a", 2)]).count == 1)
      try other.execute("COMMIT", while: "Testing")
      #expect(try call.value.get().count == 1)
    }
  }
#endif
