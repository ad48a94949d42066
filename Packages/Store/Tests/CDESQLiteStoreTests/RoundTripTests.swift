import CDESQLiteStore
import CDEStore
@_spi(CDE) import CDEStoreTestKit
import Foundation
import Testing

@Suite("What is committed is read again")
struct RoundTripTests {
  let scratch = Scratch()

  func open() throws -> SQLiteStore { try SQLiteStore.file(scratch.file(), Shop.schema) }

  static let values: [(String, Draft.Value, String)] = [
    ("small", .integer(-32768), "-32768"), ("small", .integer(0), "0"),
    ("big", .integer(.max), String(Int64.max)), ("big", .integer(.min), String(Int64.min)),
    ("flag", .integer(1), "1"), ("flag", .integer(0), "0"),
    ("when", .real(689_212_800), "689212800.0"), ("when", .real(-0.125), "-0.125"),
    ("ratio", .real(.greatestFiniteMagnitude), "\(Double.greatestFiniteMagnitude)"),
    ("ratio", .real(.leastNonzeroMagnitude), "5e-324"), ("ratio", .real(.infinity), "inf"),
    ("ratio", .real(0), "0.0"), ("thin", .real(Double(Float(0.1))), "\(Double(Float(0.1)))"),
    ("price", .text("10.11"), "10.11"), ("price", .text("12"), "12"), ("price", .text("0"), "0"),
    ("title", .text(""), ""), ("title", .text("Zürich 👩‍👩‍👧 \u{0}end"), "Zürich 👩‍👩‍👧 \u{0}end"),
    ("title", .text(String(repeating: "x", count: 100_000)), String(repeating: "x", count: 100_000)),
    ("link", .text("https://example.org/a?b=c#d"), "https://example.org/a?b=c#d"),
    ("uid", .bytes(Array(0..<16)), "0 1 2 3 4 5 6 7 8 9 a b c d e f"),
    ("payload", .bytes([]), ""), ("payload", .bytes([0, 255, 0]), "0 ff 0"),
    ("form", .bytes([1, 2]), "1 2"), ("photo", .bytes([1, 7, 8]), "1 7 8"),
    ("place.latitude", .real(47.5), "47.5"), ("place.title", .text("here"), "here"),
  ]

  @Test("Every type keeps its values, extremes included")
  func types() throws {
    var store = try open()
    let drafts = Self.values.enumerated().map { index, value in
      Draft(key: Int64(-1 - index), values: [value.0: value.1])
    }
    let keys = try store.insert("Item", drafts)
    for reopens in [false, true] {
      if reopens {
        try store.close()
        store = try open()
      }
      for (index, value) in Self.values.enumerated() {
        let row = try #require(try store.describe("Item", keys[index]))
        #expect(row[value.0] == value.2, "\(value.0)")
        // The others are the entity, the key and the version.
        #expect(row.count == 4, "\(value.0)")
      }
    }
  }

  @Test("Values of other types are taken for what the attribute says")
  func coercion() throws {
    let store = try open()
    try store.insert("Item", [Draft(key: -1)])
    _ = sql(
      scratch.file(),
      """
      UPDATE ZITEM SET ZSMALL = '12', ZFLAG = NULL, ZWHEN = 5, ZRATIO = '1.5', ZTITLE1 = 7, ZPRICE = 3.25,
      ZUID = '00010203-0405-0607-0809-0A0B0C0D0E0F', ZPAYLOAD = 'ab', ZBIG = 2.75
      """)
    let row = try #require(try store.describe("Item", 1))
    #expect(row["small"] == "12")
    #expect(row["flag"] == nil)
    #expect(row["when"] == "5.0")
    #expect(row["ratio"] == "1.5")
    #expect(row["title"] == "7")
    #expect(row["price"] == "3.25")
    #expect(row["uid"] == "0 1 2 3 4 5 6 7 8 9 a b c d e f")
    #expect(row["payload"] == "61 62")
    #expect(row["big"] == "2")
  }

