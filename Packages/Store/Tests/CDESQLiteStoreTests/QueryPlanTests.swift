@_spi(CDE) import CDESQL
import CDESQLite
import CDEStore
@_spi(CDE) import CDEStoreTestKit
import Foundation
import Testing

@testable import CDESQLiteStore

@Suite("How queries run")
struct QueryPlanTests {
  let scratch = Scratch()
  let store: SQLiteStore

  init() throws { store = try SQLiteStore.file(scratch.file(), Shop.schema) }

  func path(_ entity: String, _ property: String) -> StoreExpression {
    .path(StorePath(end: .property(slot: store.slot(entity, property), leaf: 0)))
  }

  func plan(_ query: StoreQuery) throws -> String {
    var compiler = QueryCompiler(store.plans.physical, dialect: SQLiteDialect())
    let compiled = try compiler.compile(query, .rows(columns: "t0.Z_PK"))
    return try store.pool.read { (connection) throws(StoreError) in
      var lines: [String] = []
      try connection.forEachRow("EXPLAIN QUERY PLAN " + compiled.sql, compiled.bindings, while: "Explaining")
      {
        lines.append(String(cString: sqlite3_column_text($0, 3)))
      }
      return lines.joined(separator: "\n")
    }
  }

  @Test("The first and the last transaction of a history are found without reading those between")
  func historyExtent() throws {
    let store = try SQLiteStore.file(scratch.file(), Shop.schema) { $0.tracksHistory = true }
    let steps = try store.pool.read { (connection) throws(StoreError) in
      var steps: [String] = []
      try connection.forEachRow("EXPLAIN QUERY PLAN " + HistoryReader.extentQuery, while: "Explaining") {
        steps.append(String(cString: sqlite3_column_text($0, 3)))
      }
      return steps
    }
    #expect(steps.count { $0 == "SEARCH ATRANSACTION" } == 2, "\(steps)")
    #expect(!steps.contains { $0.hasPrefix("SCAN ATRANSACTION") })
    try store.close()
  }

