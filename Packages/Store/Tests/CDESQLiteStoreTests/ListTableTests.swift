import CDESQLite
@_spi(CDE) import CDESQLiteFaults
@_spi(CDE) import CDEStore
@_spi(CDE) import CDEStoreTestKit
import Foundation
import Testing

@testable import CDESQLiteStore

@Suite("Lists and keys of statements")
struct ListTableTests {
  let scratch = Scratch()
  let store: SQLiteStore

  init() throws { store = try SQLiteStore.file(scratch.file(), Shop.schema) }

  func rows(_ sql: String, _ bindings: [StoreValue]) throws -> [[StoreValue]] {
    try store.pool.read { (connection) throws(StoreError) in
      var rows: [[StoreValue]] = []
      try connection.forEachRow(sql, bindings, while: "Reading a list") { statement in
        rows.append((0..<sqlite3_column_count(statement)).map { StoreValue(column: $0, of: statement) })
      }
      return rows
    }
  }

  @Test("A list gives its values in their order, each with its type")
  func values() throws {
    let values: [StoreValue] = [
      .integer(.max), .integer(.min), .null, .real(-0.5), .text(""), .text("a\u{0}é日"), .blob(Data()),
      .blob(Data([0, 255])), .integer(7), .text("end"),
    ]
    let found = try rows(
      "SELECT value, typeof(value) FROM cde_list(?)", [.blob(ListBytes.encoded(values))])
    #expect(found.map { $0[0] } == values)
    #expect(
      found.map { $0[1] }
        == ["integer", "integer", "null", "real", "text", "text", "blob", "blob", "integer", "text"]
        .map { .text($0) })
    #expect(try rows("SELECT value FROM cde_list(?)", [.blob(ListBytes.encoded([Int64]()))]).isEmpty)
    #expect(try rows("SELECT value FROM cde_list(?)", [.null]).isEmpty)
  }

  @Test("Two lists in one statement, and a list within a list, keep their own places")
  func nested() throws {
    let (outer, inner) = (ListBytes.encoded([1, 2, 3]), ListBytes.encoded([10, 20]))
    let found = try rows(
      "SELECT a.value * b.value, a.rowid, b.rowid FROM cde_list(?) AS a CROSS JOIN cde_list(?) AS b",
      [.blob(outer), .blob(inner)])
    #expect(
      found
        == [
          [10, 1, 1], [20, 1, 2], [20, 2, 1], [40, 2, 2], [30, 3, 1], [60, 3, 2],
        ].map { $0.map { .integer($0) } })
  }

  @Test("Bytes that end within a value, or are none of a list, are an error")
  func damaged() throws {
    let whole = ListBytes.encoded([.text("hello"), .integer(4), .null])
    for count in 1..<whole.count where ![14, 23].contains(count) {
      #expect(throws: StoreError.self, "\(count) bytes") {
        try rows("SELECT value FROM cde_list(?)", [.blob(whole.prefix(count))])
      }
    }
    var random = SplitMix(seed: 3)
    for _ in 0..<2_000 {
      let bytes = Data(
        (0..<Int.random(in: 1...40, using: &random)).map { _ in .random(in: 0...5, using: &random) })
      // Any result is right. The process must only go on.
      _ = try? rows("SELECT value FROM cde_list(?)", [.blob(bytes)])
    }
    let huge = Data([3]) + withUnsafeBytes(of: Int64.max) { Data($0) } + Data("text".utf8)
    #expect(throws: StoreError.self) { try rows("SELECT value FROM cde_list(?)", [.blob(huge)]) }
    #expect(throws: StoreError.self) { try rows("SELECT value FROM cde_list", []) }
  }

  @Test("A view of a file can't use the table")
  func views() throws {
    let file = scratch.file()
    try SQLiteStore.file(file, Shop.schema).close()
    try RawSQLite(file).run("CREATE VIEW spy AS SELECT value FROM cde_list(x'010100000000000000')")
    let store = try SQLiteStore.file(file, Shop.schema)
    #expect(throws: StoreError.self) {
      try store.pool.read { (connection) throws(StoreError) in
        try connection.forEachRow("SELECT * FROM spy", [], while: "Reading a view") { _ in }
      }
    }
  }

  @Test("Keys are looked up in their order, once each, without a table in between")
  func keys() throws {
    let item = store.index("Item")
    try store.insert("Item", (1...50).map { Draft(key: -$0, values: ["title": .text("t\($0)")]) })
    var query = StoreQuery(entity: item, filter: .keys([40, 3, 3, -1, 99, 7, 40]))
    #expect(try store.fetch(query, isKnown: nil).keys == [3, 7, 40])
    #expect(try store.count(query) == 3)
    query.limit = 1
    query.offset = 1
    #expect(try store.fetch(query, isKnown: nil).keys == [7])
    #expect(try store.count(query) == 1)
    query = StoreQuery(entity: item, filter: .and([.keys([1, 2, 3]), .keys([2, 3, 4])]))
    #expect(try store.fetch(query, isKnown: nil).keys == [2, 3])
    query.filter = .keys([])
    #expect(try store.fetch(query, isKnown: nil).keys == [])
  }

  @Test("A statement that writes its rows into several places gives each row's values")
  func places() throws {
    let sql =
      "SELECT 1, 'a', x'00' UNION ALL SELECT 2, NULL, 0.5 UNION ALL SELECT value, 'b', value FROM cde_list(?)"
    try store.pool.read { (connection) throws(StoreError) in
      let row = RowValues(columns: 3)
      var texts: [String] = []
      try connection.forEachRow(sql, [.blob(ListBytes.encoded([3, 4]))], while: "Reading") { statement in
        row.move(to: statement)
        let text = sqlite3_value_text(row[1]).map { String(cString: $0) } ?? "-"
        texts.append("\(sqlite3_value_int64(row[0]))\(text)\(sqlite3_value_type(row[2]))")
      }
      #expect(
        texts == ["1a\(SQLITE_BLOB)", "2-\(SQLITE_FLOAT)", "3b\(SQLITE_INTEGER)", "4b\(SQLITE_INTEGER)"])
    }
  }

  @Test("A key below 1 fails a fetch of keys with its number, and the next fetch goes on")
  func damagedKeys() throws {
    let file = scratch.file()
    let first = try SQLiteStore.file(file, Shop.schema)
    try first.insert("Tag", (1...40).map { Draft(key: -$0, values: ["name": .text("t\($0)")]) })
    try first.close()
    try RawSQLite(file).run("UPDATE ZTAG SET Z_PK = -7 WHERE Z_PK = 20")
    let store = try SQLiteStore.file(file, Shop.schema)
    let tag = store.index("Tag")
    let name = StoreExpression.path(
      StorePath(end: .property(slot: store.slot("Tag", "name"), leaf: 0)))
    for sort in [[], [StoreSort(name)]] {
      do throws(StoreError) {
        _ = try store.fetch(StoreQuery(entity: tag, sort: sort, keysOnly: true), isKnown: nil)
        Issue.record("A fetch gave a damaged key")
      } catch {
        #expect(error.code == .unreadable && error.message.contains("the key -7 in Z_PK"), "\(error)")
      }
      let sound = StoreFilter.comparison(name, .equal, .value(.text("t8")), [])
      #expect(
        try store.fetch(StoreQuery(entity: tag, filter: sound, sort: sort, keysOnly: true), isKnown: nil).keys
          == [8])
    }
  }

  @Test("A list means the same with 64 members and with more, whatever their types")
  func affinity() throws {
    try store.insert(
      "Item", ["5", "a", "5.0"].enumerated().map { Draft(key: Int64(-1 - $0), values: ["title": .text($1)]) })
    let title = StoreExpression.path(
      StorePath(end: .property(slot: store.slot("Item", "title"), leaf: 0)))
    func found(_ count: Int) throws -> [Int64] {
      let values: [StoreValue] = [.integer(5), .text("a")] + (2..<count).map { .text("none \($0)") }
      let filter = StoreFilter.comparison(title, .in, .list(values.map { .value($0) }), [])
      return try store.fetch(StoreQuery(entity: store.index("Item"), filter: filter), isKnown: nil).keys
        .sorted()
    }
    #expect(try found(64) == found(65))
  }

  @Test("A cancelled task ends a fetch of keys on the writing connection, too")
  func cancelled() async throws {
    let memory = try SQLiteStore(
      schema: ResolvedSchema(Shop.schema), entities: nil,
      configuration: SQLiteStore.Configuration(location: .inMemory(name: UUID().uuidString)))
    try memory.insert("Tag", (1...2_000).map { Draft(key: -$0) })
    let query = StoreQuery(entity: memory.index("Tag"), keysOnly: true)
    #expect(try memory.fetch(query, isKnown: nil).keys.count == 2_000)
    let ended = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try memory.fetch(query, isKnown: nil).keys.count
    }
    do {
      let count = try await ended.value
      Issue.record("The cancelled fetch gave \(count) keys")
    } catch {
      #expect((error as? StoreError)?.code == .cancelled, "\(error)")
    }
    #expect(try memory.fetch(query, isKnown: nil).keys.count == 2_000)
  }
}
