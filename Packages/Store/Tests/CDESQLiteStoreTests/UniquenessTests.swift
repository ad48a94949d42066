@_spi(CDE) import CDESQLiteFaults
@testable import CDESQLiteStore
import CDEStore
@_spi(CDE) import CDEStoreTestKit
import Testing

@Suite("Unique values")
struct UniquenessTests {
  /// A writer's name is unique because a sub-entity says so; pairs of codes are unique within writers.
  private static let schema = StoreSchema(entities: [
    StoreEntity(
      name: "Writer",
      attributes: [
        StoreAttribute(name: "name", type: .string), StoreAttribute(name: "left", type: .integer64),
        StoreAttribute(name: "right", type: .integer64),
      ], uniquenessConstraints: [["left", "right"]]),
    StoreEntity(
      name: "Author", parent: "Writer", attributes: [StoreAttribute(name: "alias", type: .string)],
      uniquenessConstraints: [["alias"], ["name"]]),
    StoreEntity(name: "Poet", parent: "Author"),
  ])

  let scratch = Scratch()
  let store: SQLiteStore

  init() throws { store = try SQLiteStore.file(scratch.file(), Self.schema) }

  private func slots(_ names: String...) -> PropertySet {
    PropertySet(names.map { store.slot("Author", $0) })
  }

  private func commit(
    updated: [(key: Int64, name: String)] = [], deleted: [(key: Int64, version: Int64)] = [],
    inserted: [String] = [], version: Int64 = 2
  ) throws {
    var transaction = StoreTransaction()
    if !updated.isEmpty {
      let drafts = updated.map { Draft(key: $0.key, version: version, values: ["name": .text($0.name)]) }
      transaction.updated = [
        RowUpdate(
          batch: store.batch("Author", drafts), changed: Array(repeating: slots("name"), count: drafts.count))
      ]
    }
    transaction.deleted = deleted.map {
      RowDeletion(entity: store.index("Author"), key: $0.key, version: $0.version)
    }
    if !inserted.isEmpty {
      transaction.inserted = [
        store.batch(
          "Author",
          inserted.enumerated().map { Draft(key: Int64(-$0 - 1), values: ["name": .text($1)]) })
      ]
    }
    _ = try store.commit(transaction)
  }

  private var names: [String] {
    sql(scratch.file(), "SELECT ifnull(ZNAME, '-') FROM ZWRITER ORDER BY Z_PK").map { $0[0] }
  }

  @Test("Two rows swap their values in one save")
  func swap() throws {
    try commit(inserted: ["a", "b", "c"])
    try commit(updated: [(1, "b"), (2, "a")])
    #expect(names == ["b", "a", "c"])
  }

  @Test("Values go round in a circle, a deleted row gives its own away, a new row takes one that was left")
  func chain() throws {
    try commit(inserted: ["a", "b", "c", "d"])
    try commit(updated: [(1, "b"), (2, "c"), (3, "d")], deleted: [(4, 1)], inserted: ["a"])
    #expect(names == ["b", "c", "d", "a"])
  }

