import CDESQLite
@_spi(CDE) import CDESQLiteFaults
import CDEStore
@_spi(CDE) import CDEStoreTestKit
import Foundation
import Testing

@testable import CDESQLiteStore

@Suite("Look-ups of rows, one after the other")
struct RowLookUpTests {
  let scratch = Scratch()
  let file: String
  let store: SQLiteStore

  init() throws {
    file = scratch.file()
    store = try SQLiteStore.file(file, Shop.schema)
  }

  /// The look-ups of the readers that are under way.
  func underWay() throws -> Int {
    try store.pool.read { (connection) throws(StoreError) in
      connection.lookUps.count { $0?.isUnderWay == true }
    }
  }

  @Test(
    "Random look-ups, fetches and commits give what was stored",
    arguments: [UInt64.random(in: 0 ... .max), 7])
  func random(seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    let names = ["Item", "SpecialItem", "Category", "Tag"]
    func property(_ name: String) -> String { ["Category": "name", "Tag": "name"][name] ?? "title" }
    // By root entity and key.
    var model: [RootIndex: [Int64: (name: String, text: String, version: Int64)]] = [:]
    for step in 0..<1_500 {
      let name = names.randomElement(using: &random)!
      let root = store.root(name)
      let context = "seed \(seed), step \(step)"
      switch Int.random(in: 0..<20, using: &random) {
      case 0:
        let text = "\(name) \(step)"
        let key =
          try store.commit {
            $0.inserted = [store.batch(name, [Draft(key: -1, values: [property(name): .text(text)])])]
          }.keyBase[root] + 1
        model[root, default: [:]][key] = (name, text, 1)
      case 1:
        guard let (key, row) = model[root]?.randomElement(using: &random) else { continue }
        let draft = Draft(
          key: key, version: row.version + 1, values: [property(row.name): .text("new \(step)")])
        try store.commit { $0.updated = [store.update(row.name, [draft], property(row.name))] }
        model[root]![key] = (row.name, "new \(step)", row.version + 1)
      case 2:
        guard let (key, row) = model[root]?.randomElement(using: &random), step.isMultiple(of: 3) else {
          continue
        }
        try store.commit { $0.deleted = [store.deletion(row.name, key, version: row.version)] }
        model[root]![key] = nil
      case 3:
        let found = try store.fetch(StoreQuery(entity: store.index(name)), isKnown: nil)
        let expected = model[root, default: [:]].filter { name != "SpecialItem" || $0.value.name == name }
        #expect(found.count == expected.count, "\(context)")
      default:
        let key = Int64.random(in: 1...Int64(max(model[root, default: [:]].count, 1) + 3), using: &random)
        let found = try store.describe(name, key)
        let row = model[root]?[key].flatMap { name == "SpecialItem" && $0.name != name ? nil : $0 }
        try #require(found?[property(name)] == row?.text, "\(context): \(name) \(key)")
        try #require(found?["version"] == row.map { "\($0.version)" }, "\(context)")
      }
    }
  }

  @Test("A look-up goes on from row to row, and ends with its transaction")
  func runs() throws {
    try store.insert("Tag", (1...5).map { Draft(key: -$0, values: ["name": .text("t\($0)")]) })
    // The first read of a connection opens the log's index, and its transaction ends.
    for key in Int64(1)...3 { #expect(try store.describe("Tag", key)?["name"] == "t\(key)") }
    #expect(try underWay() == 1)
    #expect(try store.describe("Tag", 99) == nil)
    #expect(try underWay() == 0, "A key without a row ends it")
    #expect(try store.describe("Tag", 4)?["name"] == "t4")
    #expect(try underWay() == 1)
    store.pool.withoutHeldSnapshots {}
    #expect(try underWay() == 0)
  }

  @Test("A look-up that is under way does not keep the log from being emptied once its snapshot has ended")
  func log() throws {
    try store.insert("Tag", (1...200).map { Draft(key: -$0, values: ["name": .text("t\($0)")]) })
    for key in Int64(1)...20 { _ = try store.describe("Tag", key) }
    #expect(try underWay() == 1)
    store.pool.withoutHeldSnapshots {
      do {
        let columns = try RawSQLite(file).run("PRAGMA wal_checkpoint(TRUNCATE)")
        #expect(columns.first?.first == "0", "\(columns): a reader was in the way")
      } catch {
        Issue.record(error)
      }
    }
    #expect(try store.describe("Tag", 20)?["name"] == "t20")
  }

  @Test("Commits of others are seen by the next look-up")
  func others() throws {
    try store.insert("Tag", [Draft(key: -1, values: ["name": .text("old")])])
    let other = try SQLiteStore.file(file, Shop.schema)
    for step in Int64(1)...20 {
      for _ in 0..<3 { _ = try store.describe("Tag", 1) }
      let draft = Draft(key: 1, version: step + 1, values: ["name": .text("new \(step)")])
      try other.commit { $0.updated = [other.update("Tag", [draft], "name")] }
      #expect(try store.describe("Tag", 1)?["name"] == "new \(step)")
    }
  }

  @Test("A page that can't be read fails one look-up with its error, and the next ones go on")
  func damage() throws {
    let long = String(repeating: "x", count: 900)
    try store.insert("Tag", (1...400).map { Draft(key: -$0, values: ["name": .text("\($0) \(long)")]) })
    try store.close()
    let page = try #require(
      RawSQLite(file).run(
        "SELECT pageno FROM dbstat WHERE name = 'ZTAG' AND pagetype = 'leaf' ORDER BY path LIMIT 1 OFFSET 40"
      ).first?.first.flatMap { Int($0) })
    let handle = try #require(FileHandle(forUpdatingAtPath: file))
    try handle.seek(toOffset: UInt64((page - 1) * 4096))
    try handle.write(contentsOf: Data(repeating: 0xEE, count: 4096))
    try handle.close()
    let damaged = try SQLiteStore.file(file, Shop.schema)
    var (found, failed) = (0, 0)
    for _ in 0..<2 {
      for key in Int64(1)...400 {
        do throws(StoreError) {
          guard let row = try damaged.describe("Tag", key) else {
            Issue.record("The row \(key) counts as missing")
            continue
          }
          #expect(row["name"] == "\(key) \(long)")
          found += 1
        } catch {
          #expect(error.code == .unreadable)
          failed += 1
        }
      }
    }
    #expect(failed > 0 && failed < 40 && found == 800 - failed, "\(found) found, \(failed) failed")
  }
}