  @Test("Sub-entities share the table and come out as what they are")
  func inheritance() throws {
    let store = try open()
    var transaction = StoreTransaction()
    transaction.inserted = [
      store.batch("Item", [Draft(key: -1, values: ["title": .text("a")])]),
      store.batch("SpecialItem", [Draft(key: -2, values: ["title": .text("b"), "extra": .text("x")])]),
      store.batch("Item", [Draft(key: -3, values: ["title": .text("c")])]),
      store.batch(
        "Owner",
        [
          Draft(
            key: -1, references: ["item": -2],
            entities: ["item": store.index("SpecialItem")])
        ]),
    ]
    let batches = transaction.inserted
    let result = try store.commit(transaction)
    #expect(result.number == 1)
    #expect(batches[1].key(0) == 2)
    #expect(batches[3].integer(0, RowMaker(store, "Owner").cell("item", .key)) == 2)

    let item = store.index("Item")
    let special = store.index("SpecialItem")
    let all = try store.fetch(StoreQuery(entity: item), isKnown: nil)
    #expect(all.keys == [1, 2, 3])
    #expect(all.order?.map { $0.entity.index } == [item, special, item])
    let entry = try #require(all.order?[1])
    #expect(all.batches[Int(entry.batch)].layout.entityName == "SpecialItem")
    #expect(all.batches[Int(entry.batch)].key(Int(entry.row)) == 2)
    #expect(try store.fetch(StoreQuery(entity: special), isKnown: nil).keys == [2])
    #expect(
      try store.fetch(StoreQuery(entity: item, includesSubentities: false), isKnown: nil).keys == [1, 3])
    #expect(try store.row(entity: special, key: 1) == nil)
    #expect(try store.row(entity: item, key: 2)?.batch.layout.entityName == "SpecialItem")
    #expect(try store.describe("Owner", 1)?["item@entity"] == "\(special)")
    #expect(sql(scratch.file(), "SELECT ZITEM, Z\(item + 1)_ITEM FROM ZOWNER") == [["2", "\(special + 1)"]])
    #expect(
      sql(scratch.file(), "SELECT Z_ENT, Z_OPT FROM ZITEM WHERE Z_PK = 2") == [["\(special + 1)", "1"]])
    #expect(
      sql(scratch.file(), "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME IN ('Item','SpecialItem')")
        == [["3"], ["0"]])
  }

  @Test("Known rows are reported by key and not decoded; the result keeps its order")
  func known() throws {
    let store = try open()
    try store.insert("Category", (1...5).map { Draft(key: -$0, values: ["code": .integer(-$0)]) })
    let category = store.index("Category")
    let sort = StoreSort(.path(StorePath(end: .property(slot: store.slot("Category", "code"), leaf: 0))))
    var asked: [Int64] = []
    let rows = try store.fetch(StoreQuery(entity: category, sort: [sort])) { root, key in
      #expect(root == store.root("Category"))
      asked.append(key)
      return key == 2 || key == 5
    }
    #expect(asked == [5, 4, 3, 2, 1])
    #expect(rows.keys == [5, 4, 3, 2, 1])
    #expect(rows.order?.map(\.batch) == [-1, 0, 0, -1, 0])
    #expect(rows.batches.map(\.count) == [3])
    let keys = try store.fetch(StoreQuery(entity: category, sort: [sort], keysOnly: true), isKnown: nil)
    #expect(keys.keys == [5, 4, 3, 2, 1])
    #expect(keys.batches.isEmpty)
  }

  @Test("Rows come by key, in order, without the missing; many of them in batches")
  func byKeys() throws {
    let store = try open()
    try store.insert("Category", (1...1500).map { Draft(key: -$0, values: ["code": .integer($0)]) })
    let rows = try store.rows(entity: store.index("Category"), keys: [9, 3, 2000, 3, 1500, -4])
    #expect(rows.keys == [3, 9, 1500])
    #expect(rows.order == nil)
    let all = try store.fetch(StoreQuery(entity: store.index("Category")), isKnown: nil)
    #expect(all.keys == (1...1500).map(Int64.init))
    #expect(all.order == nil)
    #expect(all.batches.map(\.count) == [512, 512, 476])
  }

  @Test("Keys can be handed out ahead of the commit")
  func allocation() throws {
    let store = try open()
    #expect(try store.allocateKeys([store.root("Category"): 3]) == [store.root("Category"): 1])
    try store.insert(
      "Category",
      [Draft(key: 2, values: ["code": .integer(2)]), Draft(key: -1, values: ["code": .integer(4)])])
    #expect(try store.describe("Category", 2)?["code"] == "2")
    #expect(try store.describe("Category", 4)?["code"] == "4")
  }

  @Test("Large values of external attributes go into files and go with their rows")
  func external() throws {
    let store = try open()
    let value = [UInt8](repeating: 9, count: 200_000)
    let batch = store.batch("Item", [Draft(key: -1, values: ["photo": .bytes([1] + value)])])
    var transaction = StoreTransaction()
    transaction.inserted = [batch]
    try _ = store.commit(transaction)
    let folder = scratch.file(".Test_SUPPORT/_EXTERNAL_DATA")
    func files() -> [String] { (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] }
    #expect(files().count == 1)
    let cell = RowMaker(store, "Item").cell("photo")
    var row = try #require(try store.row(entity: store.index("Item"), key: 1))
    var reference = try #require(ExternalValue(cell: row.batch.bytes(0, cell)))
    #expect(reference == .file(name: files()[0]))
    #expect(try store.externalValue(reference) == value)

    let slot = store.slot("Item", "photo")
    let other = [UInt8](repeating: 8, count: 300_000)
    var update = StoreTransaction()
    update.updated = [
      RowUpdate(
        batch: store.batch("Item", [Draft(key: 1, version: 2, values: ["photo": .bytes([1] + other)])]),
        changed: [[slot]])
    ]
    _ = try store.commit(update)
    #expect(files().count == 1)
    row = try #require(try store.row(entity: store.index("Item"), key: 1))
    reference = try #require(ExternalValue(cell: row.batch.bytes(0, cell)))
    #expect(try store.externalValue(reference) == other)

    // A failed save leaves the old file and none of its own.
    update.updated[0].batch = store.batch(
      "Item", [Draft(key: 1, version: 9, values: ["photo": .bytes([1] + value)])])
    #expect(throws: StoreError.self) { try store.commit(update) }
    #expect(files().count == 1)
    #expect(try store.externalValue(reference) == other)

    var deletion = StoreTransaction()
    deletion.deleted = [RowDeletion(entity: store.index("Item"), key: 1, version: 2)]
    _ = try store.commit(deletion)
    #expect(files().isEmpty)
    #expect(throws: StoreError.self) { try store.externalValue(.file(name: "../../etc/passwd")) }
  }

  @Test("Metadata keeps the store's own keys and takes the app's")
  func metadata() throws {
    let store = try open()
    var metadata = try store.metadata()
    #expect(metadata.values["NSStoreType"] == .string("SQLite"))
    #expect(metadata.values["NSStoreModelVersionHashesVersion"] == .integer(3))
    #expect(metadata.values["_NSAutoVacuumLevel"] == .string("2"))
    let own = metadata.values
    metadata.values["NSStoreType"] = .string("other")
    let mine: [String: StoreMetadata.Value] = [
      "text": .string("é"), "number": .integer(-7), "real": .real(1.5), "yes": .boolean(true),
      "when": .date(689_212_800), "bytes": .data([1, 0]),
      "list": .array([.integer(1), .dictionary(["x": .string("y")])]),
    ]
    for (key, value) in mine { metadata.values[key] = value }
    try store.setMetadata(metadata)
    try store.close()
    let again = try open()
    #expect(again.identifier == store.identifier)
    #expect(again.identifier == again.identifier.uppercased() && UUID(uuidString: again.identifier) != nil)
    #expect(try again.metadata().values == own.merging(mine) { first, _ in first })
  }

  @Test("A memory store is shared by name for as long as it is open")
  func memory() throws {
    let name = UUID().uuidString
    func open(_ name: String) throws -> SQLiteStore {
      try SQLiteStore(schema: Shop.schema, configuration: .init(location: .inMemory(name: name)))
    }
    let first = try open(name)
    try first.insert("Tag", [Draft(key: -1, values: ["name": .text("x")])])
    let second = try open(name)
    #expect(second.identifier == first.identifier)
    #expect(try second.describe("Tag", 1)?["name"] == "x")
    #expect(try open(name + "2").describe("Tag", 1) == nil)
    try first.close()
    #expect(try second.describe("Tag", 1)?["name"] == "x")
    try second.close()
    #expect(try open(name).describe("Tag", 1) == nil)
  }

  @Test("The journal mode is as asked", arguments: [("wal", true), ("delete", false)])
  func journal(mode: String, hasLog: Bool) throws {
    let store = try SQLiteStore.file(scratch.file(), Shop.schema) {
      $0.journalMode = hasLog ? .wal : .delete
      $0.pragmas = ["user_version": "7"]
    }
    try store.insert("Tag", [Draft(key: -1)])
    #expect(sql(scratch.file(), "PRAGMA journal_mode") == [[mode]])
    #expect(sql(scratch.file(), "PRAGMA auto_vacuum") == [["2"]])
    #expect(sql(scratch.file(), "PRAGMA page_size") == [["4096"]])
    #expect(sql(scratch.file(), "PRAGMA user_version") == [["7"]])
    try store.close()
    #expect(scratch.bytes("Test.sqlite-wal") == nil)
    #expect(throws: StoreError.self) { try store.count(StoreQuery(entity: 0)) }
  }

  @Test("A pragma that is no word is refused")
  func badPragma() {
    #expect {
      try SQLiteStore.file(scratch.file(), Shop.schema) {
        $0.pragmas = ["user_version": "1; DROP TABLE ZITEM"]
      }
    } throws: {
      ($0 as? StoreError)?.code == .cannotOpen
    }
  }
}
