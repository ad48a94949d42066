import CDESQLiteStore
import CDEStore
@_spi(CDE) import CDEStoreTestKit
import Foundation
import Testing

@Suite("Insertions whose rows are not in memory at the same time")
struct InsertionTests {
  private let scratch = Scratch()

  private func store(tracksHistory: Bool = false) throws -> SQLiteStore {
    try SQLiteStore.file(scratch.file(), Shop.schema) { $0.tracksHistory = tracksHistory }
  }

  private func insertion(_ store: SQLiteStore, _ entity: String, _ drafts: [Draft]) -> StoreInsertion {
    StoreInsertion(of: store.index(entity), count: drafts.count) { (body) throws(StoreError) in
      for start in stride(from: 0, to: drafts.count, by: 100) {
        try body(store.batch(entity, Array(drafts[start..<min(start + 100, drafts.count)])))
      }
    }
  }

  private func category(_ number: Int, _ name: String) -> Draft {
    Draft(key: -Int64(number) - 1, values: ["name": .text(name), "code": .integer(1)])
  }

  @Test("The rows are those that a transaction would have written, with consecutive keys")
  func rows() throws {
    let store = try store()
    let drafts = (1...Int64(250)).map {
      Draft(
        key: -$0,
        values: [
          "big": .integer($0), "title": .text("t\($0)"), "extra": .text("e"), "photo": .bytes([1, 2]),
        ])
    }
    try store.insert("Item", [Draft(key: -1)])
    let result = try store.commit(insertion(store, "SpecialItem", drafts))
    #expect(result.keyBase[store.root("Item")] == 1 && result.derived.isEmpty)
    let copies = try store.insert("SpecialItem", drafts)
    #expect(copies == (252...501).map { $0 })
    for key in [2, 101, 251] as [Int64] {
      var expected = try #require(try store.describe("SpecialItem", key + 250))
      expected["key"] = "\(key)"
      #expect(try store.describe("SpecialItem", key) == expected)
    }
  }

  @Test("The history has one transaction with all rows")
  func history() throws {
    let store = try store(tracksHistory: true)
    try store.insert("Tag", [Draft(key: -1)])
    var insertion = insertion(store, "Tag", (1...250).map { Draft(key: -$0) })
    (insertion.author, insertion.contextName) = ("me", "import")
    let result = try store.commit(insertion)
    let recorded = try #require(try store.history(StoreHistoryQuery(after: 1)).last)
    #expect(recorded.number == result.historyNumber)
    #expect(recorded.author == "me" && recorded.contextName == "import")
    #expect(recorded.changes.map(\.key) == (2...251).map { $0 })
    #expect(recorded.changes.allSatisfy { $0.kind == .inserted && $0.entity == store.index("Tag") })
    // Nothing is recorded of an insertion without rows.
    #expect(try store.commit(self.insertion(store, "Tag", [])).historyNumber == nil)
  }

  @Test("A repeated unique value and a source that fails leave nothing, no file and no used key")
  func refusals() throws {
    let store = try store(tracksHistory: true)
    var drafts = (0..<300).map { category($0, "\($0)") }
    drafts[250].values["name"] = .text("7")
    let repeated = #expect(throws: StoreError.self) { try store.commit(insertion(store, "Category", drafts)) }
    #expect(repeated?.code == .uniqueness && repeated?.properties == ["name", "code"])
    let large = [UInt8](repeating: 1, count: 200_000)
    let ended = #expect(throws: StoreError.self) {
      try store.commit(
        StoreInsertion(of: store.index("Item"), count: 200) { (body) throws(StoreError) in
          try body(store.batch("Item", [Draft(key: -1, values: ["photo": .bytes(large)])]))
          throw StoreError(.cancelled, "Enough.")
        })
    }
    #expect(ended?.code == .cancelled)
    let files = FileManager.default.enumerator(atPath: scratch.path)?.compactMap { $0 as? String } ?? []
    #expect(!files.contains { $0.contains("EXTERNAL_DATA/") })
    #expect(try store.count(StoreQuery(entity: store.index("Category"))) == 0)
    #expect(try store.history(StoreHistoryQuery(after: 0)).isEmpty)
    #expect(try store.insert("Category", [category(0, "a")]) == [1])
    #expect(try store.insert("Item", [Draft(key: -1)]) == [1])
  }

  @Test("A source with fewer or more rows than it says is refused", arguments: [299, 301, 0])
  func wrongCount(count: Int) throws {
    let store = try store()
    let drafts = (0..<300).map { category($0, "\($0)") }
    let error = #expect(throws: StoreError.self) {
      try store.commit(
        StoreInsertion(of: store.index("Category"), count: count) { (body) throws(StoreError) in
          try body(store.batch("Category", drafts))
        })
    }
    #expect(error?.code == .engine && error?.message.contains("300 rows, and not \(count)") == true)
    #expect(try store.count(StoreQuery(entity: store.index("Category"))) == 0)
  }

  @Test("Keys beyond the limit are refused before any row is read")
  func keyLimit() throws {
    let store = try store()
    var insertion = StoreInsertion(of: store.index("Tag"), count: 11) { (_) throws(StoreError) in
      Issue.record("The rows were read.")
    }
    insertion.keyLimit = 10
    let error = #expect(throws: StoreError.self) { try store.commit(insertion) }
    #expect(error?.code == .full)
  }

  @Test("Keys are those of a fetch, in its order", arguments: [false, true])
  func keys(includesSubentities: Bool) throws {
    let store = try store()
    try store.insert("Item", (1...300).map { Draft(key: -$0, values: ["big": .integer($0 % 7)]) })
    try store.insert("SpecialItem", (1...300).map { Draft(key: -$0, values: ["big": .integer($0 % 5)]) })
    var query = StoreQuery(
      entity: store.index("Item"), includesSubentities: includesSubentities,
      sort: [
        StoreSort(
          .path(StorePath(end: .property(slot: store.slot("Item", "big"), leaf: 0))), isAscending: false),
        StoreSort(.path(StorePath(end: .object)), isAscending: false),
      ], limit: 450, offset: 20)
    var keys = try store.keys(of: query)
    let found = keys.takeFirst(.max)
    query.keysOnly = true
    #expect(found == (try store.fetch(query, isKnown: nil)).keys)
    #expect(found.count == (includesSubentities ? 450 : 280))
    query.limit = 0
    #expect(try store.keys(of: query).count == 0)
  }
}
