#if PostgreSQL
  @testable import CDEPostgreSQLStore
  import CDEStore
  @_spi(CDE) import CDEExecutors
  import Foundation
  import Testing

  @Suite(.needsServer, .ownThreads) struct ConnectionPoolTests {
    let schema = TestSchema()

    @Test func `A connection that is given back is used again`() throws {
      let pool = try ConnectionPool(schema.configuration())
      let first = try pool.withConnection { $0.backend }
      let second = try pool.withConnection { $0.backend }
      #expect(first == second)
      #expect(pool.statistics.opened == 1 && pool.statistics.idle == 1)
    }

    @Test func `Calls that wait get the connection in the order in which they came`() throws {
      let pool = try ConnectionPool(schema.configuration(poolSize: 1))
      let order = Lock<[Int]>([])
      let (held, _) = try pool.borrow()
      let group = DispatchGroup()
      for number in 0..<4 {
        group.enter()
        Thread.detachNewThread {
          try? pool.withConnection { (_) throws(StoreError) in order.withLock { $0.append(number) } }
          group.leave()
        }
        // The next call comes when this one is in the queue.
        waitUntil("Call \(number) did not wait") { pool.statistics.waiting == number + 1 }
      }
      pool.giveBack(held)
      group.wait()
      #expect(order.withLock { $0 } == [0, 1, 2, 3])
      #expect(pool.statistics.opened == 1)
      #expect(pool.statistics.mostWaiting == 4 && pool.statistics.waiting == 0)
    }

    @Test func `A call that waits for too long fails, and the queue goes on without it`() throws {
      var configuration = schema.configuration(poolSize: 1)
      configuration.waitTimeout = .milliseconds(10)
      let pool = try ConnectionPool(configuration)
      let (held, _) = try pool.borrow()
      #expect(failure { () throws(StoreError) in _ = try pool.borrow() }?.code == .busy)
      #expect(pool.statistics.timeouts == 1 && pool.statistics.waiting == 0)
      pool.giveBack(held)
      #expect(try pool.withConnection { $0.backend } == held.backend)
    }

    @Test func `An idle connection that was killed is replaced without an error`() throws {
      let pool = try ConnectionPool(schema.configuration())
      let old = try pool.withConnection { $0.backend }
      try schema.connection().terminate(old)
      let new = try pool.withConnection { (connection) throws(StoreError) in
        try connection.execute("SELECT 1", while: "Testing")
        return connection.backend
      }
      #expect(new != old)
      #expect(pool.statistics.lost == 1 && pool.statistics.open == 1)
    }

    @Test func `A body that may not run again gets the error of its lost connection`() throws {
      let pool = try ConnectionPool(schema.configuration())
      let old = try pool.withConnection { $0.backend }
      try schema.connection().terminate(old)
      let error = failure { () throws(StoreError) in
        try pool.withConnection(isRepeatable: { false }) { (connection) throws(StoreError) in
          try connection.execute("SELECT 1", while: "Testing")
        }
      }
      #expect(error?.code == .io)
    }

    @Test func `A transaction that was left open is rolled back`() throws {
      let pool = try ConnectionPool(schema.configuration(poolSize: 1))
      try pool.withConnection { (connection) throws(StoreError) in
        try connection.execute("BEGIN; CREATE TABLE pg_temp.left_open (a int)", while: "Testing")
      }
      let found = try pool.withConnection { (connection) throws(StoreError) in
        let rows = try connection.run("SELECT to_regclass('pg_temp.left_open')", while: "Testing")
        return !rows.isNull(0, 0)
      }
      #expect(!found)
    }

    @Test func `A failed attempt to connect frees its place`() throws {
      var configuration = schema.configuration(poolSize: 1)
      configuration.url = "postgresql://me@/db?host=/nonexistent"
      let pool = try ConnectionPool(configuration)
      for _ in 0..<3 {
        #expect(failure { () throws(StoreError) in _ = try pool.borrow() }?.code == .cannotOpen)
      }
      #expect(pool.statistics.open == 0)
    }

    @Test func `After closing, waiting and later calls fail`() throws {
      let pool = try ConnectionPool(schema.configuration(poolSize: 1))
      let (held, _) = try pool.borrow()
      let error = Lock<StoreError?>(nil)
      let group = DispatchGroup()
      group.enter()
      Thread.detachNewThread {
        let found = failure { () throws(StoreError) in _ = try pool.borrow() }
        error.withLock { $0 = found }
        group.leave()
      }
      waitUntil("The call did not wait") { pool.statistics.waiting == 1 }
      pool.close()
      group.wait()
      #expect(error.withLock { $0 }?.code == .closed)
      #expect(failure { () throws(StoreError) in _ = try pool.borrow() }?.code == .closed)
      pool.giveBack(held)
      #expect(pool.statistics.open == 0)
    }
  }
#endif
