import CDESQLiteStore
import CDEStore
@_spi(CDE) import CDEStoreTestKit
import Foundation
import Testing

@Suite("Relationships")
struct RelationshipTests {
  let scratch = Scratch()
  let store: SQLiteStore

  init() throws { store = try SQLiteStore.file(scratch.file(), Shop.schema) }

  func related(_ entity: String, _ property: String, _ owners: [Int64]) throws -> [[Int64]] {
    let result = try store.related(
      entity: store.index(entity), slot: store.slot(entity, property), owners: owners, isKnown: nil)
    // Every entry that names a batch has to name its own row there.
    for entry in result.entries {
      #expect(entry.batch >= 0)
      #expect(result.rows.batches[Int(entry.batch)].key(Int(entry.row)) == entry.key)
    }
    return result.ranges.map { $0.map { result.entries[$0].key } }
  }

  func link(
    _ kind: LinkChange.Kind, _ entity: String, _ property: String, _ owner: Int64, _ member: Int64,
    _ order: Int64? = nil
  ) -> LinkChange {
    LinkChange(
      kind: kind, entity: store.index(entity), slot: store.slot(entity, property), owner: owner,
      member: member,
      order: order)
  }

  func commit(_ links: [LinkChange]) throws {
    var transaction = StoreTransaction()
    transaction.links = links
    _ = try store.commit(transaction)
  }

  @Test("An ordered to-many follows its order keys, for one owner, some and all")
  func ordered() throws {
    var transaction = StoreTransaction()
    transaction.inserted = [
      store.batch("Category", (1...40).map { Draft(key: -$0, values: ["code": .integer($0)]) }),
      store.batch(
        "Item",
        (1...120).map { number in
          Draft(
            key: -number, references: ["category": -(1 + number % 40)],
            orders: ["category": 1000 - number])
        }),
    ]
    _ = try store.commit(transaction)
    func expected(_ owner: Int64) -> [Int64] {
      (1...120).filter { 1 + $0 % 40 == owner }.sorted { 1000 - $0 < 1000 - $1 }
    }
    #expect(try related("Category", "items", [7]) == [expected(7)])
    #expect(try related("Category", "items", [7, 99, 3]) == [expected(7), [], expected(3)])
    let all = Array((1...40).map(Int64.init).reversed())
    #expect(try related("Category", "items", all) == all.map(expected))
    #expect(try related("Category", "items", all + [3]) == all.map(expected) + [expected(3)])
  }

