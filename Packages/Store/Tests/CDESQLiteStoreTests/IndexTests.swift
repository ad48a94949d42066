import CDESQLiteStore
import CDEStore
@_spi(CDE) import CDEStoreTestKit
import Foundation
import Testing

@Suite("Indexes")
struct IndexTests {
  let scratch = Scratch()

  @Test("An index on the entity of a row is one on Z_ENT, unless the entity has a property of this name")
  func entityIndexes() throws {
    func entity(_ name: String, _ attributes: [StoreAttribute]) -> StoreEntity {
      StoreEntity(
        name: name, attributes: attributes,
        indexes: [
          StoreIndex(name: "kind", elements: [.init(property: "entity")]),
          StoreIndex(
            name: "pair", kind: .compound, elements: [.init(property: "entity"), .init(property: "name")]),
        ])
    }
    let name = StoreAttribute(name: "name", type: .string)
    let schema = StoreSchema(entities: [
      entity("Face", [name]), entity("Row", [name, StoreAttribute(name: "entity", type: .string)]),
    ])
    let store = try SQLiteStore.file(scratch.file(), schema)
    let found = sql(scratch.file(), "SELECT sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL")
    #expect(
      Set(found.map { $0[0] }) == [
        "CREATE INDEX Z_Face_kind ON ZFACE (Z_ENT COLLATE BINARY ASC)",
        "CREATE INDEX Z_Face_entity_name ON ZFACE (Z_ENT COLLATE BINARY ASC, ZNAME COLLATE BINARY ASC)",
        "CREATE INDEX Z_Row_kind ON ZROW (ZENTITY COLLATE BINARY ASC)",
        "CREATE INDEX Z_Row_entity_name ON ZROW (ZENTITY COLLATE BINARY ASC, ZNAME COLLATE BINARY ASC)",
      ])
    try store.insert("Face", [Draft(key: -1, values: ["name": .text("Ada")])])
    #expect(
      sql(scratch.file(), "SELECT ZNAME FROM ZFACE INDEXED BY Z_Face_kind WHERE Z_ENT = 1") == [["Ada"]])
    try store.close()
    #expect(try !SQLiteStore.file(scratch.file(), schema).isReadOnly)
  }

  @Test("A uniqueness constraint on the entity of a row is refused")
  func entityConstraint() throws {
    let schema = StoreSchema(entities: [StoreEntity(name: "Face", uniquenessConstraints: [["entity"]])])
    #expect(throws: StoreError.self) { try SQLiteStore.file(scratch.file(), schema) }
  }

  @Test(
    "An index without an element is refused",
    arguments: [StoreIndex.Kind.fetchIndex, .compound, .indexedAttribute])
  func empty(kind: StoreIndex.Kind) throws {
    let schema = StoreSchema(entities: [
      StoreEntity(name: "Face", indexes: [StoreIndex(name: "none", kind: kind, elements: [])])
    ])
    let error = #expect(throws: StoreError.self) { try SQLiteStore.file(scratch.file(), schema) }
    #expect(error?.code == .invalidSchema)
  }

  @Test("Partial, compound, flagged, descending and spatial indexes have Core Data's names and columns")
  func statements() throws {
    let schema = StoreSchema(entities: [
      StoreEntity(
        name: "Spot",
        attributes: [
          StoreAttribute(name: "latitude", type: .double), StoreAttribute(name: "longitude", type: .double),
          StoreAttribute(name: "name", type: .string),
        ],
        relationships: [
          StoreRelationship(name: "next", destination: "Spot", inverse: nil, isToMany: false)
        ],
        indexes: [
          StoreIndex(
            name: "byName",
            elements: [.init(property: "name", isAscending: false), .init(property: "latitude")],
            partialNotNil: ["name", "latitude"]),
          StoreIndex(name: "name", kind: .indexedAttribute, elements: [.init(property: "name")]),
          StoreIndex(
            name: "pair", kind: .compound, elements: [.init(property: "name"), .init(property: "longitude")]),
          StoreIndex(name: "byNext", elements: [.init(property: "next")]),
          StoreIndex(
            name: "place",
            elements: [
              .init(property: "latitude", isSpatial: true), .init(property: "longitude", isSpatial: true),
            ]),
        ])
    ])
    let store = try SQLiteStore.file(scratch.file(), schema)
    let found = sql(scratch.file(), "SELECT sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL")
    #expect(
      Set(found.map { $0[0] }) == [
        "CREATE INDEX ZSPOT_ZNEXT_INDEX ON ZSPOT (ZNEXT)",
        "CREATE INDEX Z_Spot_byName ON ZSPOT (ZNAME COLLATE BINARY DESC, ZLATITUDE COLLATE BINARY ASC)"
          + " WHERE  ZNAME IS NOT NULL AND ZLATITUDE IS NOT NULL",
        "CREATE INDEX ZSPOT_ZNAME_INDEX ON ZSPOT (ZNAME)",
        "CREATE INDEX Z_Spot_name_longitude ON ZSPOT (ZNAME COLLATE BINARY ASC, ZLONGITUDE COLLATE BINARY ASC)",
      ])

    // The spatial index follows its table.
    func places() -> [[String]] {
      sql(scratch.file(), "SELECT Z_PK, ZLATITUDE_MIN, ZLONGITUDE_MAX FROM Z_RT_Spot_place ORDER BY 1")
    }
    try store.insert(
      "Spot",
      [
        Draft(key: -1, values: ["latitude": .real(1), "longitude": .real(2)]),
        Draft(key: -2, values: ["latitude": .real(3)]),
      ])
    #expect(places() == [["1", "1.0", "2.0"]])
    var transaction = StoreTransaction()
    transaction.updated = [
      RowUpdate(
        batch: store.batch(
          "Spot", [Draft(key: 2, version: 2, values: ["latitude": .real(3), "longitude": .real(4)])]),
        changed: [[store.slot("Spot", "longitude")]])
    ]
    transaction.deleted = [RowDeletion(entity: 0, key: 1, version: 1)]
    _ = try store.commit(transaction)
    #expect(places() == [["2", "3.0", "4.0"]])
    // Its trigger replaces an entry that is there already, also when several rows are inserted at once.
    _ = sql(scratch.file(), "INSERT INTO Z_RT_Spot_place VALUES (3, 9, 9, 9, 9)")
    try store.insert(
      "Spot",
      [
        Draft(key: -1, values: ["latitude": .real(5), "longitude": .real(6)]),
        Draft(key: -2, values: ["latitude": .real(7), "longitude": .real(8)]),
      ])
    #expect(places() == [["2", "3.0", "4.0"], ["3", "5.0", "6.0"], ["4", "7.0", "8.0"]])
    try store.close()
    #expect(try !SQLiteStore.file(scratch.file(), schema).isReadOnly)
  }
}
