@_spi(CDE) import CDESQLiteFaults
import CDESQLiteStore
@_spi(CDE) import CDEStore
@_spi(CDE) import CDEStoreTestKit
import Foundation
import Testing

/// A row is looked up in the damaged file by its marker, without reading the file's format: the marker stands in its title, and
/// all over its payload. Rows whose markers stand on pages without damage must be in the new store.
@Suite("Damaged stores are salvaged", .timeLimit(.minutes(10)))
struct SalvageTests {
  private let scratch = Scratch()
  private static let rows = 600

  private static func marker(_ key: Int64) -> String { "<marker-\(10_000 + key)>" }

  private static func payload(_ key: Int64) -> [UInt8] {
    let marker = Array(marker(key).utf8)
    // Some rows need several pages.
    let count = key % 10 == 0 ? 12_000 : 20
    return Array((0..<(count / marker.count + 1)).map { _ in marker }.joined())
  }

  private func fill(_ store: SQLiteStore) throws {
    var transaction = StoreTransaction()
    transaction.inserted = [
      store.batch("Category", (1...5).map { Draft(key: -$0, values: ["code": .integer($0)]) }),
      store.batch(
        "Item",
        (1...Int64(Self.rows)).map { key in
          Draft(
            key: -key,
            values: [
              "title": .text(Self.marker(key)), "payload": .bytes(Self.payload(key)),
              "big": .integer(key << 33),
              "ratio": .real(Double(key) / 3), "price": .text("\(key).5"),
              "photo": .bytes([1] + [UInt8](repeating: UInt8(key & 255), count: key == 7 ? 200_000 : 5)),
            ],
            references: ["category": -1 - key % 5], orders: ["category": key])
        }),
      store.batch("SpecialItem", [Draft(key: -Int64(Self.rows) - 1, values: ["extra": .text("x")])]),
      store.batch("Tag", (1...5).map { Draft(key: -$0, values: ["name": .text("tag \($0)")]) }),
    ]
    transaction.links = (1...400).map {
      LinkChange(
        kind: .add, entity: store.index("Tag"), slot: store.slot("Tag", "items"), owner: -1 - $0 % 5,
        member: -$0,
        order: $0)
    }
    _ = try store.commit(transaction)
  }

  /// The bytes of a closed store.
  private func filled() throws -> [UInt8] {
    let store = try SQLiteStore.file(scratch.file("Filled.sqlite"), Shop.schema)
    try fill(store)
    try store.setMetadata(StoreMetadata(values: ["mine": .string("kept")]))
    try store.close()
    return Array(try #require(scratch.bytes("Filled.sqlite")))
  }

  private func salvage(_ bytes: [UInt8]) throws -> SalvageReport {
    for name in ["Test.sqlite", "New.sqlite", ".Test_SUPPORT", ".New_SUPPORT"] {
      try? FileManager.default.removeItem(atPath: scratch.file(name))
    }
    try Data(bytes).write(to: URL(fileURLWithPath: scratch.file()))
    try FileManager.default.copyItem(
      atPath: scratch.file(".Filled_SUPPORT"), toPath: scratch.file(".Test_SUPPORT"))
    let report = try SQLiteStore.salvage(
      fileAt: scratch.file(), to: scratch.file("New.sqlite"), schema: ResolvedSchema(Shop.schema))
    #expect(scratch.bytes().map { Array($0) } == bytes, "the damaged file stays as it is")
    return report
  }

  /// The rows of a store as text, by key.
  private func items(_ name: String) -> [Int64: [String]] {
    var result: [Int64: [String]] = [:]
    for row in sql(
      scratch.file(name),
      "SELECT Z_PK, Z_ENT, Z_OPT, ZTITLE, hex(ZPAYLOAD), ZBIG, ZRATIO, ZPRICE, hex(ZPHOTO) FROM ZITEM")
    {
      result[Int64(row[0])!] = row
    }
    return result
  }

  /// Keys of the rows whose markers stand on none of some pages.
  private func intactKeys(_ bytes: [UInt8], damaged: Set<Int>) -> Set<Int64> {
    let start = Array("<marker-".utf8)
    var result = Set(1...Int64(Self.rows))
    for page in damaged {
      let range = ((page - 1) * 4096)..<min(page * 4096, bytes.count)
      // A marker may lie on two pages, so some bytes around the page count, too.
      let around = Array(bytes[max(0, range.lowerBound - 16)..<min(bytes.count, range.upperBound + 16)])
      for offset in 0..<max(around.count - 12, 0) where around[offset] == start[0] {
        guard Array(around[offset..<(offset + 8)]) == start,
          let key = Int64(String(decoding: around[(offset + 8)..<(offset + 13)], as: UTF8.self))
        else { continue }
        result.remove(key - 10_000)
      }
    }
    return result
  }

  /// What every new store must be, whatever it lacks.
  private func checkNewStore() throws {
    let file = scratch.file("New.sqlite")
    #expect(sql(file, "PRAGMA integrity_check") == [["ok"]])
    #expect(
      sql(
        file,
        "SELECT COUNT(ZCATEGORY) FROM ZITEM WHERE ZCATEGORY NOT IN (SELECT Z_PK FROM ZCATEGORY)") == [["0"]])
    let store = try SQLiteStore.file(file, Shop.schema) { $0.createsIfMissing = false }
    #expect(!store.isReadOnly)
    try store.insert("Item", [Draft(key: -1)])
    let last = sql(
      file, "SELECT max(Z_PK), (SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Item') FROM ZITEM")
    #expect(last[0][0] == last[0][1])
    try store.close()
  }