  @Test("A value that a row outside of the save has is refused, and nothing is written")
  func realCollision() throws {
    try commit(inserted: ["a", "b", "c"])
    let error = #expect(throws: StoreError.self) { try commit(updated: [(1, "b"), (2, "c")]) }
    #expect(error?.code == .uniqueness)
    #expect((error?.entity, error?.properties) == ("Author", ["name"]))
    #expect(names == ["a", "b", "c"])
    let inserting = #expect(throws: StoreError.self) {
      try commit(updated: [(1, "b"), (2, "a")], inserted: ["a"])
    }
    #expect(inserting?.code == .uniqueness)
    #expect(names == ["a", "b", "c"])
    // Two rows of the save that want the same value.
    #expect(throws: StoreError.self) { try commit(updated: [(1, "x"), (2, "x")]) }
    #expect(names == ["a", "b", "c"])
  }

  @Test("A swap with a row that another writer changed is a conflict")
  func conflict() throws {
    try commit(inserted: ["a", "b"])
    _ = sql(scratch.file(), "UPDATE ZWRITER SET Z_OPT = 9, ZNAME = 'z' WHERE Z_PK = 2")
    let error = #expect(throws: StoreError.self) { try commit(updated: [(1, "b"), (2, "a")]) }
    #expect(error?.code == .conflict)
    #expect(names == ["a", "z"])
  }

  @Test("Values that are unique together may be swapped one by one")
  func pairs() throws {
    func draft(_ key: Int64, _ left: Int64, _ right: Int64, version: Int64 = 1) -> Draft {
      Draft(key: key, version: version, values: ["left": .integer(left), "right": .integer(right)])
    }
    try store.insert("Writer", [draft(-1, 1, 1), draft(-2, 1, 2)])
    var transaction = StoreTransaction()
    transaction.updated = [
      RowUpdate(
        batch: store.batch("Writer", [draft(1, 1, 2, version: 2), draft(2, 1, 1, version: 2)]),
        changed: [[store.slot("Writer", "right")], [store.slot("Writer", "right")]])
    ]
    _ = try store.commit(transaction)
    #expect(
      sql(scratch.file(), "SELECT ZLEFT, ZRIGHT, Z_OPT FROM ZWRITER ORDER BY 1, 2 DESC")
        == [["1", "2", "2"], ["1", "1", "2"]])
  }

  @Test("Random saves succeed exactly when the values are unique afterwards", arguments: [11, 12, 13, 14])
  func random(seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    var rows: [Int64: (name: String, version: Int64)] = [:]
    var last: Int64 = 0
    var (kept, refused) = (0, 0)
    for step in 0..<80 {
      let pool = (0..<9).map { "n\($0)" }
      var next = rows
      var transaction = StoreTransaction()
      var drafts: [Draft] = []
      for key in rows.keys.sorted() {
        switch Int.random(in: 0..<6, using: &random) {
        case 0:
          transaction.deleted.append(
            RowDeletion(entity: store.index("Author"), key: key, version: rows[key]!.version))
          next[key] = nil
        case 1, 2:
          let name = pool.randomElement(using: &random)!
          next[key] = (name, rows[key]!.version + 1)
          drafts.append(Draft(key: key, version: next[key]!.version, values: ["name": .text(name)]))
        default: break
        }
      }
      if drafts.count > 1, Bool.random(using: &random) {
        // A permutation, which has to succeed whatever way it goes round.
        let names = drafts.map { rows[$0.key]!.name }.shuffled(using: &random)
        for index in drafts.indices {
          drafts[index].values = ["name": .text(names[index])]
          next[drafts[index].key]!.name = names[index]
        }
      }
      if !drafts.isEmpty {
        transaction.updated = [
          RowUpdate(
            batch: store.batch("Author", drafts),
            changed: Array(repeating: slots("name"), count: drafts.count))
        ]
      }
      var inserted: [Draft] = []
      for _ in 0..<Int.random(in: 0...2, using: &random) {
        let name = pool.randomElement(using: &random)!
        inserted.append(Draft(key: Int64(-inserted.count - 1), values: ["name": .text(name)]))
        next[last + Int64(inserted.count)] = (name, 1)
      }
      if !inserted.isEmpty { transaction.inserted = [store.batch("Author", inserted)] }
      let isUnique = Set(next.values.map(\.name)).count == next.count
      var failure: StoreError?
      do throws(StoreError) { _ = try store.commit(transaction) } catch { failure = error }
      if let failure {
        #expect(!isUnique && failure.code == .uniqueness, "seed \(seed), step \(step): \(failure)")
        refused += 1
      } else {
        #expect(isUnique, "seed \(seed), step \(step)")
        rows = next
        last += Int64(inserted.count)
        kept += 1
      }
      #expect(
        sql(scratch.file(), "SELECT Z_PK, ZNAME, Z_OPT FROM ZWRITER ORDER BY 1")
          == rows.sorted { $0.key < $1.key }.map {
            [String($0.key), $0.value.name, String($0.value.version)]
          },
        "seed \(seed), step \(step)")
    }
    #expect(kept > 5 && refused > 5)
  }

  // MARK: Sub-entities

  @Test("A sub-entity's constraint is an index on the root's table, without regard to the entity")
  func subentityIndexes() {
    #expect(
      sql(scratch.file(), "SELECT name, sql FROM sqlite_master WHERE sql LIKE '%UNIQUE%' ORDER BY 1") == [
        [
          "Z_Author_UNIQUE_alias",
          "CREATE UNIQUE INDEX Z_Author_UNIQUE_alias ON ZWRITER (ZALIAS COLLATE BINARY ASC)",
        ],
        [
          "Z_Author_UNIQUE_name",
          "CREATE UNIQUE INDEX Z_Author_UNIQUE_name ON ZWRITER (ZNAME COLLATE BINARY ASC)",
        ],
        [
          "Z_Writer_UNIQUE_left_right",
          "CREATE UNIQUE INDEX Z_Writer_UNIQUE_left_right ON ZWRITER "
            + "(ZLEFT COLLATE BINARY ASC, ZRIGHT COLLATE BINARY ASC)",
        ],
      ])
  }

  @Test("It holds for the parent's objects and those of deeper entities, and each may swap with each")
  func subentityValues() throws {
    var transaction = StoreTransaction()
    transaction.inserted = [
      store.batch("Writer", [Draft(key: -1, values: ["name": .text("w")])]),
      store.batch("Poet", [Draft(key: -2, values: ["name": .text("p"), "alias": .text("a")])]),
    ]
    _ = try store.commit(transaction)
    for entity in ["Writer", "Author"] {
      let error = #expect(throws: StoreError.self) {
        try store.insert(entity, [Draft(key: -1, values: ["name": .text("p")])])
      }
      #expect((error?.entity, error?.properties) == ("Author", ["name"]))
    }
    let alias = #expect(throws: StoreError.self) {
      try store.insert("Author", [Draft(key: -1, values: ["alias": .text("a")])])
    }
    #expect((alias?.entity, alias?.properties) == ("Author", ["alias"]))
    var swap = StoreTransaction()
    swap.updated = [
      RowUpdate(
        batch: store.batch("Poet", [Draft(key: 2, version: 2, values: ["name": .text("w")])]),
        changed: [[store.slot("Poet", "name")]]),
      RowUpdate(
        batch: store.batch("Writer", [Draft(key: 1, version: 2, values: ["name": .text("p")])]),
        changed: [[store.slot("Writer", "name")]]),
    ]
    _ = try store.commit(swap)
    #expect(names == ["p", "w"])
  }

  // MARK: Everything in the way of a transaction

  private func author(_ key: Int64, _ name: String?, version: Int64 = 1) -> Draft {
    Draft(key: key, version: version, values: name.map { ["name": .text($0)] } ?? [:])
  }

  @Test("All rows that collide are told, with those that the store has, whichever entity they are of")
  func collisions() throws {
    try commit(inserted: ["a", "b", "c", "d"])
    var transaction = StoreTransaction()
    transaction.updated = [
      RowUpdate(
        batch: store.batch("Author", [author(1, "x", version: 2), author(2, "c", version: 2)]),
        changed: [slots("name"), slots("name")])
    ]
    transaction.deleted = [RowDeletion(entity: store.index("Author"), key: 4, version: 1)]
    transaction.inserted = [
      // "a" and "d" become free; "y" is wanted twice, by rows of two entities.
      store.batch("Author", [author(-1, "a"), author(-2, "d"), author(-3, "y"), author(-4, nil)]),
      store.batch("Writer", [author(-5, "y"), author(-6, "b"), author(-7, nil)]),
    ]
    #expect(throws: StoreError.self) { try store.commit(transaction) }
    let found = try store.conflicts(of: transaction)
    #expect(found.versions.isEmpty)
    let (writer, author) = (store.index("Writer"), store.index("Author"))
    #expect(
      found.uniqueness == [
        .init(
          entity: author, properties: ["name"], rows: [.init(entity: author, key: 2)],
          stored: .init(entity: author, key: 3)),
        .init(
          entity: author, properties: ["name"],
          rows: [.init(entity: author, key: -3), .init(entity: writer, key: -5)], stored: nil),
      ])
    #expect(found.rows.map { batch in (0..<batch.count).map(batch.key) } == [[3]])
    #expect(names == ["a", "b", "c", "d"])
  }

  @Test("Versions are told with the rows as they stand, vanished rows and taken keys too")
  func versions() throws {
    try commit(inserted: ["a", "b", "c"])
    try commit(updated: [(1, "A")])
    try commit(deleted: [(2, 1)])
    let author = store.index("Author")
    var transaction = StoreTransaction()
    transaction.updated = [
      RowUpdate(
        batch: store.batch("Author", [self.author(1, "x", version: 2), self.author(2, "y", version: 2)]),
        changed: [slots("name"), slots("name")])
    ]
    transaction.deleted = [RowDeletion(entity: author, key: 1, version: 1)]
    transaction.inserted = [store.batch("Author", [self.author(3, "z"), self.author(9, "new")])]
    let found = try store.conflicts(of: transaction)
    #expect(
      found.versions == [
        .init(entity: author, key: 1, expectedVersion: 1, foundVersion: 2),
        .init(entity: author, key: 2, expectedVersion: 1, foundVersion: nil),
        .init(entity: author, key: 1, expectedVersion: 1, foundVersion: 2),
        .init(entity: author, key: 3, expectedVersion: 0, foundVersion: 1),
      ])
    let rows = found.rows.flatMap { batch in
      (0..<batch.count).map {
        (batch.key($0), batch.string($0, batch.layout.property(named: "name")!.cells.lowerBound))
      }
    }
    #expect(rows.map(\.0) == [1, 3])
    #expect(rows.map(\.1) == ["A", "c"])

    transaction.updated = []
    transaction.deleted = []
    let error = #expect(throws: StoreError.self) { try store.commit(transaction) }
    #expect(error?.code == .conflict)
    transaction.inserted = [store.batch("Author", [self.author(9, "new", version: 70_000)])]
    _ = try store.commit(transaction)
    #expect(try store.row(entity: author, key: 9)?.version == 70_000)
    #expect(try store.conflicts(of: StoreTransaction()).isEmpty)
  }
}
