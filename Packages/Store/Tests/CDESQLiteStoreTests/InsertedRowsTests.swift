@_spi(CDE) import CDESQLiteFaults
@_spi(CDE) import CDESQLiteStore
@_spi(CDE) import CDEStore
@_spi(CDE) import CDEStoreTestKit
import Foundation
import Testing

@Suite("Rows that one statement inserts")
struct InsertedRowsTests {
  let scratch = Scratch()

  @Test(
    "The same rows are stored by one statement for all and by one for each",
    arguments: [UInt64.random(in: 0 ... .max), 5])
  func same(seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    var batches: [[Draft]] = []
    for _ in 0..<12 {
      batches.append(
        (0..<Int.random(in: 1...60, using: &random)).map { index in
          var draft = Draft(key: Int64(-1 - index), version: .random(in: 1...3, using: &random))
          if Bool.random(using: &random) {
            draft.values["title"] = .text(
              ["", "a", "Zoë \u{0} 日", String(repeating: "x", count: 5_000)].randomElement(using: &random)!)
          }
          if Bool.random(using: &random) {
            draft.values["ratio"] = .real(.random(in: -1e9...1e9, using: &random))
          }
          if Bool.random(using: &random) {
            draft.values["payload"] = .bytes(
              (0..<Int.random(in: 0...40, using: &random)).map { _ in .random(in: 0...255, using: &random) })
          }
          if Bool.random(using: &random) {
            draft.references["category"] = Int64.random(in: 1...3, using: &random)
          }
          return draft
        })
    }
    // With an observer each row has a statement of its own.
    var tables: [[[String]]] = []
    for (name, listener) in [("one", nil), ("each", StatementListener())] {
      let file = scratch.file(name)
      let store = try SQLiteStore(
        schema: ResolvedSchema(Shop.schema), entities: nil,
        configuration: SQLiteStore.Configuration(location: .file(path: file)), observer: listener)
      try store.insert("Category", (1...3).map { Draft(key: -$0, values: ["name": .text("c\($0)")]) })
      for batch in batches { try store.insert("Item", batch) }
      try store.close()
      tables.append(try RawSQLite(file).run("SELECT Z_PK, Z_OPT, quote(ZTITLE1), * FROM ZITEM ORDER BY Z_PK"))
    }
    #expect(tables[0].count == batches.joined().count, "seed \(seed)")
    #expect(tables[0] == tables[1], "seed \(seed)")
  }

  @Test(
    "A row whose key is taken fails the commit and is named, wherever it is", arguments: [false, true],
    [0, 1, 4])
  func taken(hasTrigger: Bool, place: Int) throws {
    // With a trigger SQLite reads all rows before it writes the first.
    let derived = StoreAttribute(
      name: "noteCount", type: .integer64, derivation: .count(relationship: "notes"))
    let schema = StoreSchema(entities: [
      StoreEntity(
        name: "Tag",
        attributes: [StoreAttribute(name: "name", type: .string)] + (hasTrigger ? [derived] : []),
        relationships: [StoreRelationship(name: "notes", destination: "Note", inverse: "tag", isToMany: true)]
      ),
      StoreEntity(
        name: "Note", attributes: [],
        relationships: [StoreRelationship(name: "tag", destination: "Tag", inverse: "notes", isToMany: false)]
      ),
    ])
    let store = try SQLiteStore.file(scratch.file(), schema)
    try store.insert("Tag", (1...9).map { Draft(key: -$0, values: ["name": .text("t\($0)")]) })
    let triggers = try RawSQLite(scratch.file()).run(
      "SELECT name FROM sqlite_master WHERE type = 'trigger' AND sql LIKE '%INSERT ON ZTAG%'")
    #expect(triggers.isEmpty != hasTrigger)
    var drafts = (0..<5).map { Draft(key: Int64(-1 - $0), values: ["name": .text("new \($0)")]) }
    drafts[place].key = 7
    do throws(StoreError) {
      try store.insert("Tag", drafts)
      Issue.record("A taken key was written again")
    } catch {
      #expect(error.code == .conflict)
      #expect(error.conflicts.map(\.key) == [7], "\(error)")
    }
    let tags = StoreQuery(entity: store.index("Tag"))
    #expect(try store.count(tags) == 9)
    #expect(try store.describe("Tag", 7)?["name"] == "t7")
    try store.insert("Tag", (1...3).map { Draft(key: -$0, values: ["name": .text("later \($0)")]) })
    #expect(try store.count(tags) == 12)
  }

  @Test("Rows of several entities of a tree, and of two stores in turns, keep their own cells")
  func turns() throws {
    let stores = try (0..<2).map { try SQLiteStore.file(scratch.file("\($0)"), Shop.schema) }
    for step in 0..<20 {
      for (number, store) in stores.enumerated() {
        try store.commit {
          $0.inserted = [
            store.batch(
              "Item", (1...3).map { Draft(key: -$0, values: ["title": .text("\(number) item \(step)")]) }),
            store.batch(
              "SpecialItem",
              (4...6).map { Draft(key: -$0, values: ["title": .text("\(number) special \(step)")]) }),
          ]
        }
      }
    }
    for (number, store) in stores.enumerated() {
      for key in Int64(1)...120 {
        let row = try #require(try store.describe("Item", key))
        let isSpecial = (key - 1) % 6 >= 3
        #expect(row["entity"] == (isSpecial ? "SpecialItem" : "Item"))
        #expect(row["title"] == "\(number) \(isSpecial ? "special" : "item") \((key - 1) / 6)")
      }
    }
  }
}
