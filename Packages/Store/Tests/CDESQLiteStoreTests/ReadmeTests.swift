import CDESQLiteStore
import CDEStore
import Testing

@Suite("The README's example")
struct ReadmeTests {
  let scratch = Scratch()

  @Test("does what it says")
  func example() throws {
    let path = scratch.file()
    let schema = StoreSchema(entities: [
      StoreEntity(
        name: "Book",
        attributes: [
          StoreAttribute(name: "title", type: .string),
          StoreAttribute(name: "pages", type: .integer32),
        ])
    ])
    let store = try SQLiteStore(
      schema: schema, configuration: .init(location: .file(path: path)))

    // Rows are written in batches. Pending keys count down from -1; the commit makes them permanent.
    let book = store.schema.entity(named: "Book")!
    var rows = RowBatchBuilder(layout: book.layout)
    for (index, title) in ["Emma", "Persuasion", "Sanditon"].enumerated() {
      rows.beginRow(key: Int64(-1 - index), version: 1)
      // Cells follow the properties by name: pages, title.
      rows.setInteger(0, Int64(100 * (index + 1)))
      rows.setString(1, title)
    }
    var transaction = StoreTransaction()
    transaction.inserted = [rows.finish()]
    let result = try store.commit(transaction)
    let emma = result.permanentKey(for: -1, root: book.root)

    // Queries name properties by slot.
    let pages = StoreExpression.path(
      StorePath(end: .property(slot: book.layout.slot(named: "pages")!, leaf: 0)))
    let long = try store.fetch(
      StoreQuery(
        entity: book.index, filter: .comparison(pages, .greater, .value(.integer(150)), []),
        sort: [StoreSort(pages, isAscending: false)]),
      isKnown: nil)
    let titles = long.batches.flatMap { batch in
      (0..<batch.count).map { batch.string($0, 1)! }
    }
    #expect(titles == ["Sanditon", "Persuasion"])

    let row = try store.row(entity: book.index, key: emma)!
    #expect(row.batch.string(row.row, 1) == "Emma")
    #expect(row.version == 1)
    try store.close()
  }
}
