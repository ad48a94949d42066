@_spi(CDE) import CDESQLiteFaults
@testable import CDESQLiteStore
import CDEStore
@_spi(CDE) import CDEStoreTestKit
import Testing

@Suite("Columns that keep orders")
struct OrderColumnTests {
  /// A track stands in the ordered tracks of three owners, in an ordered list without an inverse, and in a
  /// many-to-many relationship that is ordered on both sides.
  private static let schema: StoreSchema = {
    func one(_ name: String, _ destination: String, _ inverse: String) -> StoreRelationship {
      StoreRelationship(name: name, destination: destination, inverse: inverse, isToMany: false)
    }
    func many(_ name: String, _ destination: String, _ inverse: String?) -> StoreRelationship {
      StoreRelationship(
        name: name, destination: destination, inverse: inverse, isToMany: true, isOrdered: true)
    }
    return StoreSchema(entities: [
      StoreEntity(
        name: "Album",
        relationships: [
          many("tracks", "Track", "album"), many("bonus", "Track", "bonusOf"), many("drafts", "Track", nil),
        ]),
      StoreEntity(name: "Box", parent: "Album"),
      StoreEntity(name: "Mix", relationships: [many("tracks", "Track", "mixes")]),
      StoreEntity(name: "Shelf", relationships: [many("tracks", "Track", "shelf")]),
      StoreEntity(
        name: "Track", attributes: [StoreAttribute(name: "length", type: .integer32)],
        relationships: [
          one("shelf", "Shelf", "tracks"), one("album", "Album", "tracks"), one("bonusOf", "Album", "bonus"),
          many("mixes", "Mix", "tracks"),
        ]),
    ])
  }()

  let scratch = Scratch()
  let store: SQLiteStore

  init() throws { store = try SQLiteStore.file(scratch.file(), Self.schema) }

  @Test("They follow all to-one columns, by name, each named for its relationship")
  func layout() {
    // Album is entity 1 and has a sub-entity, so references to it keep the entity as well.
    #expect(
      sql(scratch.file(), "SELECT sql FROM sqlite_master WHERE name = 'ZTRACK'") == [
        [
          "CREATE TABLE ZTRACK ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZLENGTH INTEGER, "
            + "ZALBUM INTEGER, Z1_ALBUM INTEGER, ZBONUSOF INTEGER, Z1_BONUSOF INTEGER, ZSHELF INTEGER, "
            + "Z1DRAFTS INTEGER, Z_FOK_ALBUM INTEGER, Z_FOK_BONUSOF INTEGER, Z_FOK_SHELF INTEGER, "
            + "Z_FOK_1DRAFTS INTEGER )"
        ]
      ])
    #expect(
      sql(
        scratch.file(),
        "SELECT sql FROM sqlite_master WHERE name LIKE 'Z\\_3%' ESCAPE '\\' AND type = 'table'")
        == [
          [
            "CREATE TABLE Z_3TRACKS ( Z_3MIXES INTEGER, Z_5TRACKS INTEGER, Z_FOK_5TRACKS INTEGER, "
              + "Z_FOK_3MIXES INTEGER, PRIMARY KEY (Z_3MIXES, Z_5TRACKS) )"
          ]
        ])
  }

  @Test("Each order is read and written by itself")
  func values() throws {
    let count: Int64 = 12
    var random = SplitMix(seed: 5)
    var orders: [String: [Int64]] = [:]
    for name in ["album", "bonusOf", "shelf", "drafts", "mix"] {
      orders[name] = (1...count).shuffled(using: &random)
    }
    func place(_ name: String, _ key: Int64) -> Int64 {
      2048 + Int64(orders[name]!.firstIndex(of: key)!) * 1024
    }
    var transaction = StoreTransaction()
    let box = store.index("Box")
    transaction.inserted = [
      store.batch("Box", [Draft(key: -1)]), store.batch("Mix", [Draft(key: -1)]),
      store.batch("Shelf", [Draft(key: -1)]),
      store.batch(
        "Track",
        (1...count).map { key in
          Draft(
            key: -key, references: ["album": -1, "bonusOf": -1, "shelf": -1],
            orders: [
              "album": place("album", key), "bonusOf": place("bonusOf", key), "shelf": place("shelf", key),
            ], entities: ["album": box, "bonusOf": box])
        }),
    ]
    for key in 1...count {
      transaction.links.append(
        LinkChange(
          kind: .add, entity: store.index("Album"), slot: store.slot("Album", "drafts"), owner: -1,
          member: -key, order: place("drafts", key)))
      transaction.links.append(
        LinkChange(
          kind: .add, entity: store.index("Mix"), slot: store.slot("Mix", "tracks"), owner: -1, member: -key,
          order: place("mix", key)))
    }
    _ = try store.commit(transaction)

    func members(_ entity: String, _ name: String) throws -> [Int64] {
      let related = try store.related(
        entity: store.index(entity), slot: store.slot(entity, name), owners: [1], isKnown: nil)
      return related.entries.map(\.key)
    }
    #expect(try members("Box", "tracks") == orders["album"])
    #expect(try members("Album", "bonus") == orders["bonusOf"])
    #expect(try members("Shelf", "tracks") == orders["shelf"])
    #expect(try members("Box", "drafts") == orders["drafts"])
    #expect(try members("Mix", "tracks") == orders["mix"])
    // What another reader of the file sees.
    for (column, name) in [
      ("Z_FOK_ALBUM", "album"), ("Z_FOK_BONUSOF", "bonusOf"), ("Z_FOK_SHELF", "shelf"),
      ("Z_FOK_1DRAFTS", "drafts"),
    ] {
      #expect(
        sql(scratch.file(), "SELECT Z_PK FROM ZTRACK ORDER BY \(column)")
          == orders[name]!.map { [String($0)] })
    }
    #expect(
      sql(scratch.file(), "SELECT Z_5TRACKS FROM Z_3TRACKS WHERE Z_3MIXES = 1 ORDER BY Z_FOK_5TRACKS")
        == orders["mix"]!.map { [String($0)] })

    // Moving within one order leaves the others alone.
    let moved = orders["bonusOf"]![5]
    var change = StoreTransaction()
    change.updated = [
      RowUpdate(
        batch: store.batch(
          "Track",
          [
            Draft(
              key: moved, version: 2, references: ["album": 1, "bonusOf": 1, "shelf": 1],
              orders: ["bonusOf": 1024], entities: ["album": box, "bonusOf": box])
          ]), changed: [[store.slot("Track", "bonusOf")]])
    ]
    _ = try store.commit(change)
    #expect(try members("Album", "bonus") == [moved] + orders["bonusOf"]!.filter { $0 != moved })
    #expect(try members("Box", "tracks") == orders["album"])
    #expect(try members("Shelf", "tracks") == orders["shelf"])
  }
}
