#if PostgreSQL
  @_spi(CDE) import CDEExecutors
  @testable import CDEPostgreSQLStore
  @_spi(CDE) import CDESQLiteFaults
  import CDEStore
  @_spi(CDE) import CDEStoreTestKit
  import Foundation
  import Testing

  /// Several writers of one store. `other` is a connection that holds locks, as another machine's would.
  @Suite(.needsServer, .ownThreads) struct SeveralWritersTests {
    let place = TestSchema()
    let store: PostgreSQLStore
    let other: Connection

    init() throws {
      var configuration = place.configuration(poolSize: 6)
      configuration.applicationName = place.name
      store = try PostgreSQLStore(schema: Shop.schema, configuration: configuration)
      other = try place.connection()
    }

    /// Runs a call on a thread of its own.
    final class Call<Value: Sendable>: Sendable {
      private let result = Lock<Result<Value, StoreError>?>(nil)
      private let end = DispatchGroup()

      init(_ body: @escaping @Sendable () throws(StoreError) -> Value) {
        end.enter()
        Thread.detachNewThread { [self] in
          let found: Result<Value, StoreError>
          do throws(StoreError) { found = .success(try body()) } catch { found = .failure(error) }
          result.withLock { $0 = found }
          end.leave()
        }
      }

      /// The result, when the call has ended.
      var value: Result<Value, StoreError> {
        end.wait()
        return result.withLock { $0! }
      }

      var error: StoreError? {
        if case .failure(let error) = value { return error }
        return nil
      }
    }

    /// Waits until a connection of the store waits for a lock.
    private func waitForBlockedStore() throws {
      let observer = try place.connection()
      try waitUntil("The store does not wait for the lock") { try blockedBackends(observer).count == 1 }
    }

    private func blockedBackends(_ observer: Connection) throws -> [String] {
      try observer.texts(
        "SELECT pid::text FROM pg_stat_activity WHERE application_name = '\(place.name)' AND wait_event_type = 'Lock'"
      )
    }

    // MARK: References

    @Test func `A reference to a row that another writer is deleting waits, and is refused`() throws {
      let item = try store.insert("Item", [Draft(key: -1)])[0]
      try other.execute(#"BEGIN; DELETE FROM "ZITEM""#, while: "Testing")
      let call = Call { [store] () throws(StoreError) in
        try store.insert("Owner", [Draft(key: -1, references: ["item": item], entities: ["item": 1])])
      }
      try waitForBlockedStore()
      try other.execute("COMMIT", while: "Testing")
      #expect(call.error?.code == .danglingReference)
      #expect(call.error?.references.map(\.target.key) == [item])
      #expect(call.error?.references.map(\.isDeletedHere) == [false])
      #expect(try other.integer(#"SELECT count(*) FROM "ZOWNER""#) == 0)
    }

    @Test func `A deletion waits for a writer that refers to the row, and is refused`() throws {
      let item = try store.insert("Item", [Draft(key: -1)])[0]
      try other.execute(
        #"BEGIN; SELECT FROM "ZITEM" FOR KEY SHARE; INSERT INTO "ZOWNER" ("Z_PK", "Z_ENT", "Z_OPT", "ZITEM") "#
          + "VALUES (77, 4, 1, \(item))", while: "Testing")
      let call = Call { [store] () throws(StoreError) in
        try store.commit { $0.deleted = [store.deletion("Item", item)] }.number
      }
      try waitForBlockedStore()
      try other.execute("COMMIT", while: "Testing")
      #expect(call.error?.code == .danglingReference)
      #expect(call.error?.references.map(\.row.key) == [77])
      #expect(call.error?.references.map(\.isDeletedHere) == [true])
      #expect(try store.row(entity: store.index("Item"), key: item) != nil)
    }

    @Test func `References stay valid while four writers refer and delete`() throws {
      let items = try store.insert("Item", (1...40).map { Draft(key: -$0) })
      let committed = Lock<(owners: Int, deletions: Int, refusals: Int)>((0, 0, 0))
      let unexpected = Lock<[String]>([])
      DispatchQueue.concurrentPerform(iterations: 4) { [store] writer in
        var random = SplitMix(seed: UInt64(writer) + 99)
        for _ in 0..<50 {
          let item = items.randomElement(using: &random)!
          do throws(StoreError) {
            if writer.isMultiple(of: 2) {
              try store.insert("Owner", [Draft(key: -1, references: ["item": item], entities: ["item": 1])])
              committed.withLock { $0.owners += 1 }
            } else {
              try store.commit { $0.deleted = [store.deletion("Item", item)] }
              committed.withLock { $0.deletions += 1 }
            }
          } catch {
            committed.withLock { $0.refusals += 1 }
            if ![.danglingReference, .conflict].contains(error.code) {
              unexpected.withLock { $0.append("\(error)") }
            }
          }
        }
      }
      #expect(unexpected.withLock { $0 } == [])
      #expect(
        try other.integer(#"SELECT count(*) FROM "ZOWNER" WHERE "ZITEM" NOT IN (SELECT "Z_PK" FROM "ZITEM")"#)
          == 0)
      #expect(try other.integer(#"SELECT count(*) FROM "ZOWNER""#) == committed.withLock { Int64($0.owners) })
      #expect(
        try other.integer(#"SELECT 40 - count(*) FROM "ZITEM""#) == committed.withLock { Int64($0.deletions) }
      )
      #expect(committed.withLock { $0.refusals } > 0)
    }

    // MARK: Versions

    @Test func `A row that another writer changed while its lock was awaited is a conflict`() throws {
      let tag = try store.insert("Tag", [Draft(key: -1)])[0]
      try other.execute(#"BEGIN; UPDATE "ZTAG" SET "Z_OPT" = 2"#, while: "Testing")
      let call = Call { [store] () throws(StoreError) in
        try store.commit {
          $0.updated = [
            store.update("Tag", [Draft(key: tag, version: 2, values: ["name": .text("late")])], "name")
          ]
        }.number
      }
      try waitForBlockedStore()
      try other.execute("COMMIT", while: "Testing")
      #expect(call.error?.code == .conflict)
      #expect(
        call.error?.conflicts == [
          .init(entity: store.index("Tag"), key: tag, expectedVersion: 1, foundVersion: 2)
        ])
    }

    @Test func `Counters of four stores add up`() throws {
      let tag = try store.insert("Tag", [Draft(key: -1, values: ["name": .text("0")])])[0]
      let conflicts = Lock(0)
      let unexpected = Lock<[String]>([])
      let stores = try (0..<4).map { _ in
        try PostgreSQLStore(schema: Shop.schema, configuration: place.configuration())
      }
      DispatchQueue.concurrentPerform(iterations: 4) { writer in
        let store = stores[writer]
        var done = 0
        while done < 25 {
          do throws(StoreError) {
            guard let row = try store.row(entity: store.index("Tag"), key: tag) else { return }
            let count = Int(
              row.batch.string(row.row, row.batch.layout.cells.firstIndex { $0.name == "name" }!)!)!
            try store.commit {
              $0.updated = [
                store.update(
                  "Tag", [Draft(key: tag, version: row.version + 1, values: ["name": .text("\(count + 1)")])],
                  "name")
              ]
            }
            done += 1
          } catch {
            conflicts.withLock { $0 += 1 }
            if error.code != .conflict {
              unexpected.withLock { $0.append("\(error)") }
              return
            }
          }
        }
      }
      #expect(unexpected.withLock { $0 } == [])
      #expect(try store.describe("Tag", tag)?["name"] == "100")
      #expect(try store.describe("Tag", tag)?["version"] == "101")
    }

    @Test func `Rows that are only checked stay as they are until the commit`() throws {
      let keys = try store.insert("Tag", [Draft(key: -1), Draft(key: -2)])
      let index = store.index("Tag")
      try other.execute(
        "BEGIN; UPDATE \"ZTAG\" SET \"Z_OPT\" = 2 WHERE \"Z_PK\" = \(keys[0])", while: "Testing")
      let call = Call { [store] () throws(StoreError) in
        try store.commit {
          $0.checked = [RowCheck(entity: index, key: keys[0], version: 1)]
          $0.updated = [store.update("Tag", [Draft(key: keys[1], version: 2)], "name")]
        }.number
      }
      try waitForBlockedStore()
      try other.execute("COMMIT", while: "Testing")
      #expect(call.error?.conflicts.map(\.key) == [keys[0]])
    }

    // MARK: Uniqueness

    @Test func `A unique value that another writer inserts is waited for, and refused`() throws {
      try other.execute(
        #"BEGIN; INSERT INTO "ZCATEGORY" ("Z_PK", "Z_ENT", "Z_OPT", "ZNAME", "ZCODE") VALUES (9, 1, 1, 'a', 1)"#,
        while: "Testing")
      let call = Call { [store] () throws(StoreError) in
        try store.insert("Category", [Draft(key: -1, values: ["name": .text("a"), "code": .integer(1)])])
      }
      try waitForBlockedStore()
      try other.execute("COMMIT", while: "Testing")
      #expect(call.error?.code == .uniqueness && call.error?.properties == ["name", "code"])
    }

    @Test
    func
      `Of four writers that want one unique value at the same time, one gets it and the others are refused`()
      throws
    {
      let outcomes = Lock<[String: Int]>([:])
      for round in 0..<10 {
        DispatchQueue.concurrentPerform(iterations: 4) { [store] _ in
          let error = failure { () throws(StoreError) in
            try store.insert(
              "Category", [Draft(key: -1, values: ["name": .text("same"), "code": .integer(Int64(round))])])
          }
          outcomes.withLock { $0[error?.code.rawValue ?? "success", default: 0] += 1 }
        }
      }
      #expect(outcomes.withLock { $0 } == ["success": 10, StoreError.Code.uniqueness.rawValue: 30])
    }

    @Test func `A commit that waits for a unique value does not stop other commits of its store`() throws {
      try other.execute(
        #"BEGIN; INSERT INTO "ZCATEGORY" ("Z_PK", "Z_ENT", "Z_OPT", "ZNAME", "ZCODE") VALUES (9, 1, 1, 'a', 1)"#,
        while: "Testing")
      let call = Call { [store] () throws(StoreError) in
        try store.insert("Category", [Draft(key: -1, values: ["name": .text("a"), "code": .integer(1)])])
      }
      try waitForBlockedStore()
      #expect(try store.insert("Tag", [Draft(key: -1)]).count == 1)
      try other.execute("ROLLBACK", while: "Testing")
      #expect(try call.value.get().count == 1)
    }

    @Test func `A key that another writer takes meanwhile is a conflict`() throws {
      try other.execute(
        #"BEGIN; INSERT INTO "ZTAG" ("Z_PK", "Z_ENT", "Z_OPT") VALUES (50, 5, 3)"#, while: "Testing")
      let call = Call { [store] () throws(StoreError) in try store.insert("Tag", [Draft(key: 50)]) }
      try waitForBlockedStore()
      try other.execute("COMMIT", while: "Testing")
      #expect(call.error?.code == .conflict)
      #expect(
        call.error?.conflicts == [
          .init(entity: store.index("Tag"), key: 50, expectedVersion: 0, foundVersion: 3)
        ])
    }

    // MARK: Deadlocks and lost connections

    @Test func `A deadlock is repeated`() throws {
      let keys = try store.insert("Tag", [Draft(key: -1), Draft(key: -2)])
      for version in Int64(2)...21 {
        try other.execute(
          "BEGIN; SELECT FROM \"ZTAG\" WHERE \"Z_PK\" = \(keys[1]) FOR UPDATE", while: "Testing")
        let call = Call { [store] () throws(StoreError) in
          try store.commit {
            $0.updated = [store.update("Tag", keys.map { Draft(key: $0, version: version) }, "name")]
          }.number
        }
        try waitForBlockedStore()
        // The server ends the transaction that looks for a deadlock first once there is one: mostly the store's, which waits for longer.
        var isStoreEnded = true
        do throws(StoreError) {
          try other.execute("SELECT FROM \"ZTAG\" WHERE \"Z_PK\" = \(keys[0]) FOR UPDATE", while: "Testing")
        } catch {
          guard error.code == .busy else { throw error }
          isStoreEnded = false
        }
        try other.execute(isStoreEnded ? "COMMIT" : "ROLLBACK", while: "Testing")
        #expect(try call.value.get() == UInt64(version))
        #expect(try other.integer(#"SELECT sum("Z_OPT")::int8 FROM "ZTAG""#) == 2 * version)
        if isStoreEnded { return }
      }
      Issue.record("The server never ended the store's transaction.")
    }

    @Test func `A transaction whose backend is killed before the commit is repeated on another connection`()
      throws
    {
      let tag = try store.insert("Tag", [Draft(key: -1)])[0]
      try other.execute(#"BEGIN; SELECT FROM "ZTAG" FOR UPDATE"#, while: "Testing")
      let call = Call { [store] () throws(StoreError) in
        try store.commit {
          $0.updated = [
            store.update("Tag", [Draft(key: tag, version: 2, values: ["name": .text("kept")])], "name")
          ]
        }.number
      }
      try waitForBlockedStore()
      let observer = try place.connection()
      let victim = try #require(try blockedBackends(observer).first)
      try observer.terminate(Int32(victim)!)
      try other.execute("COMMIT", while: "Testing")
      #expect(try call.value.get() == 2)
      #expect(try store.describe("Tag", tag)?["name"] == "kept")
      #expect(store.statistics().lost == 1)
    }

    // MARK: Several stores

    @Test func `The mark of an incomplete save is written with the update of one row`() throws {
      let tag = try store.insert("Tag", [Draft(key: -1)])[0]
      let mark = PendingSave(save: "S", store: "T", archive: nil)
      try store.commit {
        $0.updated = [
          store.update("Tag", [Draft(key: tag, version: 2, values: ["name": .text("a")])], "name")
        ]
        $0.pending = [mark]
      }
      #expect(try store.pendingSaves() == [mark])
      #expect(try store.describe("Tag", tag)?["name"] == "a")
    }

    // MARK: Order

    @Test func `Commits are announced in the order of their numbers, one at a time`() throws {
      let announced = Lock<[UInt64]>([])
      let overlaps = Lock(0)
      let running = Lock(0)
      DispatchQueue.concurrentPerform(iterations: 4) { [store] _ in
        for _ in 0..<20 {
          var transaction = StoreTransaction()
          transaction.inserted = [store.batch("Tag", [Draft(key: -1)])]
          _ = try? store.commit(transaction) { result in
            if running.withLock({ count in
              count += 1; return count
            }) != 1 {
              overlaps.withLock { $0 += 1 }
            }
            announced.withLock { $0.append(result.number) }
            running.withLock { $0 -= 1 }
          }
        }
      }
      #expect(announced.withLock { $0 } == Array(1...80))
      #expect(overlaps.withLock { $0 } == 0)
      #expect(try other.integer(#"SELECT count(*) FROM "ZTAG""#) == 80)
    }

    @Test(arguments: [false, true])
    func `A commit that no context gets does not wait for one that takes long`(_ isAwaited: Bool) throws {
      let tag = try store.insert("Tag", [Draft(key: -1, values: ["name": .text("0")])])[0]
      // Each transaction with a new item waits for a lock at its end.
      try other.execute(
        "CREATE FUNCTION wait_here() RETURNS trigger LANGUAGE plpgsql AS "
          + "$$ BEGIN PERFORM pg_advisory_xact_lock_shared(hashtext(current_schema())); RETURN NULL; END $$; "
          + #"CREATE CONSTRAINT TRIGGER late AFTER INSERT ON "ZITEM" DEFERRABLE INITIALLY DEFERRED "#
          + "FOR EACH ROW EXECUTE FUNCTION wait_here(); SELECT pg_advisory_lock(hashtext(current_schema()))",
        while: "Testing")
      let slow = Call { [store] () throws(StoreError) in
        var transaction = StoreTransaction()
        transaction.inserted = [store.batch("Item", [Draft(key: -1)])]
        return try store.commit(transaction)
      }
      try waitForBlockedStore()
      let isOver = Lock(false)
      let quick = Call { [store] () throws(StoreError) in
        var transaction = StoreTransaction()
        transaction.updated = [
          store.update("Tag", [Draft(key: tag, version: 2, values: ["name": .text("1")])], "name")
        ]
        transaction.hasRecipients = { isAwaited }
        let result = try store.commit(transaction)
        isOver.withLock { $0 = true }
        return result
      }
      if isAwaited {
        try waitUntil("The update is not committed") {
          try other.texts(#"SELECT "ZNAME"::text FROM "ZTAG""#) == ["1"]
        }
        #expect(!isOver.withLock { $0 })
      } else {
        #expect(try quick.value.get().isOvertaken?() == false)
      }
      try other.execute("SELECT pg_advisory_unlock(hashtext(current_schema()))", while: "Testing")
      let (first, second) = (try slow.value.get(), try quick.value.get())
      #expect((first.number < second.number) == isAwaited)
      #expect(first.isOvertaken?() == !isAwaited)
    }

    @Test func `Two writers that append to one order get different positions`() throws {
      let category = try store.insert("Category", [Draft(key: -1)])[0]
      let items = try store.insert("Item", (1...40).map { Draft(key: -$0) })
      DispatchQueue.concurrentPerform(iterations: 4) { [store] writer in
        for item in items.indices where item % 4 == writer {
          _ = try? store.commit {
            $0.links = [
              LinkChange(
                kind: .add, entity: store.index("Category"), slot: store.slot("Category", "featured"),
                owner: category,
                member: items[item], isAppended: true)
            ]
          }
        }
      }
      #expect(
        try other.integer(
          #"SELECT count(DISTINCT "Z_FOK_1FEATURED") FROM "ZITEM" WHERE "Z1FEATURED" IS NOT NULL"#) == 40)
    }
  }
#endif
