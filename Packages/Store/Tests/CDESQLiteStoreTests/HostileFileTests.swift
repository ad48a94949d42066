@_spi(CDE) import CDESQLiteFaults
import CDESQLiteStore
@_spi(CDE) import CDEStore
@_spi(CDE) import CDEStoreTestKit
import Foundation
import Testing

@Suite("Files that are damaged, foreign, newer or hostile")
struct HostileFileTests {
  let scratch = Scratch()

  func error(_ change: (inout SQLiteStore.Configuration) -> Void = { _ in }) -> StoreError? {
    do {
      try SQLiteStore.file(scratch.file(), Shop.schema) {
        $0.createsIfMissing = false
        change(&$0)
      }.close()
      return nil
    } catch { return error as? StoreError }
  }

  func write(_ bytes: Data, _ name: String = "Test.sqlite") {
    _ = FileManager.default.createFile(atPath: scratch.file(name), contents: bytes)
  }

  /// A closed store with some rows and relationships.
  func filled() throws -> Data {
    let store = try SQLiteStore.file(scratch.file("Filled.sqlite"), Shop.schema)
    var transaction = StoreTransaction()
    transaction.inserted = [
      store.batch("Category", (1...5).map { Draft(key: -$0, values: ["code": .integer($0)]) }),
      store.batch(
        "Item",
        (1...80).map {
          Draft(
            key: -$0, values: ["title": .text("title \($0)"), "payload": .bytes([UInt8($0)])],
            references: ["category": -1 - $0 % 5])
        }),
      store.batch("SpecialItem", [Draft(key: -81, values: ["extra": .text("x")])]),
      store.batch("Tag", (1...5).map { Draft(key: -$0, values: ["name": .text("tag \($0)")]) }),
    ]
    transaction.links = (1...40).map {
      LinkChange(
        kind: .add, entity: store.index("Tag"), slot: store.slot("Tag", "items"), owner: -1 - $0 % 5,
        member: -$0,
        order: $0)
    }
    _ = try store.commit(transaction)
    try store.close()
    return try #require(scratch.bytes("Filled.sqlite"))
  }

  /// Reads and writes everything; any failure has to be a ``StoreError``.
  func exercise(_ store: SQLiteStore) {
    func attempt(_ body: () throws -> Void) {
      do { try body() } catch { #expect(error is StoreError) }
    }
    for entity in store.schema.entities {
      attempt {
        let rows = try store.fetch(StoreQuery(entity: entity.index), isKnown: nil)
        for batch in rows.batches {
          for row in 0..<batch.count {
            for cell in batch.layout.cells.indices { _ = batch.text(row, cell) }
          }
        }
      }
      attempt { _ = try store.rows(entity: entity.index, keys: [1, 2, 3, 50]) }
      for property in entity.layout.properties {
        guard case .toMany = property.kind else { continue }
        attempt {
          _ = try store.related(
            entity: entity.index, slot: property.slot, owners: Array(1...40), isKnown: nil)
        }
      }
    }
    attempt { try store.insert("Tag", [Draft(key: -1, values: ["name": .text("new")])]) }
    attempt { _ = try store.metadata() }
  }

  @Test(
    "Random damage gives typed errors, and what can't be opened is left as it is",
    arguments: [UInt64.random(in: 0 ... .max)])
  func mutations(seed: UInt64) throws {
    let original = try filled()
    var random = SplitMix(seed: seed)
    var refused = 0
    for round in 0..<250 {
      var bytes = original
      switch Int.random(in: 0..<4, using: &random) {
      case 0: bytes = bytes.prefix(Int.random(in: 1..<bytes.count, using: &random))
      case 1:
        let page = Int.random(in: 0..<bytes.count / 4096, using: &random) * 4096
        for offset in 0..<512 { bytes[page + offset] = UInt8.random(in: 0...255, using: &random) }
      case 2:
        // The head of some page: the bytes that steer SQLite.
        let page = Int.random(in: 0..<bytes.count / 4096, using: &random) * 4096
        for _ in 0..<4 {
          bytes[page + Int.random(in: 0..<16, using: &random)] = UInt8.random(in: 0...255, using: &random)
        }
      default:
        for _ in 0..<20 {
          bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
        }
      }
      for suffix in ["", "-wal", "-shm", "-journal"] {
        try? FileManager.default.removeItem(atPath: scratch.file("Test.sqlite\(suffix)"))
      }
      write(bytes)
      do {
        let store = try SQLiteStore.file(scratch.file(), Shop.schema) { $0.createsIfMissing = false }
        exercise(store)
        try? store.close()
      } catch {
        #expect(error is StoreError, "seed \(seed), round \(round)")
        #expect(scratch.bytes() == bytes, "seed \(seed), round \(round): \(error)")
        refused += 1
      }
    }
    #expect(refused > 20, "seed \(seed)")
  }

  @Test("What is no store is refused and left as it is")
  func foreign() throws {
    for bytes in [
      Data("hello, I am a text file, longer than a header".utf8), Data("SQLite format 3\u{0}".utf8),
    ] {
      write(bytes)
      #expect(error()?.code == .unreadable)
      #expect(error { $0.createsIfMissing = true }?.code == .unreadable)
      #expect(scratch.bytes() == bytes)
    }
    write(Data())
    #expect(error()?.code == .unreadable)
    try FileManager.default.removeItem(atPath: scratch.file())
    _ = sql(scratch.file(), "CREATE TABLE mine (x); INSERT INTO mine VALUES (1); PRAGMA journal_mode=WAL")
    let bytes = scratch.bytes()
    #expect(error()?.code == .unreadable)
    #expect(error { $0.createsIfMissing = true }?.code == .unreadable)
    #expect(scratch.bytes() == bytes)
    #expect(scratch.bytes("Test.sqlite-wal") == nil)
  }

  @Test("Missing files and folders")
  func missing() {
    #expect(error()?.code == .cannotOpen)
    #expect(throws: StoreError.self) { try SQLiteStore.file(scratch.file("no/Test.sqlite"), Shop.schema) }
    #expect(throws: StoreError.self) { try SQLiteStore.file(scratch.path, Shop.schema) }
    #expect(
      error {
        $0.isReadOnly = true; $0.createsIfMissing = true
      }?.code == .cannotOpen)
  }

