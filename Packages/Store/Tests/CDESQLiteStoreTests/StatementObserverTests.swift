@_spi(CDE) import CDESQLiteFaults
@_spi(CDE) import CDESQLiteStore
@_spi(CDE) import CDEStore
@_spi(CDE) import CDEStoreTestKit
import Foundation
import Testing

@Suite("Statement observers")
struct StatementObserverTests {
  let scratch = Scratch()

  func store(
    _ listener: StatementListener, _ location: SQLiteStore.Configuration.Location? = nil,
    busyTimeout: Duration = .seconds(10)
  ) throws -> SQLiteStore {
    let location = location ?? .file(path: scratch.file())
    return try SQLiteStore(
      schema: ResolvedSchema(Shop.schema), entities: nil,
      configuration: SQLiteStore.Configuration(location: location, busyTimeout: busyTimeout),
      observer: listener)
  }

  @Test("Opening is not told, and each call is one request of its kind", arguments: [true, false])
  func kinds(inMemory: Bool) throws {
    let listener = StatementListener()
    let store = try store(listener, inMemory ? .inMemory(name: UUID().uuidString) : nil)
    #expect(listener.take().isEmpty)
    try store.insert("Tag", (1...3).map { Draft(key: -$0, values: ["name": .text("t\($0)")]) })
    let saved = listener.take()
    #expect(saved.map(\.kind) == [.save])
    // What the store does for its file's sake is none of the save's statements.
    #expect(saved.flatMap(\.statements).allSatisfy { !$0.sql.contains("user_version") })
    let tag = store.index("Tag")
    #expect(try store.count(StoreQuery(entity: tag)) == 3)
    _ = try store.fetch(StoreQuery(entity: tag), isKnown: nil)
    _ = try store.metadata()
    _ = try store.allocateKeys([store.root("Tag"): 1])
    let told = listener.take()
    #expect(told.map(\.kind) == [.read, .read, .upkeep, .upkeep])
    // Neither a read's own transaction nor its pragmas belong to what was asked.
    #expect(told.prefix(2).flatMap(\.statements).allSatisfy { $0.sql.hasPrefix("SELECT ") && $0.runs == 1 })
    #expect(told.prefix(2).map(\.statements.count) == [1, 1])
    let rules = store.schema.entities.mapped { _ in [SlotIndex: StoreBatchDelete.Rule]() }
    _ = try store.commit(
      .delete(StoreBatchDelete(query: StoreQuery(entity: tag, keysOnly: true), rules: rules)))
    #expect(listener.take().map(\.kind) == [.batch])
  }

  @Test("Looking up many keys is one request with one statement")
  func lookUps() throws {
    let listener = StatementListener()
    let store = try store(listener)
    try store.insert("Tag", (1...5).map { Draft(key: -$0, values: ["name": .text("t\($0)")]) })
    _ = listener.take()
    #expect(try store.rows(entity: store.index("Tag"), keys: [1, 2, 3, 4, 5]).count == 5)
    let told = listener.take()
    #expect(told.map { $0.statements.map(\.runs) } == [[1]])
  }

  @Test("Values are told only to those who want them")
  func values() throws {
    for wantsValues in [false, true] {
      let listener = StatementListener(wantsValues: wantsValues)
      let store = try store(listener)
      try store.insert("Tag", [Draft(key: -1, values: ["name": .text("secret")])])
      let texts = listener.take().flatMap(\.statements).map(\.sql)
      #expect(texts.contains { $0.hasPrefix("INSERT INTO ") })
      #expect(texts.contains { $0.contains("secret") } == wantsValues)
    }
  }

  @Test(
    "A save waits for the transaction of another connection, and a read for none: only that is told as waiting"
  )
  func waiting() throws {
    let listener = StatementListener()
    let store = try store(listener, busyTimeout: .milliseconds(60))
    let other = try RawSQLite(scratch.file())
    try store.insert("Tag", [Draft(key: -1, values: ["name": .text("a")])])
    _ = listener.take()
    try other.run("BEGIN IMMEDIATE")
    let asked = ContinuousClock.now
    #expect(throws: StoreError.self) {
      try store.insert("Tag", [Draft(key: -2, values: ["name": .text("b")])])
    }
    let passed = asked.duration(to: .now)
    try other.run("ROLLBACK")
    _ = try store.count(StoreQuery(entity: store.index("Tag")))
    let told = listener.take()
    #expect(told.map(\.kind) == [.save, .read])
    #expect(told[0].waiting >= .milliseconds(50) && told[0].waiting + told[0].duration <= passed)
    #expect(told[0].waiting > told[0].duration && told[1].waiting < told[0].waiting)
  }

  @Test("The time between asking and beginning is waiting, and so are the parts that a request marks")
  func parts() {
    let listener = StatementListener()
    let collector = StatementCollector(listener)
    collector.begin(asked: .now - .seconds(5))
    let end = ContinuousClock.now + .milliseconds(3)
    collector.waiting { while ContinuousClock.now < end {} }
    collector.end(.read)
    collector.begin()
    collector.end(.read)
    let told = listener.take()
    #expect(told[0].waiting >= .seconds(5) + .milliseconds(2) && told[0].duration < .seconds(5))
    #expect(told[1].waiting == .zero)
  }

  @Test("A failed request is told too")
  func failures() throws {
    let listener = StatementListener()
    let store = try store(listener)
    let category = Draft(key: -1, values: ["name": .text("a"), "code": .integer(1)])
    try store.insert("Category", [category])
    _ = listener.take()
    #expect(throws: StoreError.self) { try store.insert("Category", [category]) }
    let told = listener.take()
    #expect(told.map(\.kind) == [.save])
    #expect(told[0].statements.contains { $0.sql.hasPrefix("INSERT INTO ") })
  }
}