  @Test("A store without damage is copied whole: rows, pairs, orders, external values, metadata, counters")
  func whole() throws {
    let bytes = try filled()
    let report = try salvage(bytes)
    #expect(report.isComplete)
    #expect(report.description.contains("Nothing is damaged"))
    #expect(report.rowCount == Self.rows + 1 + 5 + 5 + 400)
    #expect(items("New.sqlite") == items("Filled.sqlite"))
    let tables = sql(
      scratch.file("Filled.sqlite"), "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1")
    for table in tables.map({ $0[0] }) where !["Z_METADATA", "Z_MODELCACHE"].contains(table) {
      let query = "SELECT * FROM \(table) ORDER BY 1, 2"
      #expect(sql(scratch.file("New.sqlite"), query) == sql(scratch.file("Filled.sqlite"), query), "\(table)")
    }
    #expect(
      sql(scratch.file("New.sqlite"), "SELECT Z_UUID FROM Z_METADATA")
        == sql(scratch.file("Filled.sqlite"), "SELECT Z_UUID FROM Z_METADATA"))
    let store = try SQLiteStore.file(scratch.file("New.sqlite"), Shop.schema)
    #expect(try store.metadata().values["mine"] == .string("kept"))
    try store.close()
    try checkNewStore()
  }

  @Test(
    "Whatever is damaged, all rows on other pages are delivered as they were, and nothing crashes",
    arguments: [UInt64.random(in: 0 ... .max)])
  func random(seed: UInt64) throws {
    let environment = ProcessInfo.processInfo.environment
    let seed = environment["CDE_SEED"].flatMap(UInt64.init) ?? seed
    var random = SplitMix(seed: seed)
    let bytes = try filled()
    let original = items("Filled.sqlite")
    let pageCount = bytes.count / 4096
    let rounds = environment["CDE_SALVAGES"].flatMap(Int.init) ?? 12
    for round in 0..<rounds {
      var damaged: Set<Int> = []
      var copy = bytes
      for _ in 0..<Int.random(in: 1...8, using: &random) {
        let page = Int.random(in: 1...pageCount, using: &random)
        damaged.insert(page)
        let start = (page - 1) * 4096
        switch Int.random(in: 0...3, using: &random) {
        case 0: for offset in 0..<4096 { copy[start + offset] = 0 }
        case 1: for offset in 0..<4096 { copy[start + offset] = UInt8.random(in: 0...255, using: &random) }
        case 2:
          // The head of the page, where its kind and the places of its rows stand.
          for offset in 0..<64 { copy[start + offset] = UInt8.random(in: 0...255, using: &random) }
        default:
          for _ in 0..<20 {
            copy[start + Int.random(in: 0..<4096, using: &random)] = UInt8.random(in: 0...255, using: &random)
          }
        }
      }
      if round % 10 == 9 {
        let cut = Int.random(in: 4096..<copy.count, using: &random)
        damaged.formUnion((cut / 4096 + 1)...pageCount)
        copy.removeLast(copy.count - cut)
      }
      let report = try salvage(copy)
      let found = items("New.sqlite")
      for key in intactKeys(bytes, damaged: damaged) {
        #expect(
          found[key] == original[key], "seed \(seed), round \(round), pages \(damaged.sorted()), row \(key)")
      }
      _ = report.description
      try checkNewStore()
    }
  }

  @Test(
    "Rows below a damaged page of the tree are found by the page map, and the report names pages and keys")
  func interior() throws {
    var bytes = try filled()
    let root = Int(
      sql(scratch.file("Filled.sqlite"), "SELECT rootpage FROM sqlite_master WHERE name = 'ZITEM'")[0][0])!
    let original = items("Filled.sqlite")
    let leaf = try #require(
      (1...(bytes.count / 4096)).first {
        bytes[($0 - 1) * 4096] == 13 && intactKeys(bytes, damaged: [$0]).count < Self.rows
      })
    let lost = Set(1...Int64(Self.rows)).subtracting(intactKeys(bytes, damaged: [leaf]))
    for page in [root, leaf] { for offset in 0..<4096 { bytes[(page - 1) * 4096 + offset] = 0 } }
    let report = try salvage(bytes)
    let found = items("New.sqlite")
    #expect(found.count >= Self.rows + 1 - lost.count)
    for (key, row) in original where !lost.contains(key) { #expect(found[key] == row) }
    #expect(report.damages.map(\.page) == [root, leaf].sorted())
    #expect(report.damages.allSatisfy { $0.table == "ZITEM" })
    #expect(!report.isComplete)
    #expect("\(report)".contains("Page \(leaf) of ZITEM"))
    // Pairs of lost rows are removed.
    #expect((report.removedReferences["Z_1TAGS"] ?? 0) <= lost.count)
    try checkNewStore()
  }

  @Test("A row whose damaged key is that of a row on another page does not replace that row")
  func overlap() throws {
    var bytes = try filled()
    let root = Int(
      sql(scratch.file("Filled.sqlite"), "SELECT rootpage FROM sqlite_master WHERE name = 'ZITEM'")[0][0])!
    let original = items("Filled.sqlite")
    // The last row of a leaf takes a key that is the third of the next leaf.
    let leaf = try #require(
      (root + 1...(bytes.count / 4096)).first {
        bytes[($0 - 1) * 4096] == 13 && intactKeys(bytes, damaged: [$0]).count < Self.rows - 3
      })
    let page = (leaf - 1) * 4096
    let pointer = page + 8 + 2 * (Int(bytes[page + 4]) - 1)
    var place = page + (Int(bytes[pointer]) << 8) + Int(bytes[pointer + 1])
    while bytes[place] >= 128 { place += 1 }
    place += 1
    // A key above 127 has two bytes, and the second has its lowest bits.
    if bytes[place] >= 128 { place += 1 }
    let key = Int64(bytes[place]) + (bytes[place - 1] >= 128 ? Int64(bytes[place - 1] & 127) << 7 : 0)
    try #require(bytes[place] < 124)
    bytes[place] += 3
    for offset in 0..<4096 { bytes[(root - 1) * 4096 + offset] = 0 }
    let report = try salvage(bytes)
    let found = items("New.sqlite")
    #expect(found[key] == nil)
    #expect(found[key + 3] == original[key + 3])
    #expect(!report.isComplete)
    try checkNewStore()
  }

  @Test("The range of keys of a damaged leaf is in the report")
  func keys() throws {
    var bytes = try filled()
    let leaf = try #require(
      (1...(bytes.count / 4096)).last {
        bytes[($0 - 1) * 4096] == 13 && intactKeys(bytes, damaged: [$0]).count < Self.rows
      })
    let lost = Set(1...Int64(Self.rows)).subtracting(intactKeys(bytes, damaged: [leaf]))
    for offset in 0..<4096 { bytes[(leaf - 1) * 4096 + offset] = 0 }
    let report = try salvage(bytes)
    let damage = try #require(report.damages.first)
    #expect(report.damages.count == 1)
    let range = try #require(damage.keys)
    #expect(lost.filter { !range.contains($0) }.isEmpty)
    // The markers of the neighbours' long values may stand near the page as well.
    #expect(range.lowerBound > 1)
  }

  @Test("A file that is missing is named, and a destination that exists stays")
  func refusals() throws {
    let schema = try ResolvedSchema(Shop.schema)
    var error = #expect(throws: StoreError.self) {
      _ = try SQLiteStore.salvage(
        fileAt: scratch.file("none"), to: scratch.file("New.sqlite"), schema: schema)
    }
    #expect(error?.code == .cannotOpen)
    #expect(!FileManager.default.fileExists(atPath: scratch.file("New.sqlite")))
    _ = try filled()
    error = #expect(throws: StoreError.self) {
      _ = try SQLiteStore.salvage(
        fileAt: scratch.file("Filled.sqlite"), to: scratch.file("Filled.sqlite"), schema: schema)
    }
    #expect(error?.message.contains("exists") == true)
    #expect(items("Filled.sqlite").count == Self.rows + 1)
  }

  @Test("The log beside a file is read up to its last whole commit")
  func log() throws {
    let store = try SQLiteStore.file(scratch.file(), Shop.schema)
    try fill(store)
    try store.insert("Tag", [Draft(key: -1, values: ["name": .text("last")])])
    // As a process that died leaves them.
    for name in ["Test.sqlite", "Test.sqlite-wal"] {
      try FileManager.default.copyItem(
        atPath: scratch.file(name), toPath: scratch.file("Dead" + name.dropFirst(4)))
    }
    try store.close()
    let schema = try ResolvedSchema(Shop.schema)
    func tags(_ name: String) throws -> [[String]] {
      let destination = scratch.file("\(name).new.sqlite")
      _ = try SQLiteStore.salvage(fileAt: scratch.file("Dead.sqlite"), to: destination, schema: schema)
      return sql(destination, "SELECT COUNT(*), (SELECT COUNT(*) FROM ZITEM) FROM ZTAG")
    }
    #expect(try tags("whole") == [["6", "\(Self.rows + 1)"]])
    var log = try #require(scratch.bytes("Dead.sqlite-wal"))
    log.removeLast(100)
    try log.write(to: URL(fileURLWithPath: scratch.file("Dead.sqlite-wal")))
    #expect(try tags("cut") == [["5", "\(Self.rows + 1)"]])
  }
}
