#if PostgreSQL
  import CDEManagedModel
  import CDEModelRuntime
  import CDEPostgreSQL
  @testable import CDEPostgreSQLStore
  import Foundation
  import Testing

  /// A schema of the server for one test, removed at its end.
  final class TestPlace: Sendable {
    let schema: String
    private let isOwn: Bool

    init() {
      schema = "cde_" + UUID().uuidString.lowercased().replacingOccurrences(of: "-", with: "")
      isOwn = true
    }

    /// A schema that another process made, and removes.
    init(existing schema: String) { (self.schema, isOwn) = (schema, false) }

    static let url = ProcessInfo.processInfo.environment["CDE_POSTGRESQL_URL"].flatMap(URL.init(string:))

    private static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
      let attribute = NSAttributeDescription()
      attribute.name = name
      attribute.attributeType = type
      attribute.isOptional = true
      return attribute
    }

    static let model: NSManagedObjectModel = {
      let book = NSEntityDescription()
      book.name = "Book"
      let author = NSEntityDescription()
      author.name = "Author"
      let wrote = NSRelationshipDescription()
      wrote.name = "books"
      wrote.destinationEntity = book
      wrote.maxCount = 0
      let by = NSRelationshipDescription()
      by.name = "author"
      by.destinationEntity = author
      by.maxCount = 1
      by.isOptional = true
      wrote.inverseRelationship = by
      by.inverseRelationship = wrote
      book.properties = [
        attribute("title", .stringAttributeType), attribute("pages", .integer64AttributeType),
        attribute("price", .decimalAttributeType), attribute("printed", .dateAttributeType), by,
      ]
      author.properties = [attribute("name", .stringAttributeType), wrote]
      let model = NSManagedObjectModel()
      model.entities = [book, author]
      return model
    }()

    /// A description of the store in the schema.
    func description(_ url: URL? = TestPlace.url) -> NSPersistentStoreDescription {
      let description = NSPersistentStoreDescription()
      description.type = CDEPostgreSQLStoreType
      description.url = url
      description.setOption(schema, forKey: CDEPostgreSQLSchemaOption)
      return description
    }

    func container(
      _ url: URL? = TestPlace.url, options: [String: Any] = [:]
    ) throws -> NSPersistentContainer {
      let container = NSPersistentContainer(name: "Test", managedObjectModel: TestPlace.model)
      let description = description(url)
      description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
      for (key, value) in options { description.setOption(value, forKey: key) }
      container.persistentStoreDescriptions = [description]
      var failure: (any Error)?
      container.loadPersistentStores { _, error in failure = error }
      if let failure { throw failure }
      return container
    }

    // MARK: Beside the store

    private func connection() throws -> Connection {
      let configuration = PostgreSQLConfiguration(url: TestPlace.url!.absoluteString, schema: schema)
      return try Connection(try ConnectionOptions(configuration), configuration)
    }

    /// Runs a statement on the store's tables.
    func run(_ sql: String) throws { try connection().execute(sql, while: "Changing tables for a test") }

    /// Locks a table, so that all reads of it wait.
    func lock(_ table: String) throws -> TableLock {
      try TableLock(table, try connection(), try connection())
    }

    /// The number of rows of a table.
    func count(of table: String) throws -> Int {
      let rows = try connection().run("SELECT count(*) FROM \"\(table)\"", while: "Counting rows for a test")
      return Int(rows.integer(0, 0))
    }

    deinit { if isOwn { try? run("DROP SCHEMA IF EXISTS \"\(schema)\" CASCADE") } }
  }

  /// A lock that holds all users of a table up.
  final class TableLock: @unchecked Sendable {
    // Guard: one task uses it at a time.
    private let holder: Connection
    private let watcher: Connection
    private let table: String

    fileprivate init(_ table: String, _ holder: Connection, _ watcher: Connection) throws {
      (self.table, self.holder, self.watcher) = (table, holder, watcher)
      try holder.execute(
        "BEGIN; LOCK TABLE \"\(table)\" IN ACCESS EXCLUSIVE MODE", while: "Locking a table for a test")
    }

    /// Returns when so many statements wait for the lock. Suspends in between.
    func waiters(_ count: Int) async throws {
      let sql =
        "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = '\"\(table)\"'::regclass"
      let deadline = ContinuousClock.now + .seconds(30)
      while try watcher.run(sql, while: "Looking for waiting statements").integer(0, 0) < count {
        try #require(ContinuousClock.now < deadline, "The statements do not wait.")
        await Task.yield()
      }
    }

    func release() throws { try holder.execute("COMMIT", while: "Unlocking a table for a test") }
  }
#endif
