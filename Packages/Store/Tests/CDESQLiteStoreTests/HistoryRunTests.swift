@_spi(CDE) import CDESQLiteFaults
import CDESQLiteStore
import CDEStore
@_spi(CDE) import CDEStoreTestKit
import Testing

@Suite("Changes of a history that one statement writes")
struct HistoryRunTests {
  let scratch = Scratch()

  @Test("Changes of long and short runs are recorded one by one, in the order of the transaction")
  func runs() throws {
    let file = scratch.file()
    let store = try SQLiteStore.file(file, Shop.schema) { $0.tracksHistory = true }
    try store.insert("Tag", (1...5_000).map { Draft(key: -$0, values: ["name": .text("t\($0)")]) })
    try store.insert("Item", (1...20).map { Draft(key: -$0, values: ["title": .text("i\($0)")]) })
    let numbers = Dictionary(
      uniqueKeysWithValues: try RawSQLite(file).run("SELECT Z_NAME, Z_ENT FROM Z_PRIMARYKEY").map {
        ($0[0], $0[1])
      })
    var expected: [[String]] = []
    func expect(_ kind: Int, _ entity: String, _ keys: some Sequence<Int64>, _ transaction: Int) {
      for key in keys {
        expected.append([
          "\(expected.count + 1)", "16001", "\(kind)", numbers[entity]!, "\(key)", "\(transaction)",
        ])
      }
    }
    expect(0, "Tag", 1...5_000, 1)
    expect(0, "Item", 1...20, 2)
    // Runs of one, two and many changes, whose properties differ.
    let titles = (Int64(1)...20).map {
      Draft(key: $0, version: 2, values: ["title": .text("new"), "ratio": .real(1)])
    }
    let (title, ratio) = (store.slot("Item", "title"), store.slot("Item", "ratio"))
    let changed = (0..<20).map { PropertySet($0 == 3 || $0 == 7 || $0 == 8 ? [title, ratio] : [title]) }
    try store.commit {
      $0.updated = [RowUpdate(batch: store.batch("Item", titles), changed: changed)]
      $0.inserted = [
        store.batch("Item", [Draft(key: -1)]), store.batch("Tag", [Draft(key: -1), Draft(key: -2)]),
      ]
      $0.deleted = [10, 12, 14].map { store.deletion("Tag", $0) }
    }
    expect(0, "Item", [21], 3)
    expect(0, "Tag", [5_001, 5_002], 3)
    expect(1, "Item", 1...20, 3)
    expect(2, "Tag", [10, 12, 14], 3)
    try store.close()
    let raw = try RawSQLite(file)
    #expect(
      try raw.run(
        "SELECT Z_PK, Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID FROM ACHANGE ORDER BY Z_PK")
        == expected)
    let columns = try raw.run(
      "SELECT group_concat(ZENTITYPK, ' ') FROM (SELECT * FROM ACHANGE WHERE ZCHANGETYPE = 1 ORDER BY Z_PK) "
        + "GROUP BY ZCOLUMNS ORDER BY count(*)")
    #expect(columns.first == ["4 8 9"] && columns.count == 2)
    #expect(try raw.run("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = 16001") == [["\(expected.count)"]])
  }
}
