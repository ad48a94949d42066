#if PostgreSQL
  @_spi(CDE) import CDEExecutors
  @testable import CDEPostgreSQLStore
  @_spi(CDE) import CDESQL
  @_spi(CDE) import CDEStore
  @_spi(CDE) import CDEStoreTestKit
  import Foundation
  import Testing

  /// Migrations that others disturb: the store is the old one or the new one.
  @Suite(.needsServer, .ownThreads) struct MigrationSafetyTests {
    private let world = MigrationWorld()
    private let change: SchemaChange

    init() throws {
      func book(_ more: [StoreAttribute]) -> [StoreEntity] {
        [
          StoreEntity(name: "Author", attributes: more),
          StoreEntity(
            name: "Book", attributes: [StoreAttribute(name: "title", type: .string)] + more,
            uniquenessConstraints: [["title"]]),
        ]
      }
      change = try SchemaChange(
        book([]), book([StoreAttribute(name: "stars", type: .integer16, isOptional: false)]),
        defaults: ["Book.stars": [.integer(3)], "Author.stars": [.integer(4)]])
      let store = try world.openServer(change.old)
      try store.insert("Book", (1...20).map { Draft(key: -$0, values: ["title": .text("t\($0)")]) })
      try store.insert("Author", [Draft(key: -1)])
      try store.setMetadata(StoreMetadata(values: ["color": .string("blue")]))
      try store.close()
    }

    private func migrate(
      _ pace: MigrationPace = .unwatched(), _ configuration: PostgreSQLConfiguration? = nil
    ) throws(StoreError) -> Bool {
      try PostgreSQLMigratableStore(configuration ?? world.server).migrate(
        change.migration, from: change.old, to: change.new, entities: Set(change.new.entities.indices),
        modelCache: Array("new model".utf8), pace: pace)
    }

    private func expectNew(_ source: SourceLocation = #_sourceLocation) throws {
      let store = try world.openServer(change.new)
      let facts = try Facts.of(store)
      #expect(facts.rows.count == 21, sourceLocation: source)
      #expect(
        facts.rows["Book 7"]?["stars"] == "3" && facts.rows["Author 1"]?["stars"] == "4",
        sourceLocation: source)
      try store.close()
      try world.expectNewLayout(change.new, source)
    }

    // MARK: Others

    @Test func `A store in use is not migrated, and an open one is not disturbed`() throws {
      let open = try world.openServer(change.old)
      let before = try world.contents()
      var configuration = world.server
      configuration.lockTimeout = .milliseconds(250)
      let error = failure { () throws(StoreError) in _ = try migrate(.unwatched(), configuration) }
      #expect(error?.code == .busy)
      #expect(error?.message.contains("it is in use") == true)
      #expect(try world.contents() == before)
      #expect(try open.insert("Book", [Draft(key: -1, values: ["title": .text("new")])]) == [21])
      try open.close()
      #expect(try migrate())
    }

    @Test func `Four openings at the same time migrate the store once, and all have the new one`() throws {
      for _ in 0..<4 {
        let world = MigrationWorld()
        let old = try world.openServer(change.old)
        try old.insert("Book", (1...50).map { Draft(key: -$0, values: ["title": .text("t\($0)")]) })
        let identifier = old.identifier
        try old.close()
        let results = Lock<[Result<(String, Bool), StoreError>]>([])
        let start = DispatchSemaphore(value: 0)
        let group = DispatchGroup()
        for _ in 0..<4 {
          group.enter()
          Thread.detachNewThread { [change] in
            start.wait()
            let result: Result<(String, Bool), StoreError>
            do throws(StoreError) { result = .success(try Self.open(world, change)) } catch {
              result = .failure(error)
            }
            results.withLock { $0.append(result) }
            group.leave()
          }
        }
        for _ in 0..<4 { start.signal() }
        group.wait()
        let opened = try results.withLock { $0 }.map { try $0.get() }
        #expect(opened.count == 4 && opened.allSatisfy { $0.0 == identifier })
        #expect(opened.filter(\.1).count == 1)
        #expect(
          try world.place.connection().integer("SELECT count(*) FROM \"ZBOOK\" WHERE \"ZSTARS\" = 3") == 50)
      }
    }

    /// Opens a store as the runtime does.
    ///
    /// - Returns: the UUID, and whether this call has migrated the store.
    private static func open(
      _ world: MigrationWorld, _ change: SchemaChange
    ) throws(StoreError) -> (String, Bool) {
      func open() throws(StoreError) -> PostgreSQLStore {
        try PostgreSQLStore(schema: change.new, configuration: world.server)
      }
      do throws(StoreError) { return (try open().identifier, false) } catch {
        guard error.code == .incompatibleSchema else { throw error }
      }
      let hasMigrated = try world.migrateServer(change)
      return (try open().identifier, hasMigrated)
    }

    @Test func `A store that was migrated while it had no connection refuses to go on`() throws {
      let open = try world.openServer(change.old)
      let connection = try world.place.connection()
      let backends = try connection.texts(
        "SELECT pid::text FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ShareLock' AND granted "
          + "AND ((classid::bigint << 32) | objid::bigint) = \(UsersLock.number(world.place.name))")
      #expect(backends.count == 1)
      for backend in backends { try connection.terminate(Int32(backend)!) }
      #expect(try migrate())
      let error = failure { () throws(StoreError) in
        _ = try open.fetch(StoreQuery(entity: open.index("Book")), isKnown: nil)
      }
      #expect(error?.code == .incompatibleSchema)
      #expect(error?.message.contains("migrated") == true)
      let later = failure { () throws(StoreError) in try open.insert("Book", [Draft(key: -1)]) }
      #expect(later?.code == .incompatibleSchema)
      try expectNew()
    }

    // MARK: Ends before the end

    @Test func `A migration that is cancelled at any report leaves the old store`() throws {
      let before = try world.contents()
      var limit = 0
      while true {
        var reports: [Double] = []
        let pace = MigrationPace { part in
          reports.append(part)
          return reports.count <= limit
        }
        do throws(StoreError) {
          #expect(try migrate(pace))
          #expect(reports == reports.sorted())
          break
        } catch {
          #expect(error.code == .cancelled)
          #expect(try world.contents() == before)
        }
        limit += 1
      }
      #expect(limit > 5)
      try expectNew()
    }

    @Test func `Cancelling stops a statement that waits on the server`() throws {
      let before = try world.contents()
      let (other, watcher) = (try world.place.connection(), try world.place.connection())
      try other.execute("BEGIN; SELECT FROM \"ZBOOK\" WHERE \"Z_PK\" = 1 FOR UPDATE", while: "Testing")
      let pace = MigrationPace { _ in
        (try? watcher.integer(
          "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = '\"ZBOOK\"'::regclass")) == 0
      }
      let error = failure { () throws(StoreError) in _ = try migrate(pace) }
      #expect(error?.code == .cancelled)
      try other.execute("ROLLBACK", while: "Testing")
      #expect(try world.contents() == before)
    }

    @Test func `A migration whose connection is lost at any report leaves the old store`() throws {
      let before = try world.contents()
      let connection = try world.place.connection()
      var configuration = world.server
      configuration.applicationName = world.place.name
      var limit = 0
      while true {
        var count = 0
        let pace = MigrationPace { _ in
          count += 1
          if count == limit {
            for backend
              in (try? connection.texts(
                "SELECT pid::text FROM pg_stat_activity WHERE application_name = '\(world.place.name)'"))
              ?? []
            {
              try? connection.terminate(Int32(backend)!)
            }
          }
          return true
        }
        do throws(StoreError) {
          #expect(try migrate(pace, configuration))
          break
        } catch {
          #expect(error.code == .io, "\(error)")
          #expect(try world.contents() == before)
        }
        limit = max(limit + 1, count < limit ? .max : limit + 1)
      }
      try expectNew()
    }

    private func configuration(through proxy: CuttingProxy) -> PostgreSQLConfiguration {
      var configuration = world.server
      configuration.url = "postgresql://postgres@/postgres?host=\(proxy.folder)"
      configuration.recoveryTimeout = .seconds(20)
      return configuration
    }

    @Test func `A migration whose answer was lost is reported as what it is: committed`() throws {
      let proxy = try CuttingProxy(TestServer.url!)
      let configuration = configuration(through: proxy)
      proxy.cutNext(.afterCommit)
      #expect(try migrate(.unwatched(), configuration))
      try expectNew()
    }

    @Test func `A migration whose commit the server never got is an error, and leaves the old store`() throws
    {
      let before = try world.contents()
      let proxy = try CuttingProxy(TestServer.url!)
      let configuration = configuration(through: proxy)
      proxy.cutNext(.beforeCommit)
      let error = failure { () throws(StoreError) in _ = try migrate(.unwatched(), configuration) }
      #expect(error?.code == .io)
      #expect(try world.contents() == before)
      #expect(try migrate())
      try expectNew()
    }

    // MARK: What others have made

    @Test(arguments: [
      "CREATE VIEW best AS SELECT \"ZTITLE\" FROM \"ZBOOK\"",
      "CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'; "
        + "CREATE TRIGGER watch BEFORE INSERT ON \"ZBOOK\" FOR EACH ROW EXECUTE FUNCTION nothing()",
      "CREATE TABLE loans (book bigint REFERENCES \"ZBOOK\" (\"Z_PK\"))",
      "CREATE POLICY mine ON \"ZBOOK\" USING (true)",
    ])
    func `What another program has made on a table is not lost: the migration is refused`(_ sql: String)
      throws
    {
      try world.place.connection().execute(sql, while: "Testing")
      let before = try world.contents()
      let error = failure { () throws(StoreError) in _ = try migrate() }
      #expect(error?.code == .readOnly, "\(String(describing: error))")
      #expect(try world.contents() == before)
    }

    @Test func `Other roles keep their rights, and have them on new tables`() throws {
      let connection = try world.place.connection()
      let role = "role_" + world.place.name
      try connection.execute(
        "CREATE ROLE \(role); GRANT USAGE ON SCHEMA \(quoted(world.place.name)) TO \(role); "
          + "GRANT SELECT ON ALL TABLES IN SCHEMA \(quoted(world.place.name)) TO \(role); "
          + "GRANT UPDATE ON \"ZBOOK\" TO \(role) WITH GRANT OPTION", while: "Testing")
      defer { try? connection.execute("DROP OWNED BY \(role); DROP ROLE \(role)", while: "Testing") }
      let more = try SchemaChange(
        change.old.entities.map(\.source), change.new.entities.map(\.source) + [StoreEntity(name: "Card")],
        defaults: ["Book.stars": [.integer(3)], "Author.stars": [.integer(4)]])
      try world.migrateServer(more)
      func has(_ privilege: String, _ table: String) throws -> Bool {
        try connection.texts("SELECT has_table_privilege('\(role)', '\"\(table)\"', '\(privilege)')::text")
          == ["true"]
      }
      #expect(
        try has("SELECT", "ZBOOK") && has("UPDATE WITH GRANT OPTION", "ZBOOK") && !has("INSERT", "ZBOOK"))
      #expect(try has("SELECT", "ZCARD") && !has("UPDATE", "ZCARD"))
    }

    @Test func `A role that does not own the tables can't migrate them, and the store stays as it is`() throws
    {
      let connection = try world.place.connection()
      let role = "role_" + world.place.name
      try connection.execute(
        "CREATE ROLE \(role) LOGIN; GRANT ALL ON SCHEMA \(quoted(world.place.name)) TO \(role); "
          + "GRANT ALL ON ALL TABLES IN SCHEMA \(quoted(world.place.name)) TO \(role)", while: "Testing")
      defer { try? connection.execute("DROP OWNED BY \(role); DROP ROLE \(role)", while: "Testing") }
      let before = try world.contents()
      var configuration = world.server
      configuration.url = configuration.url.replacingOccurrences(of: "//postgres@", with: "//\(role)@")
      let error = failure { () throws(StoreError) in _ = try migrate(.unwatched(), configuration) }
      #expect(error?.code == .readOnly)
      #expect(error?.message.contains("must be owner") == true, "\(String(describing: error))")
      #expect(try world.contents() == before)
    }

    @Test func `The application's metadata and the UUID stay, and the copy of the model is the new one`()
      throws
    {
      let identifier = try world.openServer(change.old).identifier
      #expect(try migrate())
      let store = try world.openServer(change.new)
      #expect(store.identifier == identifier)
      #expect(try store.metadata().values["color"] == .string("blue"))
      #expect(try store.modelCache() == Array("new model".utf8))
      #expect(try !migrate())
    }

    @Test func `Many rows move in blocks, of which each is reported`() throws {
      try world.place.connection().execute(
        "INSERT INTO \"ZBOOK\" (\"Z_PK\", \"Z_ENT\", \"Z_OPT\", \"ZTITLE\") SELECT 100 + n * 7, 2, 1, 'x' || n "
          + "FROM generate_series(1, 70000) AS n", while: "Testing")
      var parts: Set<Double> = []
      #expect(
        try migrate(
          MigrationPace { part in
            parts.insert(part)
            return true
          }))
      #expect(parts.count > 5)
      let connection = try world.place.connection()
      #expect(
        try connection.integer("SELECT count(*) FROM \"ZBOOK\" WHERE \"ZSTARS\" = 3 AND \"Z_ENT\" = 2")
          == 70_020)
      let store = try world.openServer(change.new)
      #expect(
        try store.insert("Book", [Draft(key: -1, values: ["title": .text("last")])]) == [490_101])
    }
  }
#endif
