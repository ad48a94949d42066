#if PostgreSQL
  @_spi(CDE) import CDEExecutors
  @testable import CDEPostgreSQLStore
  import CDEStore
  @_spi(CDE) import CDEStoreTestKit
  import Foundation
  import Testing

  /// A store behind a proxy, and the means to prepare and to look beside the proxy.
  ///
  /// Each run of a commit has rows of its own, whose names begin with the run's mark, and the mark as the transaction's author.
  final class FaultWorld: Sendable {
    let place = TestSchema()
    let proxy: FaultProxy
    /// Its connection leads through the proxy.
    let store: PostgreSQLStore
    /// Prepares rows beside the proxy.
    let direct: PostgreSQLStore
    private let observer: Connection
    private let runs = Lock(0)
    private let warm = Lock(-1)

    init(
      _ kind: CommitKind? = nil, tracksHistory: Bool = false, recoveryTimeout: Duration = .seconds(20)
    ) throws {
      proxy = try FaultProxy(TestServer.url!)
      var configuration = place.configuration(poolSize: 1)
      configuration.tracksHistory = kind?.tracksHistory ?? tracksHistory
      direct = try PostgreSQLStore(schema: Shop.resolved, configuration: configuration)
      if kind == .copying { configuration.copyLimit = 1 }
      configuration.url = proxy.url
      configuration.applicationName = place.name
      configuration.recoveryTimeout = recoveryTimeout
      // A connection whose bytes arrive one at a time takes as long as the threads of the proxy wait for a processor.
      configuration.connectTimeout = .seconds(300)
      store = try PostgreSQLStore(schema: Shop.resolved, configuration: configuration)
      // The first commit also removes tokens of ended processes.
      try store.insert("Owner", [Draft(key: -1)])
      observer = try place.connection()
      // The state of one run is looked up among those of thousands.
      try observer.execute(
        #"CREATE INDEX ON "ATRANSACTION" ("ZAUTHOR"); CREATE INDEX ON "ZTAG" ("ZNAME"); SET plan_cache_mode TO force_custom_plan"#,
        while: "Preparing a test")
    }

    /// A mark that no other run of this world has.
    func mark() -> String {
      "r"
        + String(
          runs.withLock { count in
            count += 1
            return count
          })
    }

    /// All rows, links and transactions of a run, as text.
    func state(_ mark: String) throws -> [String] {
      var parameters = Parameters()
      parameters.append(mark + ".")
      parameters.append(mark + "/")
      parameters.append(mark)
      let rows = try observer.run(Self.stateQuery, parameters, while: "Reading for a test")
      return (0..<rows.count).map { rows.text($0, 0) ?? "NULL" }
    }

    // The character after the point is the slash: names between the two begin with the mark and a point.
    private static let stateQuery = """
      SELECT line FROM (
      SELECT concat('item ', "ZTITLE1", ' v', "Z_OPT", ' big ', "ZBIG", ' in ', (SELECT "ZNAME" FROM "ZCATEGORY" c WHERE c."Z_PK" = "ZCATEGORY"), \
      (SELECT ' featured by ' || "ZNAME" FROM "ZCATEGORY" c WHERE c."Z_PK" = "Z1FEATURED")) AS line \
      FROM "ZITEM" WHERE "ZTITLE1" >= $1 AND "ZTITLE1" < $2
      UNION ALL SELECT concat('tag ', "ZNAME", ' v', "Z_OPT") FROM "ZTAG" WHERE "ZNAME" >= $1 AND "ZNAME" < $2
      UNION ALL SELECT concat('category ', "ZNAME", ' v', "Z_OPT", ' code ', "ZCODE") FROM "ZCATEGORY" \
      WHERE "ZNAME" >= $1 AND "ZNAME" < $2
      UNION ALL SELECT concat('link ', "ZTITLE1", ' ', "ZNAME") FROM "ZTAG" t JOIN "Z_2TAGS" ON "Z_5TAGS" = t."Z_PK" \
      LEFT JOIN "ZITEM" i ON i."Z_PK" = "Z_2ITEMS" WHERE "ZNAME" >= $1 AND "ZNAME" < $2
      UNION ALL SELECT concat('transaction: ', (SELECT string_agg("ZCHANGETYPE" || ' ' || "Z_NAME", ', ' ORDER BY c."Z_PK") \
      FROM "ACHANGE" c JOIN "Z_PRIMARYKEY" ON "Z_ENT" = "ZENTITY" WHERE "ZTRANSACTIONID" = a."Z_PK")) FROM "ATRANSACTION" a \
      WHERE "ZAUTHOR" = $3) s ORDER BY line COLLATE "C"
      """

    /// The number of the transaction that a run recorded.
    func historyNumbers(_ mark: String) throws -> [Int64] {
      try observer.texts(#"SELECT "Z_PK"::text FROM "ATRANSACTION" WHERE "ZAUTHOR" = '\#(mark)'"#).map {
        Int64($0)!
      }
    }

    /// The key of the row with a name, in a table.
    func keys(_ mark: String) throws -> Set<Int64> {
      Set(
        try observer.texts(
          """
          SELECT "Z_PK"::text FROM "ZITEM" WHERE "ZTITLE1" >= '\(mark).' AND "ZTITLE1" < '\(mark)/' UNION ALL \
          SELECT "Z_PK"::text FROM "ZCATEGORY" WHERE "ZNAME" >= '\(mark).' AND "ZNAME" < '\(mark)/'
          """
        ).map { Int64($0)! })
    }

    /// Ends the server's process of the store's connection.
    func terminate(_ backend: Int32) throws {
      #expect(try observer.texts("SELECT pg_terminate_backend(\(backend))::text") == ["true"])
      try waitUntil("The server's process does not end") {
        try observer.integer("SELECT count(*) FROM pg_stat_activity WHERE pid = \(backend)") == 0
      }
    }

    // MARK: Commits

    /// Makes sure that the store has an idle connection on which the statements of a kind are prepared.
    func warmUp(_ kind: CommitKind) throws {
      // A connection that was cut after its last commit is noticed now.
      try store.pool.withConnection { (connection) throws(StoreError) in
        try connection.execute("SELECT 1", while: "Testing")
      }
      let opened = store.statistics().opened
      if warm.withLock({ $0 }) == opened, store.statistics().idle == 1 { return }
      let prepared = try kind.prepare(self, mark())
      _ = try store.commit(prepared.transaction)
      warm.withLock { $0 = store.statistics().opened }
    }

    /// Makes sure that the next commit opens its connection.
    func coolDown() {
      store.pool.dropIdle()
      proxy.waitUntilUnused()
    }

    /// What a commit reported.
    struct Report: Sendable {
      var result: Result<CommitResult, StoreError>
      var announced: [UInt64]
    }

    func commit(_ prepared: CommitKind.Prepared) -> Report {
      var announced: [UInt64] = []
      do throws(StoreError) {
        let result = try store.commit(prepared.transaction) { announced.append($0.number) }
        return Report(result: .success(result), announced: announced)
      } catch {
        return Report(result: .failure(error), announced: announced)
      }
    }

    /// Compares what a commit reported with what is stored, and repeats it if it failed.
    ///
    /// - Returns: whether it succeeded.
    @discardableResult
    func verify(
      _ report: Report, _ prepared: CommitKind.Prepared, codes: Set<StoreError.Code> = [.io],
      _ comment: Comment
    ) throws -> Bool {
      let inserted = prepared.transaction.inserted
      switch report.result {
      case .success(let result):
        try verifyCommitted(result, prepared, comment)
        #expect(report.announced == [result.number], comment)
        return true
      case .failure(let error):
        #expect(codes.contains(error.code), "\(comment): \(error)")
        #expect(try state(prepared.mark) == prepared.before, "\(comment): \(error)")
        #expect(report.announced == [], comment)
        #expect(inserted.allSatisfy { batch in (0..<batch.count).allSatisfy { batch.key($0) < 0 } }, comment)
        // A transaction that failed is unchanged.
        try verifyCommitted(store.commit(prepared.transaction), prepared, comment)
        return false
      }
    }

    private func verifyCommitted(
      _ result: CommitResult, _ prepared: CommitKind.Prepared, _ comment: Comment
    ) throws {
      #expect(try state(prepared.mark) == prepared.after(store.recordsHistory), comment)
      #expect(
        try historyNumbers(prepared.mark)
          == (store.recordsHistory ? [try #require(result.historyNumber)] : []),
        comment)
      let keys = prepared.transaction.inserted.flatMap { batch in (0..<batch.count).map { batch.key($0) } }
      if !keys.isEmpty { #expect(try self.keys(prepared.mark).isSuperset(of: keys), comment) }
    }
  }
#endif
