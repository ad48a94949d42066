import CDESQLite
import CDESQLiteStore
import CDEStore
@_spi(CDE) import CDEStoreTestKit
import Foundation
import Testing

@Suite("The history of a store")
struct HistoryTests {
  private static let schema = StoreSchema(entities: [
    StoreEntity(
      name: "Book",
      attributes: [
        StoreAttribute(name: "isbn", type: .string, preservesValueOnDeletion: true),
        StoreAttribute(name: "pages", type: .integer32, preservesValueOnDeletion: true),
        StoreAttribute(name: "title", type: .string),
      ],
      relationships: [
        StoreRelationship(name: "shelf", destination: "Shelf", inverse: "books", isToMany: false),
        StoreRelationship(name: "tags", destination: "Tag", inverse: "books", isToMany: true),
      ]),
    StoreEntity(
      name: "Shelf", attributes: [StoreAttribute(name: "name", type: .string)],
      relationships: [StoreRelationship(name: "books", destination: "Book", inverse: "shelf", isToMany: true)]
    ),
    StoreEntity(
      name: "Tag", attributes: [StoreAttribute(name: "name", type: .string)],
      relationships: [StoreRelationship(name: "books", destination: "Book", inverse: "tags", isToMany: true)]),
    StoreEntity(name: "WideShelf", parent: "Shelf"),
  ])

  private let scratch = Scratch()

  private func open(_ tracks: Bool = true) throws -> SQLiteStore {
    try SQLiteStore.file(scratch.file(), Self.schema) { $0.tracksHistory = tracks }
  }

  private func insert(_ store: SQLiteStore, _ titles: String..., author: String? = nil) throws -> [Int64] {
    var transaction = StoreTransaction()
    transaction.author = author
    transaction.inserted = [
      store.batch(
        "Book",
        titles.enumerated().map { index, title in
          Draft(
            key: Int64(-1 - index),
            values: [
              "title": .text(title), "isbn": .text("i-\(title)"), "pages": .integer(Int64(100 + index)),
            ])
        })
    ]
    let result = try store.commit(transaction)
    return titles.indices.map { result.permanentKey(for: Int64(-1 - $0), root: store.root("Book")) }
  }

  private func update(_ store: SQLiteStore, _ key: Int64, version: Int64 = 2, _ properties: String...) throws
  {
    var transaction = StoreTransaction()
    let batch = store.batch("Book", [Draft(key: key, version: version, values: ["title": .text("new")])])
    transaction.updated = [
      RowUpdate(batch: batch, changed: [PropertySet(properties.map { store.slot("Book", $0) })])
    ]
    _ = try store.commit(transaction)
  }

  private func names(_ store: SQLiteStore, _ change: StoreHistoryChange) -> [String]? {
    let properties = store.schema.entities[change.entity].layout.properties
    return change.properties.map { $0.map { properties[$0].name } }
  }

  // MARK: Making

