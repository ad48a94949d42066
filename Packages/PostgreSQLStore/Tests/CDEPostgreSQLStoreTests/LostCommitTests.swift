#if PostgreSQL
  @_spi(CDE) import CDEExecutors
  @testable import CDEPostgreSQLStore
  import CDEStore
  @_spi(CDE) import CDEStoreTestKit
  import Foundation
  import Testing

  /// Connections that are lost while the commit is on its way.
  @Suite(.needsServer, .ownThreads) struct LostCommitTests {
    let place = TestSchema()
    let proxy: CuttingProxy
    let store: PostgreSQLStore

    init() throws {
      proxy = try CuttingProxy(TestServer.url!)
      var configuration = place.configuration(poolSize: 1)
      configuration.url = "postgresql://postgres@/postgres?host=\(proxy.folder)"
      configuration.applicationName = place.name
      configuration.recoveryTimeout = .seconds(20)
      store = try PostgreSQLStore(schema: Shop.schema, configuration: configuration)
    }

    private func storedCount() throws -> Int64 {
      try place.connection().integer(#"SELECT count(*) FROM "ZTAG""#)
    }

    @Test func `A commit whose answer was lost is reported as what it is: committed`() throws {
      proxy.cutNext(.afterCommit)
      let announced = Lock(0)
      let batch = store.batch("Tag", [Draft(key: -1)])
      var transaction = StoreTransaction()
      transaction.inserted = [batch]
      let result = try store.commit(transaction) { _ in announced.withLock { $0 += 1 } }
      #expect(result.number == 1 && announced.withLock { $0 } == 1)
      #expect(batch.key(0) == 1)
      #expect(try storedCount() == 1)
      #expect(store.statistics().lost == 1)
      #expect(try store.insert("Tag", [Draft(key: -1)]) == [2])
    }

    @Test func `A commit that the server never got is made again on another connection`() throws {
      proxy.cutNext(.beforeCommit)
      let batch = store.batch("Tag", [Draft(key: -1)])
      var transaction = StoreTransaction()
      transaction.inserted = [batch]
      let announced = Lock(0)
      let result = try store.commit(transaction) { _ in announced.withLock { $0 += 1 } }
      #expect(result.number == 1 && announced.withLock { $0 } == 1)
      #expect(batch.key(0) > 0)
      #expect(try storedCount() == 1)
      #expect(store.statistics().lost == 1)
    }

    @Test
    func `A commit that the server never got over a new connection is an error, and can be tried again`()
      throws
    {
      store.pool.dropIdle()
      proxy.cutNext(.beforeCommit)
      let batch = store.batch("Tag", [Draft(key: -1)])
      var transaction = StoreTransaction()
      transaction.inserted = [batch]
      let announced = Lock(0)
      let error = failure { () throws(StoreError) in
        _ = try store.commit(transaction) { _ in announced.withLock { $0 += 1 } }
      }
      #expect(error?.code == .io)
      #expect(announced.withLock { $0 } == 0)
      #expect(batch.key(0) == -1)
      #expect(try storedCount() == 0)
      #expect(try store.commit(transaction).number == 1)
      #expect(try storedCount() == 1)
    }

    @Test func `A commit that arrives after the connection was lost is waited for`() throws {
      proxy.cutNext(.delayedCommit)
      let result = Lock<Result<[Int64], StoreError>?>(nil)
      let group = DispatchGroup()
      group.enter()
      Thread.detachNewThread { [store] in
        let found: Result<[Int64], StoreError>
        do throws(StoreError) { found = .success(try store.insert("Tag", [Draft(key: -1)])) } catch {
          found = .failure(error)
        }
        result.withLock { $0 = found }
        group.leave()
      }
      // The store asks for its token, and waits for the transaction that has it.
      let observer = try place.connection()
      try waitUntil("The store does not ask for its commit") {
        try observer.integer(
          "SELECT count(*) FROM pg_stat_activity WHERE application_name = '\(place.name)' AND wait_event_type = 'Lock'"
        ) == 1
      }
      #expect(try storedCount() == 0)
      proxy.releaseCommit()
      group.wait()
      #expect(try result.withLock { $0 }?.get() == [1])
      #expect(try storedCount() == 1)
    }

    @Test func `If the server does not answer in time, the outcome is reported as unknown`() throws {
      var configuration = place.configuration(poolSize: 1)
      configuration.url = "postgresql://postgres@/postgres?host=\(proxy.folder)"
      configuration.recoveryTimeout = .milliseconds(100)
      let store = try PostgreSQLStore(schema: Shop.schema, configuration: configuration)
      proxy.cutNext(.delayedCommit)
      let error = failure { () throws(StoreError) in try store.insert("Tag", [Draft(key: -1)]) }
      #expect(error?.code == .unknownOutcome)
      proxy.releaseCommit()
      // The server commits after all, which is why the error does not say that nothing was written.
      try waitUntil("The delayed commit did not arrive") { try storedCount() == 1 }
    }
  }
#endif
