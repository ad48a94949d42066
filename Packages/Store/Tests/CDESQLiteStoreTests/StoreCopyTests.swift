@_spi(CDE) import CDESQLiteStore
import CDEStore
@_spi(CDE) import CDEStoreTestKit
import Foundation
import Testing

@Suite("Copies of stores")
struct StoreCopyTests {
  @Test("A copy is one file with all rows, from a file as from memory", arguments: [true, false])
  func copy(inMemory: Bool) throws {
    let scratch = Scratch()
    let location: SQLiteStore.Configuration.Location =
      inMemory ? .inMemory(name: UUID().uuidString) : .file(path: scratch.file())
    let store = try SQLiteStore(
      schema: Shop.schema, configuration: SQLiteStore.Configuration(location: location))
    try store.insert("Tag", (1...3).map { Draft(key: -$0, values: ["name": .text("t\($0)")]) })
    let path = scratch.file("Copy of it.sqlite")
    try store.copy(to: path)
    try store.close()
    #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
    #expect(sql(path, "SELECT ZNAME FROM ZTAG ORDER BY Z_PK") == [["t1"], ["t2"], ["t3"]])
    let reopened = try SQLiteStore.file(path, Shop.schema)
    #expect(try reopened.count(StoreQuery(entity: reopened.index("Tag"))) == 3)
    #expect(reopened.identifier == store.identifier)
  }

  @Test("A copy overwrites nothing, and says so")
  func refusal() throws {
    let scratch = Scratch()
    let store = try SQLiteStore.file(scratch.file(), Shop.schema)
    try Data("mine".utf8).write(to: URL(fileURLWithPath: scratch.file("Taken.sqlite")))
    let error = #expect(throws: StoreError.self) { try store.copy(to: scratch.file("Taken.sqlite")) }
    #expect(error?.message.isEmpty == false)
    #expect(scratch.bytes("Taken.sqlite") == Data("mine".utf8))
  }

  @Test("A file made from another store has its rows, orders, pairs, large values, keys, UUID and metadata")
  func rows() throws {
    let scratch = Scratch()
    // Optimised code would remove the folder after the last use of the variable.
    defer { withExtendedLifetime(scratch) {} }
    let store = try SQLiteStore.file(scratch.file("Old.sqlite"), Shop.schema)
    let large = [UInt8(1)] + (0..<200_000).map { UInt8(truncatingIfNeeded: $0) }
    try store.insert("Category", [Draft(key: -1, values: ["name": .text("c")])])
    try store.insert(
      "Item",
      [
        Draft(
          key: -1, version: 5, values: ["title": .text("large"), "photo": .bytes(large)],
          references: ["category": 1], orders: ["category": 2_048]),
        Draft(
          key: -2, values: ["title": .text("small")], references: ["category": 1], orders: ["category": 1_024]
        ),
        Draft(key: -3, values: ["title": .text("deleted")]),
      ])
    try store.insert("Tag", (1...3).map { Draft(key: -$0, values: ["name": .text("t\($0)")]) })
    let tag = store.index("Tag")
    func link(_ property: String, _ owner: Int64, _ member: Int64, _ order: Int64?) -> LinkChange {
      LinkChange(
        kind: .add, entity: tag, slot: store.slot("Tag", property), owner: owner, member: member, order: order
      )
    }
    var transaction = StoreTransaction()
    transaction.links = [link("items", 1, 2, 1_024), link("items", 1, 1, 2_048), link("related", 1, 3, nil)]
    transaction.deleted = [RowDeletion(entity: store.index("Item"), key: 3, version: 1)]
    _ = try store.commit(transaction)
    try store.setMetadata(StoreMetadata(values: ["purpose": .string("test")]))
    let path = scratch.file("New.sqlite")
    try SQLiteStore.makeFile(at: path, from: StoreCopy(of: store), modelCache: nil)
    let copy = try SQLiteStore.file(path, Shop.schema)
    for (entity, keys) in [("Category", [Int64(1)]), ("Item", [1, 2]), ("Tag", [1, 2, 3])] {
      for key in keys {
        let (old, new) = (try store.describe(entity, key), try copy.describe(entity, key))
        // Each store has a file of its own for the value.
        #expect(new?.filter { $0.key != "photo" } == old?.filter { $0.key != "photo" })
      }
    }
    let row = try #require(try copy.row(entity: copy.index("Item"), key: 1))
    let cell = row.batch.layout.property(named: "photo")!.cells.lowerBound
    let value = try #require(ExternalValue(cell: row.batch.bytes(row.row, cell)))
    #expect(try copy.externalValue(value) == Array(large.dropFirst()))
    func members(_ entity: String, _ property: String) throws -> [Int64] {
      try copy.related(
        entity: copy.index(entity), slot: copy.slot(entity, property), owners: [1], isKnown: nil
      ).entries.map(\.key)
    }
    #expect(try members("Category", "items") == [2, 1])
    #expect(try members("Tag", "items") == [2, 1])
    #expect(try members("Tag", "related") == [3])
    #expect(try copy.insert("Item", [Draft(key: -1)]) == [4])
    #expect(copy.identifier == store.identifier)
    #expect(try copy.metadata().values["purpose"] == .string("test"))
    #expect(sql(path, "PRAGMA integrity_check") == [["ok"]])
  }

  @Test("A file that can't be completed is removed, and one that exists is left alone")
  func incomplete() throws {
    let scratch = Scratch()
    // Optimised code would remove the folder after the last use of the variable.
    defer { withExtendedLifetime(scratch) {} }
    let store = try SQLiteStore.file(scratch.file(), Shop.schema)
    try store.insert("Tag", (1...300).map { Draft(key: -$0) })
    let path = scratch.file("New.sqlite")
    let cancelled = #expect(throws: StoreError.self) {
      try SQLiteStore.makeFile(
        at: path, from: StoreCopy(of: store, pace: MigrationPace { $0 < 0.5 }), modelCache: nil)
    }
    #expect(cancelled?.code == .cancelled)
    #expect(!FileManager.default.fileExists(atPath: path))
    try Data("mine".utf8).write(to: URL(fileURLWithPath: path))
    let taken = #expect(throws: StoreError.self) {
      try SQLiteStore.makeFile(at: path, from: StoreCopy(of: store), modelCache: nil)
    }
    #expect(taken?.code == .cannotOpen)
    #expect(scratch.bytes("New.sqlite") == Data("mine".utf8))
  }
}