  @Test("A store made with a history has Core Data's tables, columns, indexes and numbers")
  func tables() throws {
    try open().close()
    let definitions = sql(
      scratch.file(),
      "SELECT sql FROM sqlite_master WHERE tbl_name IN ('ACHANGE', 'ATRANSACTION', 'ATRANSACTIONSTRING') ORDER BY name"
    ).map { $0[0] }
    #expect(definitions.count == 11)
    #expect(definitions.contains("CREATE INDEX ACHANGE_ZTRANSACTIONID_INDEX ON ACHANGE (ZTRANSACTIONID)"))
    #expect(
      definitions.contains(
        "CREATE TABLE ATRANSACTION ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZAUTHORTS INTEGER, "
          + "ZBUNDLEIDTS INTEGER, ZCONTEXTNAMETS INTEGER, ZPROCESSIDTS INTEGER, ZTIMESTAMP FLOAT, ZAUTHOR VARCHAR, "
          + "ZBUNDLEID VARCHAR, ZCONTEXTNAME VARCHAR, ZPROCESSID VARCHAR, ZQUERYGEN BLOB )"))
    #expect(
      definitions.contains { $0.hasPrefix("CREATE TABLE ACHANGE") && $0.contains("ZTOMBSTONE1") })
    #expect(
      sql(scratch.file(), "SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY WHERE Z_ENT > 16000")
        == [["16001", "CHANGE", "0"], ["16002", "TRANSACTION", "0"], ["16003", "TRANSACTIONSTRING", "0"]])
  }

  @Test("A store without a history gets one when it is opened with tracking, and keeps it")
  func adding() throws {
    let first = try open(false)
    #expect(!first.recordsHistory)
    #expect(try first.historyExtent() == nil)
    _ = try insert(first, "before")
    try first.close()
    let second = try open()
    #expect(second.recordsHistory)
    #expect(try second.historyExtent() == StoreHistoryExtent(first: nil, last: 0))
    _ = try insert(second, "after")
    #expect(try second.history(StoreHistoryQuery()).map(\.number) == [1])
    try second.close()
    let third = try open()
    #expect(try third.history(StoreHistoryQuery()).map(\.number) == [1])
    try third.close()
  }

  @Test("Opened without tracking, a store with a history can be read, and says why it can't be written")
  func refusing() throws {
    let first = try open()
    let keys = try insert(first, "a")
    try first.close()
    let second = try open(false)
    #expect(second.isReadOnly)
    #expect(second.notes.contains { $0.contains("NSPersistentHistoryTrackingKey") })
    #expect(try second.row(entity: second.index("Book"), key: keys[0]) != nil)
    #expect(try second.history(StoreHistoryQuery()).count == 1)
    let error = #expect(throws: StoreError.self) { try insert(second, "b") }
    #expect(error?.code == .readOnly)
    #expect(error?.message.contains("NSPersistentHistoryTrackingKey") == true)
    try second.close()
  }

  // MARK: Recording

  @Test("A deletion keeps the leaves of a composite, and nothing of one without values")
  func composites() throws {
    let place = StoreAttribute(
      name: "place", type: .composite, preservesValueOnDeletion: true,
      elements: [
        StoreAttribute(name: "latitude", type: .double), StoreAttribute(name: "title", type: .string),
      ])
    let schema = StoreSchema(entities: [
      StoreEntity(
        name: "Visit",
        attributes: [StoreAttribute(name: "code", type: .integer32, preservesValueOnDeletion: true), place])
    ])
    let store = try SQLiteStore.file(scratch.file(), schema) { $0.tracksHistory = true }
    var insertion = StoreTransaction()
    insertion.inserted = [
      store.batch(
        "Visit",
        [
          Draft(key: -1, values: ["code": .integer(7), "place.title": .text("Rome")]),
          Draft(key: -2, values: ["code": .integer(8)]),
        ])
    ]
    let inserted = try store.commit(insertion)
    var deletion = StoreTransaction()
    deletion.deleted = [Int64(-1), -2].map {
      RowDeletion(
        entity: store.index("Visit"), key: inserted.permanentKey(for: $0, root: store.root("Visit")),
        version: 1)
    }
    _ = try store.commit(deletion)
    let changes = try store.history(StoreHistoryQuery(after: 1))[0].changes
    let (code, slot) = (store.slot("Visit", "code"), store.slot("Visit", "place"))
    #expect(changes.map(\.tombstone) == [[code: .integer(7)], [code: .integer(8)]])
    #expect(changes.map(\.compositeTombstone) == [[slot: [.null, .text("Rome")]], [:]])
    try store.close()
  }

  @Test("Each commit is a transaction with its author and the changes of its rows")
  func commits() throws {
    let store = try open()
    let keys = try insert(store, "a", "b", author: "me")
    try update(store, keys[0], "title", "pages")
    var deletion = StoreTransaction()
    deletion.contextName = "cleaner"
    deletion.deleted = [RowDeletion(entity: store.index("Book"), key: keys[1], version: 1)]
    _ = try store.commit(deletion)
    let history = try store.history(StoreHistoryQuery())
    #expect(history.map(\.number) == [1, 2, 3])
    #expect(history.map(\.author) == ["me", nil, nil])
    #expect(history.map(\.contextName) == [nil, nil, "cleaner"])
    #expect(history.allSatisfy { $0.processName == ProcessInfo.processInfo.processName })
    #expect(history.flatMap(\.changes).map(\.kind) == [.inserted, .inserted, .updated, .deleted])
    #expect(history.flatMap(\.changes).map(\.key) == [keys[0], keys[1], keys[0], keys[1]])
    #expect(history.flatMap(\.changes).map(\.number) == [1, 2, 3, 4])
    #expect(names(store, history[1].changes[0]) == ["pages", "title"])
    #expect(
      history[2].changes[0].tombstone == [
        store.slot("Book", "isbn"): .text("i-b"), store.slot("Book", "pages"): .integer(101),
      ])
    #expect(
      sql(scratch.file(), "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT IN (16001, 16002) ORDER BY Z_ENT")
        == [["4"], ["3"]])
    try store.close()
  }

  /// A parent entity, relationships to one that sort last, one of them to an entity with sub-entities, and a place in an
  /// order.
  private static let events = StoreSchema(entities: [
    StoreEntity(name: "Album", relationships: [toMany("events", "Event", "album", isOrdered: true)]),
    StoreEntity(
      name: "Event",
      attributes: [
        StoreAttribute(name: "title", type: .string), StoreAttribute(name: "day", type: .date),
        StoreAttribute(name: "aside", type: .string, isTransient: true),
      ],
      relationships: [
        toOne("venue", "Place", "events"), toOne("album", "Album", "events"),
        toMany("guests", "Guest", "events"),
      ]),
    StoreEntity(
      name: "Party", parent: "Event", attributes: [StoreAttribute(name: "budget", type: .decimal)],
      relationships: [toOne("aide", "Guest", "aided"), toMany("bands", "Guest", "plays")]),
    StoreEntity(
      name: "Guest",
      relationships: [
        toMany("events", "Event", "guests"), toMany("aided", "Party", "aide"),
        toMany("plays", "Party", "bands"),
      ]),
    StoreEntity(name: "Place", relationships: [toMany("events", "Event", "venue")]),
    StoreEntity(name: "City", parent: "Place"),
  ])

  private static func toOne(_ name: String, _ destination: String, _ inverse: String) -> StoreRelationship {
    StoreRelationship(name: name, destination: destination, inverse: inverse, isToMany: false)
  }

  private static func toMany(
    _ name: String, _ destination: String, _ inverse: String, isOrdered: Bool = false
  ) -> StoreRelationship {
    StoreRelationship(
      name: name, destination: destination, inverse: inverse, isToMany: true, isOrdered: isOrdered)
  }

  /// Core Data's order: the keys of relationships to one, the entities of their destinations, the places in orders, the
  /// attributes, the relationships to many; in each group those of a parent first, then by name.
  private static let bitsOfProperties: [String: [String: String]] = [
    // album, venue | venue | album | day, title | guests
    "Event": ["album": "90", "venue": "60", "day": "08", "title": "04", "guests": "02"],
    // album, venue, aide | venue | album | day, title, budget | guests, bands
    "Party": [
      "album": "8800", "venue": "5000", "aide": "2000", "day": "0400", "title": "0200", "budget": "0100",
      "guests": "0080", "bands": "0040",
    ],
    // shelf | its entity | isbn, pages, title | tags
    "Book": ["shelf": "C0", "isbn": "20", "pages": "10", "title": "08", "tags": "04"],
    "Place": ["events": "80"],
  ]

  @Test(
    "The bits of an update number Core Data's columns, the highest bit first, and are read as they are written",
    arguments: bitsOfProperties.keys.sorted())
  func bits(entity: String) throws {
    let schema = entity == "Book" ? Self.schema : Self.events
    let store = try SQLiteStore.file(scratch.file(), schema) { $0.tracksHistory = true }
    var insertion = StoreTransaction()
    insertion.inserted = [store.batch(entity, [Draft(key: -1)])]
    _ = try store.commit(insertion)
    let expected = Self.bitsOfProperties[entity]!.sorted { $0.key < $1.key }
    for (name, _) in expected {
      var transaction = StoreTransaction()
      transaction.touched = [
        StoreTouch(entity: store.index(entity), key: 1, properties: [store.slot(entity, name)])
      ]
      _ = try store.commit(transaction)
    }
    #expect(
      sql(scratch.file(), "SELECT hex(ZCOLUMNS) FROM ACHANGE WHERE ZCHANGETYPE = 1 ORDER BY Z_PK").map {
        $0[0]
      }
        == expected.map(\.value))
    let read = try store.history(StoreHistoryQuery(after: 1)).flatMap(\.changes)
    #expect(read.map { names(store, $0) } == expected.map { [$0.key] })
    try store.close()
  }

  @Test("A transaction that is refused leaves nothing in the history, and its number is used by the next one")
  func refused() throws {
    let store = try open()
    let keys = try insert(store, "a", author: "first")
    #expect(throws: StoreError.self) { try update(store, keys[0], version: 7, "title") }
    _ = try insert(store, "b", author: "second")
    #expect(try store.history(StoreHistoryQuery()).map(\.author) == ["first", "second"])
    #expect(try store.history(StoreHistoryQuery()).map(\.number) == [1, 2])
    try store.close()
  }

  @Test("Objects whose to-many relationships changed are updates, in the terms of their own entity")
  func touches() throws {
    let store = try open()
    var shelves = StoreTransaction()
    shelves.inserted = [store.batch("WideShelf", [Draft(key: -1)]), store.batch("Tag", [Draft(key: -1)])]
    _ = try store.commit(shelves)
    let keys = try insert(store, "a")
    var transaction = StoreTransaction()
    transaction.touched = [
      StoreTouch(entity: store.index("Shelf"), key: 1, properties: [store.slot("Shelf", "books")])
    ]
    transaction.links = [
      LinkChange(
        kind: .add, entity: store.index("Book"), slot: store.slot("Book", "tags"), owner: keys[0], member: 1)
    ]
    _ = try store.commit(transaction)
    let changes = try store.history(StoreHistoryQuery(after: 2))[0].changes
    #expect(changes.map(\.kind) == [.updated, .updated, .updated])
    #expect(
      Set(changes.map(\.entity)) == [store.index("Book"), store.index("WideShelf"), store.index("Tag")])
    #expect(
      changes.compactMap { names(store, $0) }.sorted { $0[0] < $1[0] } == [["books"], ["books"], ["tags"]])
    try store.close()
  }

  @Test("Batches are recorded with the rows that they changed and deleted")
  func batches() throws {
    let store = try open()
    let keys = try insert(store, "a", "b", "c")
    let book = store.schema.entity(named: "Book")!
    let values = store.batch("Book", [Draft(key: 0, version: 0, values: ["title": .text("same")])])
    var update = StoreBatchUpdate(
      query: StoreQuery(entity: book.index),
      values: [RowUpdate(batch: values, changed: [[store.slot("Book", "title")]])])
    update.author = "batch"
    _ = try store.commit(.update(update))
    var rules = IndexedArray<EntityIndex, [SlotIndex: StoreBatchDelete.Rule]>(
      repeating: [:], count: store.schema.entities.count)
    rules[book.index] = [store.slot("Book", "shelf"): .nullify, store.slot("Book", "tags"): .nullify]
    _ = try store.commit(.delete(StoreBatchDelete(query: StoreQuery(entity: book.index), rules: rules)))
    let history = try store.history(StoreHistoryQuery(after: 1))
    #expect(history.map(\.author) == ["batch", nil])
    #expect(history[0].changes.map(\.key) == keys)
    #expect(history[0].changes.allSatisfy { names(store, $0) == ["title"] })
    #expect(history[1].changes.map(\.kind) == [.deleted, .deleted, .deleted])
    #expect(history[1].changes[2].tombstone[store.slot("Book", "isbn")] == .text("i-c"))
    try store.close()
  }

  // MARK: Reading and purging

  @Test("A query takes transactions after a number or a time, at most so many, with or without changes")
  func queries() throws {
    let store = try open()
    for title in ["a", "b", "c", "d"] { _ = try insert(store, title) }
    let all = try store.history(StoreHistoryQuery())
    #expect(try store.history(StoreHistoryQuery(after: 2)).map(\.number) == [3, 4])
    #expect(try store.history(StoreHistoryQuery(since: all[1].timestamp)).map(\.number) == [3, 4])
    #expect(try store.history(StoreHistoryQuery(after: 1, limit: 2)).map(\.number) == [2, 3])
    #expect(try store.history(StoreHistoryQuery(includesChanges: false)).allSatisfy(\.changes.isEmpty))
    #expect(all.allSatisfy { $0.changes.count == 1 })
    try store.close()
  }

  @Test("A purge removes the oldest transactions with their changes, and their numbers are not used again")
  func purge() throws {
    let store = try open()
    for title in ["a", "b", "c"] { _ = try insert(store, title) }
    #expect(try store.purgeHistory(.before(number: 3)) == 2)
    #expect(try store.history(StoreHistoryQuery()).map(\.number) == [3])
    #expect(!StoreHistoryExtent(first: nil, last: 0).isPurged(after: 0))
    #expect(!StoreHistoryExtent(first: 1, last: 2).isPurged(after: 0))
    let extent = try store.historyExtent()!
    #expect(extent == StoreHistoryExtent(first: 3, last: 3))
    #expect(extent.isPurged(after: 1))
    #expect(!extent.isPurged(after: 2))
    #expect(extent.isPurged(after: 0))
    #expect(try store.purgeHistory(.beforeTime(.greatestFiniteMagnitude)) == 1)
    #expect(try store.historyExtent() == StoreHistoryExtent(first: nil, last: 3))
    #expect(try store.historyExtent()!.isPurged(after: 2))
    _ = try insert(store, "d")
    #expect(try store.history(StoreHistoryQuery()).map(\.number) == [4])
    #expect(sql(scratch.file(), "SELECT ZTRANSACTIONID, Z_PK FROM ACHANGE") == [["4", "4"]])
    try store.close()
  }

  @Test("Two processes' connections number their commits in one order")
  func twoConnections() throws {
    let (one, two) = (try open(), try open())
    for index in 0..<20 { _ = try insert(index % 3 == 0 ? one : two, "\(index)", author: "\(index)") }
    #expect(try one.history(StoreHistoryQuery()).map(\.author) == (0..<20).map { "\($0)" })
    #expect(try two.history(StoreHistoryQuery()).map(\.number) == (1...20).map { Int64($0) })
    try one.close()
    try two.close()
  }

  // MARK: Files of others

  @Test("A history without the table of strings keeps its texts in the transactions")
  func withoutStrings() throws {
    try open(false).close()
    _ = sql(
      scratch.file(),
      """
      CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER, \
      ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB);
      CREATE TABLE ATRANSACTION (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZTIMESTAMP FLOAT, \
      ZAUTHOR VARCHAR, ZBUNDLEID VARCHAR, ZCONTEXTNAME VARCHAR, ZPROCESSID VARCHAR);
      INSERT INTO Z_PRIMARYKEY VALUES (16001, 'CHANGE', 0, 1), (16002, 'TRANSACTION', 0, 9);
      INSERT INTO ATRANSACTION VALUES (9, 16002, NULL, 5.0, 'old', 'b', NULL, 'p');
      INSERT INTO ACHANGE VALUES (1, 16001, NULL, 1, 1, 7, 9, X'0102030405'), (2, 16001, NULL, 2, 99, 7, 9, NULL);
      """)
    let store = try open()
    _ = try insert(store, "a", author: "new")
    let history = try store.history(StoreHistoryQuery())
    #expect(history.map(\.number) == [9, 10])
    #expect(history.map(\.author) == ["old", "new"])
    // Bits of another length stand for all stored properties, and a change of an unknown entity is left out.
    #expect(history[0].changes.count == 1)
    #expect(names(store, history[0].changes[0]) == ["isbn", "pages", "shelf", "tags", "title"])
    #expect(
      sql(scratch.file(), "SELECT count(*) FROM sqlite_master WHERE name = 'ATRANSACTIONSTRING'") == [["0"]])
    #expect(sql(scratch.file(), "SELECT ZAUTHOR FROM ATRANSACTION") == [["old"], ["new"]])
    #expect(sql(scratch.file(), "SELECT ZENTITY FROM ACHANGE WHERE Z_PK = 2") == [["99"]])
    try store.close()
  }

  @Test("A damaged history is an error that names the remedy, and the store stays as it is")
  func damaged() throws {
    try open(false).close()
    _ = sql(scratch.file(), "CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY)")
    let error = #expect(throws: StoreError.self) { try open() }
    #expect(error?.code == .unreadable)
    #expect(error?.message.contains("NSPersistentHistoryTrackingKey") == true)
    #expect(sql(scratch.file(), "SELECT count(*) FROM sqlite_master WHERE name LIKE 'ATRANS%'") == [["0"]])
  }
}
