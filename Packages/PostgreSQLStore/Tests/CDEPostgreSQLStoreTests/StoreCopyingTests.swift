#if PostgreSQL
  @testable import CDEPostgreSQLStore
  @_spi(CDE) import CDESQLiteFaults
  @_spi(CDE) import CDESQLiteStore
  import CDEStore
  @_spi(CDE) import CDEStoreTestKit
  import Foundation
  import Testing

  /// Copies of whole stores between the engines.
  @Suite(.needsServer) struct StoreCopyingTests {
    private let place = TestSchema()
    private let path = ProcessFolder.newURL().path

    private func openFile(_ path: String) throws -> SQLiteStore {
      try SQLiteStore(schema: Shop.resolved, configuration: .init(location: .file(path: path)))
    }

    @Test func `Large values travel out of their files into rows, and back into files`() throws {
      let file = try openFile(path)
      let large = [1] + (0..<300_000).map { UInt8(truncatingIfNeeded: $0) }
      try file.insert(
        "Item",
        [
          Draft(key: -1, values: ["photo": .bytes(large), "title": .text("large")]),
          Draft(key: -2, values: ["photo": .bytes([1, 7]), "title": .text("small")]), Draft(key: -3),
        ])
      try PostgreSQLStore.make(place.configuration(), from: StoreCopy(of: file))
      let server = try PostgreSQLStore(schema: Shop.resolved, configuration: place.configuration())
      let second = ProcessFolder.newURL().path
      try SQLiteStore.makeFile(at: second, from: StoreCopy(of: server), modelCache: nil)
      for store in [server as any Store, try openFile(second)] {
        let cell = store.schema.entities[store.index("Item")].layout.property(named: "photo")!.cells
          .lowerBound
        let values = try [Int64(1), 2, 3].map { key -> [UInt8]? in
          let row = try #require(try store.row(entity: store.index("Item"), key: key))
          return try ExternalValue(cell: row.batch.bytes(row.row, cell)).map(store.externalValue)
        }
        #expect(values == [Array(large.dropFirst()), [7], nil])
      }
    }

    @Test func `Many rows are copied in blocks, and keys of deleted ones are not given again`() throws {
      let file = try openFile(path)
      try file.insert("Owner", (1...12_345).map { Draft(key: -$0, values: ["name": .text("o\($0)")]) })
      try file.commit { $0.deleted = [file.deletion("Owner", 12_345)] }
      try file.setMetadata(StoreMetadata(values: ["purpose": .string("test")]))
      var blocks = 0
      var parts: [Double] = []
      let pace = MigrationPace {
        parts.append($0)
        return true
      }
      let copy = try StoreCopy(of: file, pace: pace)
      try copy.forEachTransaction { _ throws(StoreError) in blocks += 1 }
      #expect(blocks > 3 && blocks < 10)
      #expect(parts == parts.sorted() && parts.last == 1)
      try PostgreSQLStore.make(place.configuration(), from: copy)
      let server = try PostgreSQLStore(schema: Shop.resolved, configuration: place.configuration())
      #expect(try server.count(StoreQuery(entity: server.index("Owner"))) == 12_344)
      #expect(try server.insert("Owner", [Draft(key: -1)]) == [12_346])
      #expect(server.identifier == file.identifier)
      #expect(try server.metadata().values["purpose"] == .string("test"))
      #expect(try server.metadata().values["NSStoreType"] == .string("PostgreSQL"))
      // How a file gives back its pages.
      #expect(try server.metadata().values["_NSAutoVacuumLevel"] == nil)
    }

    @Test func `A copy that is refused, cancelled or fails leaves nothing`() throws {
      let file = try openFile(path)
      try file.insert("Owner", [Draft(key: -1, values: ["name": .text("a\0b")])])
      let refused = failure { () throws(StoreError) in
        try PostgreSQLStore.make(place.configuration(), from: StoreCopy(of: file))
      }
      #expect(refused?.code == .invalidValue)
      #expect(refused?.entity == "Owner" && refused?.properties == ["name"])
      let cancelled = failure { () throws(StoreError) in
        try PostgreSQLStore.make(
          place.configuration(), from: StoreCopy(of: file, pace: MigrationPace { _ in false }))
      }
      #expect(cancelled?.code == .cancelled || cancelled?.code == .invalidValue)
      let schemas = try place.connection().integer(
        "SELECT count(*) FROM pg_namespace WHERE nspname = '\(place.name)'")
      #expect(schemas == 0)
      let stopped = failure { () throws(StoreError) in
        try SQLiteStore.makeFile(
          at: path + ".copy", from: StoreCopy(of: file, pace: MigrationPace { _ in false }), modelCache: nil)
      }
      #expect(stopped?.code == .cancelled)
      #expect(!FileManager.default.fileExists(atPath: path + ".copy"))
    }

    @Test func `A place with a store is refused, and the store stays`() throws {
      let server = try PostgreSQLStore(schema: Shop.resolved, configuration: place.configuration())
      try server.insert("Owner", [Draft(key: -1, values: ["name": .text("first")])])
      let file = try openFile(path)
      try file.insert("Owner", [Draft(key: -1, values: ["name": .text("second")])])
      let taken = failure { () throws(StoreError) in
        try PostgreSQLStore.make(place.configuration(), from: StoreCopy(of: file))
      }
      #expect(taken?.code == .cannotOpen)
      #expect(taken?.message.contains("has a store already") == true)
      #expect(try server.describe("Owner", 1)?["name"] == "first")
      let exists = failure { () throws(StoreError) in
        try SQLiteStore.makeFile(at: path, from: StoreCopy(of: server), modelCache: nil)
      }
      #expect(exists?.code == .cannotOpen)
      #expect(try file.describe("Owner", 1)?["name"] == "second")
    }
  }

  /// Copies a store to the other engine and on to the first one again, and expects the same rows, pairs, orders and keys.
  func expectCopies(
    of store: any Store, _ comment: Comment, _ source: SourceLocation = #_sourceLocation
  ) throws {
    let place = TestSchema()
    let facts = try Facts.of(store)
    try PostgreSQLStore.make(place.configuration(), from: StoreCopy(of: store))
    let server = try PostgreSQLStore(schema: store.schema, configuration: place.configuration())
    let path = ProcessFolder.newURL().path
    try SQLiteStore.makeFile(at: path, from: StoreCopy(of: server), modelCache: nil)
    let file = try SQLiteStore(schema: store.schema, configuration: .init(location: .file(path: path)))
    for copy in [server as any Store, file] {
      let found = try Facts.of(copy)
      for row in Set(facts.rows.keys).union(found.rows.keys) where found.rows[row] != facts.rows[row] {
        #expect(found.rows[row] == facts.rows[row], comment, sourceLocation: source)
      }
      #expect(copy.identifier == store.identifier, comment, sourceLocation: source)
      // Rows may have keys that were not assigned before.
      let greatest = try store.lastKeys().map { root, last in
        (
          root,
          max(
            last,
            facts.rows.values.filter { store.root($0["entity"]!) == root }.compactMap { Int64($0["key"]!) }
              .max() ?? 0)
        )
      }
      #expect(
        try copy.lastKeys() == Dictionary(uniqueKeysWithValues: greatest), comment, sourceLocation: source)
    }
  }
#endif