  @Test("A store of another model is refused, by hashes or by structure, and names what differs")
  func otherModel() throws {
    try SQLiteStore.file(scratch.file(), Shop.schema).close()
    let before = scratch.bytes()
    func open(_ change: (inout StoreSchema) -> Void) -> StoreError? {
      var schema = Shop.schema
      change(&schema)
      do {
        try SQLiteStore.file(scratch.file(), schema).close()
        return nil
      } catch { return error as? StoreError }
    }
    let property = open { $0.entities[4].attributes.append(StoreAttribute(name: "age", type: .integer16)) }
    #expect(property?.code == .incompatibleSchema)
    #expect(property?.entity == "Owner" && property?.properties == ["age"])
    #expect(open { $0.entities.append(StoreEntity(name: "More")) }?.entity == "More")
    let pairs = open {
      $0.entities[4].relationships.append(
        StoreRelationship(name: "friends", destination: "Owner", inverse: "friends", isToMany: true))
    }
    #expect(pairs?.properties == ["friends"])
    #expect(scratch.bytes() == before)

    func hashed(_ byte: UInt8) -> StoreSchema {
      StoreSchema(entities: [
        StoreEntity(name: "A", versionHash: Array(repeating: 1, count: 32)),
        StoreEntity(name: "B", versionHash: Array(repeating: byte, count: 32)),
      ])
    }
    let store = try SQLiteStore.file(scratch.file("Hashed.sqlite"), hashed(2))
    let values = try store.metadata().values
    let all = Array(repeating: UInt8(1), count: 32) + Array(repeating: 2, count: 32)
    #expect(
      values["NSStoreModelVersionChecksumKey"] == .string(Data(SHA256.hash(all)).base64EncodedString()))
    let named = [0x41] + all[..<32] + [0x42] + all[32...]
    #expect(
      values["NSStoreModelVersionHashesDigest"] == .string(Data(SHA512.hash(named)).base64EncodedString()))
    try store.close()
    try SQLiteStore.file(scratch.file("Hashed.sqlite"), hashed(2)).close()
    #expect { try SQLiteStore.file(scratch.file("Hashed.sqlite"), hashed(3)) } throws: {
      ($0 as? StoreError)?.code == .incompatibleSchema && ($0 as? StoreError)?.entity == "B"
    }
  }

  @Test("A schema that contradicts itself is refused before anything is created")
  func badSchema() {
    let doubled = StoreSchema(entities: [StoreEntity(name: "Foo"), StoreEntity(name: "foo")])
    let index = StoreSchema(entities: [
      StoreEntity(name: "A", indexes: [StoreIndex(name: "i", elements: [.init(property: "no")])])
    ])
    for schema in [doubled, index] {
      #expect { try SQLiteStore.file(scratch.file(), schema) } throws: {
        ($0 as? StoreError)?.code == .invalidSchema
      }
      #expect(scratch.bytes() == nil)
    }
  }

  @Test("Added columns, tables and Core Data's own triggers do no harm; unknown triggers mean reading only")
  func extras() throws {
    try SQLiteStore.file(scratch.file(), Shop.schema).close()
    _ = sql(
      scratch.file(),
      """
      CREATE TABLE mine (x); ALTER TABLE ZTAG ADD COLUMN ZMORE VARCHAR;
      CREATE TRIGGER Z_DA_ZTAG_X AFTER INSERT ON ZTAG FOR EACH ROW BEGIN
        SELECT NSCoreDataDATriggerUpdatedAffectedObjectValue('Tag', 5, NEW.Z_PK, 'x', 1); END;
      """)
    var store = try SQLiteStore.file(scratch.file(), Shop.schema)
    try store.insert("Tag", [Draft(key: -1, values: ["name": .text("t")])])
    #expect(try store.describe("Tag", 1)?["name"] == "t")
    try store.close()
    _ = sql(
      scratch.file(), "CREATE TRIGGER evil AFTER INSERT ON ZTAG FOR EACH ROW BEGIN DELETE FROM ZITEM; END")
    store = try SQLiteStore.file(scratch.file(), Shop.schema)
    #expect(store.isReadOnly)
    #expect(store.notes.count == 1 && store.notes[0].contains("evil"))
    #expect(try store.describe("Tag", 1)?["name"] == "t")
    #expect { try store.insert("Tag", [Draft(key: -1)]) } throws: { ($0 as? StoreError)?.code == .readOnly }
    try store.close()
  }

  @Test(
    "An index that needs another program's order or function means reading only, and is named",
    arguments: [
      ("ZNAME COLLATE NOCASE", "NOCASE", "NSCollateNoCase"), ("lower(ZNAME)", "lower", "apple_private"),
    ])
  func foreignIndexes(term: String, known: String, foreign: String) throws {
    var store = try SQLiteStore.file(scratch.file(), Shop.schema)
    try store.insert("Tag", [Draft(key: -1, values: ["name": .text("t")])])
    try store.close()
    _ = sql(
      scratch.file(),
      """
      CREATE INDEX theirs ON ZTAG (\(term)); PRAGMA writable_schema = ON;
      UPDATE sqlite_master SET sql = replace(sql, '\(known)', '\(foreign)') WHERE name = 'theirs';
      """)
    store = try SQLiteStore.file(scratch.file(), Shop.schema)
    #expect(store.isReadOnly && store.notes.count == 1)
    #expect(store.notes.first?.contains("The index theirs of the table ZTAG needs \(foreign)") == true)
    #expect(try store.describe("Tag", 1)?["name"] == "t")
    #expect { try store.insert("Tag", [Draft(key: -1)]) } throws: { ($0 as? StoreError)?.code == .readOnly }
    try store.close()
  }

  @Test("A view in a table's place is no table")
  func view() throws {
    try SQLiteStore.file(scratch.file(), Shop.schema).close()
    _ = sql(
      scratch.file(), "ALTER TABLE ZOWNER RENAME TO hidden; CREATE VIEW ZOWNER AS SELECT * FROM hidden")
    #expect(error()?.code == .incompatibleSchema)
  }

  @Test("A newer file format or hash version is refused")
  func newer() throws {
    try SQLiteStore.file(scratch.file(), Shop.schema).close()
    var bytes = try #require(scratch.bytes())
    bytes[19] = 3
    write(bytes, "Newer.sqlite")
    #expect { try SQLiteStore.file(scratch.file("Newer.sqlite"), Shop.schema) } throws: {
      ($0 as? StoreError)?.code == .unreadable
    }
    let list = try PropertyListSerialization.data(
      fromPropertyList: ["NSStoreModelVersionHashesVersion": 4], format: .binary, options: 0)
    let hex = list.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    _ = sql(scratch.file(), "UPDATE Z_METADATA SET Z_PLIST = x'\(hex)'")
    #expect(error()?.code == .unreadable)
    _ = sql(scratch.file(), "UPDATE Z_METADATA SET Z_PLIST = x'00'")
    #expect(error()?.code == .unreadable)
    _ = sql(scratch.file(), "DELETE FROM Z_METADATA")
    #expect(error()?.code == .unreadable)
  }

  @Test("A store opened for reading reads, changes nothing and refuses to write")
  func readOnly() throws {
    let bytes = try filled()
    let store = try SQLiteStore.file(scratch.file("Filled.sqlite"), Shop.schema) { $0.isReadOnly = true }
    #expect(store.isReadOnly)
    #expect(try store.count(StoreQuery(entity: store.index("Item"))) == 81)
    #expect { try store.insert("Tag", [Draft(key: -1)]) } throws: { ($0 as? StoreError)?.code == .readOnly }
    #expect(throws: StoreError.self) { try store.setMetadata(StoreMetadata()) }
    #expect(throws: StoreError.self) { try store.allocateKeys([0: 1]) }
    try store.close()
    #expect(scratch.bytes("Filled.sqlite") == bytes)
  }

  @Test("Rows still in the log of a copied store are there")
  func copiedWithLog() throws {
    let store = try SQLiteStore.file(scratch.file("Live.sqlite"), Shop.schema)
    try store.insert("Tag", [Draft(key: -1, values: ["name": .text("in the log")])])
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(
        atPath: scratch.file("Live.sqlite\(suffix)"), toPath: scratch.file("Test.sqlite\(suffix)"))
    }
    try store.close()
    let copy = try SQLiteStore.file(scratch.file(), Shop.schema) { $0.createsIfMissing = false }
    #expect(try copy.describe("Tag", 1)?["name"] == "in the log")
  }
}