  @Test("Equality, ranges, prefixes, lists and sorts use an index; folded text can't")
  func indexes() throws {
    let item = store.index("Item")
    let title = path("Item", "title")
    func filtered(_ filter: StoreFilter) throws -> String {
      try plan(StoreQuery(entity: item, filter: filter))
    }
    let text = StoreExpression.value(.text("abc"))
    let uses = "USING COVERING INDEX Z_Item_byTitle"
    #expect(try filtered(.comparison(title, .equal, text, [])).contains("\(uses) (ZTITLE1=?)"))
    #expect(try filtered(.comparison(title, .equal, .value(.null), [])).contains("\(uses) (ZTITLE1=?)"))
    #expect(
      try filtered(.comparison(title, .beginsWith, text, [])).contains("\(uses) (ZTITLE1>? AND ZTITLE1<?)"))
    #expect(
      try filtered(.comparison(title, .between, .list([text, text]), [])).contains(
        "\(uses) (ZTITLE1>? AND ZTITLE1<?)"))
    for count in [3, 500] {
      let list = (0..<count).map { StoreExpression.value(.text("\($0)")) }
      #expect(try filtered(.comparison(title, .in, .list(list), [])).contains("\(uses) (ZTITLE1=?)"))
    }
    #expect(try !filtered(.comparison(title, .equal, text, .caseInsensitive)).contains("ZTITLE1=?"))
    #expect(try plan(StoreQuery(entity: item, sort: [StoreSort(title)])) == "SCAN t0 \(uses)")
    #expect(try filtered(.keys(Array(1...200))).contains("USING INTEGER PRIMARY KEY (rowid=?)"))
    let category = StoreExpression.path(StorePath(hops: [store.slot("Item", "category")], end: .object))
    let reference = StoreExpression.value(.reference(entity: store.index("Category"), key: 1))
    #expect(
      try filtered(.comparison(category, .equal, reference, [])).contains(
        "ZITEM_ZCATEGORY_INDEX (ZCATEGORY=?)"))
  }

  @Test("Values of long lists arrive exactly, whatever they hold")
  func longLists() throws {
    let texts = ["", "a", "quote\"s \\ and \u{0} zero", "é", "日本"]
    let reals = [0.1, -1e300, .leastNonzeroMagnitude, 1.0 / 3]
    let blobs: [[UInt8]] = [[], [0], [255, 34, 92]]
    var drafts: [Draft] = []
    for text in texts { drafts.append(Draft(key: Int64(-1 - drafts.count), values: ["title": .text(text)])) }
    for real in reals { drafts.append(Draft(key: Int64(-1 - drafts.count), values: ["ratio": .real(real)])) }
    for blob in blobs {
      drafts.append(Draft(key: Int64(-1 - drafts.count), values: ["payload": .bytes(blob)]))
    }
    try store.insert("Item", drafts)
    func count(_ property: String, _ values: [StoreValue], _ filler: (Int) -> StoreValue) throws -> Int {
      let list = (values + (0..<40_000).map(filler)).map { StoreExpression.value($0) }
      return try store.count(
        StoreQuery(
          entity: store.index("Item"), filter: .comparison(path("Item", property), .in, .list(list), [])))
    }
    #expect(try count("title", texts.map { .text($0) }) { .text("no \($0)") } == texts.count)
    #expect(try count("ratio", reals.map { .real($0) }) { .real(Double($0) + 0.5) } == reals.count)
    #expect(
      try count("payload", blobs.map { .blob(Data($0)) }) { .blob(Data("\($0)".utf8)) } == blobs.count)
    #expect(try count("title", []) { .text("no \($0)") } == 0)
  }

  @Test("A query that runs long without finding anything can be cancelled")
  func interruption() async throws {
    try store.insert("Tag", (1...400).map { Draft(key: -$0, values: ["name": .text("t\($0)")]) })
    try store.insert("Item", (1...400).map { Draft(key: -$0, values: ["title": .text("i\($0)")]) })
    var links = StoreTransaction()
    for item in Int64(1)...60 {
      for tag in Int64(1)...60 {
        links.links.append(
          LinkChange(
            kind: .add, entity: store.index("Item"), slot: store.slot("Item", "tags"), owner: item,
            member: tag))
      }
    }
    _ = try store.commit(links)
    // Sixty to the fifth combinations: without the interruption it would run for hours.
    let tags = store.slot("Item", "tags")
    let items = store.slot("Tag", "items")
    let hopeless = StoreQuery(
      entity: store.index("Item"),
      filter: .any(
        StorePath(hops: [tags, items, tags, items, tags], end: .object),
        matching: .comparison(
          .path(StorePath(scope: 1, end: .property(slot: store.slot("Tag", "name"), leaf: 0))), .equal,
          .value(.text("absent")), [])))
    let task = Task { [store] in try store.count(hopeless) }
    task.cancel()
    let result = await task.result
    #expect { try result.get() } throws: { ($0 as? StoreError)?.code == .cancelled }
    #expect(try store.count(StoreQuery(entity: store.index("Tag"))) == 400)
  }

  @Test("What a query can't ask is refused by name")
  func unsupported() {
    func code(_ filter: StoreFilter) -> StoreError? {
      do {
        _ = try store.count(StoreQuery(entity: store.index("Item"), filter: filter))
        return nil
      } catch { return error }
    }
    let draft = code(.comparison(path("Item", "draft"), .equal, .value(.null), []))
    #expect(draft?.code == .unsupportedQuery && draft?.properties == ["draft"])
    #expect(
      code(.comparison(path("Item", "title"), .matches, .value(.text("(")), []))?.code == .unsupportedQuery)
    #expect(code(.comparison(path("Item", "tags"), .equal, .value(.null), []))?.code == .unsupportedQuery)
    var deep = StoreFilter.constant(true)
    for _ in 0..<2000 { deep = .not(.and([deep, .constant(true)])) }
    #expect(code(deep)?.code == .tooBig)
    #expect(throws: StoreError.self) { try store.count(StoreQuery(entity: 99)) }
    let wide = StoreFilter.or(
      (0..<5000).map { .comparison(path("Item", "big"), .equal, .value(.integer($0)), []) })
    #expect(code(wide) == nil)
  }
}
