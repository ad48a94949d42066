@_spi(CDE) import CDESQLiteFaults
@_spi(CDE) import CDESQLiteStore
@_spi(CDE) import CDEStore
@_spi(CDE) import CDEStoreTestKit
import Foundation
import Testing

@Suite("A commit that is one of several")
struct SeveralCommitsTests {
  private func store(_ scratch: Scratch) throws -> SQLiteStore {
    let store = try SQLiteStore.file(scratch.file(), FaultRig.schema)
    var transaction = StoreTransaction()
    transaction.inserted = [
      store.batch("Category", [Draft(key: -1, values: ["name": .text("old")]), Draft(key: -2)]),
      store.batch(
        "Item",
        [
          Draft(key: -1, values: ["title": .text("stays")], references: ["category": -1]), Draft(key: -2),
        ]),
      store.batch("Tag", [Draft(key: -1, values: ["name": .text("first")])]),
    ]
    _ = try store.commit(transaction)
    return store
  }

  @Test("What is not committed at the end of the lock is rolled back, and can be committed afterwards")
  func rollback() throws {
    let scratch = Scratch()
    let store = try store(scratch)
    let transaction = FaultRig.change(of: store)
    try store.writing { (writer) throws(StoreError) in try writer.write(transaction) }
    #expect(try store.count(StoreQuery(entity: store.index("Tag"))) == 1)
    #expect(transaction.inserted[0].key(0) == -1)
    _ = try store.commit(transaction)
    #expect(try store.count(StoreQuery(entity: store.index("Tag"))) == 2)
    let files = try FileManager.default.contentsOfDirectory(
      atPath: scratch.file(".Test_SUPPORT/_EXTERNAL_DATA"))
    #expect(files.count == 1)
  }

  @Test("An archive repeats a transaction in a store that lacks it, and is refused in one that has it")
  func repeating() throws {
    let (one, other) = (Scratch(), Scratch())
    let (first, second) = (try store(one), try store(other))
    var archive: [UInt8] = []
    let mark = PendingSave(save: "S", store: "T", archive: nil)
    try first.writing { (writer) throws(StoreError) in
      try writer.write(FaultRig.change(of: first))
      archive = try writer.archive()
      _ = try writer.commit()
    }
    let bytes = archive
    try second.writing { (writer) throws(StoreError) in
      try writer.repeatWriting(bytes, mark: mark)
      _ = try writer.commit()
    }
    #expect(try second.pendingSaves() == [mark])
    #expect(try first.pendingSaves().isEmpty)
    let query = "SELECT Z_PK, Z_OPT, ZTITLE, ZCATEGORY, length(ZPHOTO) FROM ZITEM ORDER BY 1"
    for sql in [query, "SELECT Z_PK, Z_OPT, ZNAME FROM ZCATEGORY", "SELECT Z_PK, ZNAME FROM ZTAG ORDER BY 1"]
    {
      #expect(CDESQLiteStoreTests.sql(one.file(), sql) == CDESQLiteStoreTests.sql(other.file(), sql))
    }
    let counters = "SELECT Z_NAME, Z_MAX FROM Z_PRIMARYKEY ORDER BY 1"
    #expect(CDESQLiteStoreTests.sql(one.file(), counters) == CDESQLiteStoreTests.sql(other.file(), counters))
    let error = #expect(throws: StoreError.self) {
      try second.writing { (writer) throws(StoreError) in try writer.repeatWriting(bytes, mark: mark) }
    }
    #expect(error?.code == .conflict)
    try second.writing { (writer) throws(StoreError) in try writer.forget(mark) }
    #expect(try second.pendingSaves().isEmpty)
    #expect(
      CDESQLiteStoreTests.sql(other.file(), "SELECT name FROM sqlite_master WHERE name LIKE 'CDE%'").isEmpty)
  }

  @Test("A damaged archive is a typed error or another valid transaction, over random damage")
  func damage() throws {
    let scratch = Scratch()
    let store = try store(scratch)
    var archive: [UInt8] = []
    try store.writing { (writer) throws(StoreError) in
      try writer.write(FaultRig.change(of: store))
      archive = try writer.archive()
    }
    #expect(try TransactionArchive.decode(archive, schema: store.schema).inserted.count == 2)
    let seed = UInt64.random(in: 0...UInt64.max)
    print("Damaged archives, seed \(seed)")
    var random = SplitMix(seed: seed)
    // The bytes of the picture are of no interest.
    let heads = Array(0..<1_500) + Array(archive.count - 1_500..<archive.count)
    for _ in 0..<400 {
      var damaged = archive
      switch Int.random(in: 0..<3, using: &random) {
      case 0: damaged.removeLast(Int.random(in: 1...damaged.count, using: &random))
      case 1: damaged[heads.randomElement(using: &random)!] = UInt8.random(in: 0...255, using: &random)
      default:
        let start = heads.randomElement(using: &random)!
        for index in start..<min(start + 8, damaged.count) {
          damaged[index] = UInt8.random(in: 0...255, using: &random)
        }
      }
      let bytes = damaged
      do throws(StoreError) {
        try store.writing { (writer) throws(StoreError) in
          try writer.repeatWriting(bytes, mark: PendingSave(save: "S", store: "T", archive: nil))
        }
      } catch {
        #expect(!error.message.isEmpty)
      }
    }
    #expect(try store.count(StoreQuery(entity: store.index("Tag"))) == 1)
  }
}