  @Test("An unordered to-many goes by key, whichever way it is read")
  func unordered() throws {
    try store.insert("Category", [Draft(key: -1, values: ["code": .integer(0)])])
    try store.insert(
      "Category",
      (1...60).map { Draft(key: -$0, values: ["code": .integer($0)], references: ["parent": 1 + $0 % 2 * 0]) }
    )
    #expect(try related("Category", "children", [1]) == [(2...61).map(Int64.init)])
    let owners = (1...61).map(Int64.init)
    #expect(
      try related("Category", "children", owners) == [(2...61).map(Int64.init)]
        + owners.dropFirst().map { _ in [] })
  }

  @Test("Ranked links keep the stored positions that fit, and a direct position moves a pair")
  func ranked() throws {
    var transaction = StoreTransaction()
    transaction.inserted = [
      store.batch("Item", (1...4).map { Draft(key: -$0) }), store.batch("Tag", [Draft(key: -1)]),
    ]
    transaction.links = [(1, 1), (2, 2), (3, 4)].map { link(.add, "Tag", "items", -1, -$0, $1) }
    _ = try store.commit(transaction)
    func rank(_ members: [Int64]) throws -> [[String]] {
      let links = members.enumerated().map { place, member in
        var link = link(.add, "Tag", "items", 1, member, Int64(place))
        link.isRanked = true
        return link
      }
      // As a record in the file would have them.
      var transaction = StoreTransaction()
      transaction.links = links
      let bytes = TransactionArchive.encode(transaction, schema: store.schema)
      #expect(try TransactionArchive.decode(bytes, schema: store.schema).links == links)
      try commit(try TransactionArchive.decode(bytes, schema: store.schema).links)
      return sql(scratch.file(), "SELECT Z_2ITEMS, Z_FOK_2ITEMS FROM Z_2TAGS ORDER BY Z_FOK_2ITEMS")
    }
    #expect(try rank([1, 2, 4, 3]) == [["1", "1"], ["2", "2"], ["4", "3"], ["3", "4"]])
    #expect(try rank([2, 4, 3, 1]) == [["2", "2"], ["4", "3"], ["3", "4"], ["1", "1028"]])
    try commit([link(.add, "Tag", "items", 1, 2, 5000)])
    #expect(try related("Tag", "items", [1]) == [[4, 3, 1, 2]])
  }

  @Test("Many-to-many pairs are seen from both sides, ordered where the side is")
  func manyToMany() throws {
    var transaction = StoreTransaction()
    transaction.inserted = [
      store.batch("Item", (1...3).map { Draft(key: -$0) }),
      store.batch("Tag", (1...2).map { Draft(key: -$0) }),
    ]
    transaction.links = [
      link(.add, "Tag", "items", -1, -1, 3072), link(.add, "Tag", "items", -1, -3, 2048),
      link(.add, "Item", "tags", -3, -2),
    ]
    _ = try store.commit(transaction)
    #expect(try related("Tag", "items", [1, 2]) == [[3, 1], [3]])
    #expect(try related("Item", "tags", [1, 2, 3]) == [[1], [], [1, 2]])
    // Adding again moves; adding without an order leaves it.
    try commit([link(.add, "Tag", "items", 1, 1, 1024), link(.add, "Item", "tags", 3, 1)])
    #expect(try related("Tag", "items", [1]) == [[1, 3]])
    try commit([link(.remove, "Item", "tags", 3, 1), link(.add, "Item", "tags", 2, 1)])
    #expect(try related("Tag", "items", [1]) == [[2, 1]])
    // A deleted row takes its pairs along.
    var deletion = StoreTransaction()
    deletion.deleted = [RowDeletion(entity: store.index("Item"), key: 1, version: 1)]
    _ = try store.commit(deletion)
    #expect(try related("Tag", "items", [1]) == [[2]])
    #expect(sql(scratch.file(), "SELECT COUNT(*) FROM Z_2TAGS") == [["2"]])
  }

  @Test("Shared elements stand at each owner when many owners are read at once")
  func sharedElements() throws {
    var transaction = StoreTransaction()
    transaction.inserted = [
      store.batch("Item", (1...20).map { Draft(key: -$0) }),
      store.batch("Tag", (1...3).map { Draft(key: -$0) }),
    ]
    for item in 1...20 {
      for tag in 1...3 where (item + tag) % 2 == 0 {
        transaction.links.append(link(.add, "Item", "tags", Int64(-item), Int64(-tag)))
      }
    }
    _ = try store.commit(transaction)
    let owners = (1...20).map(Int64.init)
    #expect(
      try related("Item", "tags", owners)
        == owners.map { owner in (1...3).filter { (owner + $0) % 2 == 0 } })
    let result = try store.related(
      entity: store.index("Item"), slot: store.slot("Item", "tags"), owners: owners,
      isKnown: { _, key in key == 2 })
    #expect(result.entries.allSatisfy { ($0.key == 2) == ($0.batch == -1) })
  }

  @Test("A relationship that is its own inverse holds in both directions")
  func symmetric() throws {
    try store.insert("Tag", (1...3).map { Draft(key: -$0) })
    try commit([link(.add, "Tag", "related", 1, 2), link(.add, "Tag", "related", 3, 3)])
    #expect(try related("Tag", "related", [1, 2, 3]) == [[2], [1], [3]])
    // One direction alone, as another writer may have left it, reads the same.
    _ = sql(scratch.file(), "DELETE FROM Z_5RELATED WHERE REFLEXIVE = 1")
    #expect(try related("Tag", "related", [1, 2, 3]) == [[2], [1], [3]])
    try commit([link(.remove, "Tag", "related", 2, 1)])
    #expect(try related("Tag", "related", [1, 2, 3]) == [[], [], [3]])
  }

  @Test("A to-many without an inverse lives in its members' table")
  func oneWay() throws {
    var transaction = StoreTransaction()
    transaction.inserted = [
      store.batch("Category", (1...2).map { Draft(key: -$0, values: ["code": .integer($0)]) }),
      store.batch("Item", (1...3).map { Draft(key: -$0) }),
    ]
    transaction.links = [
      link(.add, "Category", "featured", -1, -1, 4096), link(.add, "Category", "featured", -1, -2, 2048),
    ]
    _ = try store.commit(transaction)
    #expect(try related("Category", "featured", [1, 2]) == [[2, 1], []])
    try commit([link(.remove, "Category", "featured", 1, 2), link(.add, "Category", "featured", 2, 2, 2048)])
    #expect(try related("Category", "featured", [1, 2]) == [[1], [2]])
    var deletion = StoreTransaction()
    deletion.deleted = [RowDeletion(entity: store.index("Category"), key: 2, version: 1)]
    _ = try store.commit(deletion)
    #expect(sql(scratch.file(), "SELECT Z_PK FROM ZITEM WHERE Z1FEATURED IS NOT NULL") == [["1"]])
    #expect(throws: StoreError.self) { try commit([link(.add, "Category", "featured", 1, 77)]) }
    #expect(throws: StoreError.self) { try commit([link(.add, "Category", "items", 1, 1)]) }
  }
}
