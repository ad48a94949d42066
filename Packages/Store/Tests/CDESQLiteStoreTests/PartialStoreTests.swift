@testable import CDESQLiteStore
import CDEStore
@_spi(CDE) import CDEStoreTestKit
import Testing

@Suite("Stores that hold a part of a schema")
struct PartialStoreTests {
  /// Alpha stands alone; Base and its sub-entities belong together with Note, which counts its own base.
  private static let schema = StoreSchema(entities: [
    StoreEntity(name: "Alpha", attributes: [StoreAttribute(name: "a", type: .string)], versionHash: [1]),
    StoreEntity(
      name: "Base", attributes: [StoreAttribute(name: "b", type: .string)],
      relationships: [
        StoreRelationship(name: "notes", destination: "Note", inverse: "bases", isToMany: true)
      ], versionHash: [2]),
    StoreEntity(
      name: "Child", parent: "Base", attributes: [StoreAttribute(name: "c", type: .string)], versionHash: [3]),
    StoreEntity(
      name: "Note",
      attributes: [
        StoreAttribute(name: "baseCount", type: .integer64, derivation: .count(relationship: "bases"))
      ],
      relationships: [
        StoreRelationship(name: "bases", destination: "Base", inverse: "notes", isToMany: true)
      ], versionHash: [4]),
  ])

  private func open(_ path: String, _ names: [String]) throws -> SQLiteStore {
    let resolved = try ResolvedSchema(Self.schema)
    return try SQLiteStore(
      schema: resolved, entities: Set(names.map { resolved.entity(named: $0)!.index }),
      configuration: .init(location: .file(path: path)))
  }

  private func statements(_ path: String) -> [[String]] {
    sql(path, "SELECT name, sql FROM sqlite_master ORDER BY 1")
      + sql(path, "SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY ORDER BY 1")
  }

  @Test(
    "The file is that of a schema without the other entities",
    arguments: [["Alpha"], ["Base", "Child", "Note"], ["Base", "Note"]])
  func files(names: [String]) throws {
    let scratch = Scratch()
    try open(scratch.file("Part.sqlite"), names).close()
    let smaller = StoreSchema(entities: Self.schema.entities.filter { names.contains($0.name) })
    try SQLiteStore.file(scratch.file("Small.sqlite"), smaller).close()
    #expect(statements(scratch.file("Part.sqlite")) == statements(scratch.file("Small.sqlite")))
    // The metadata as well: each opens with the other's schema.
    try SQLiteStore.file(scratch.file("Part.sqlite"), smaller).close()
    let part = try open(scratch.file("Small.sqlite"), names)
    let other = try SQLiteStore.file(scratch.file("Part.sqlite"), smaller)
    var (left, right) = (try part.metadata().values, try other.metadata().values)
    left["NSStoreUUID"] = nil
    right["NSStoreUUID"] = nil
    #expect(left == right)
    let whole = #expect(throws: StoreError.self) {
      try SQLiteStore.file(scratch.file("Part.sqlite"), Self.schema)
    }
    #expect(whole?.code == .incompatibleSchema)
  }

  @Test("Rows of its entities are written and read; any other entity is an error")
  func rows() throws {
    let scratch = Scratch()
    let store = try open(scratch.file(), ["Base", "Child", "Note"])
    var transaction = StoreTransaction()
    transaction.inserted = [
      store.batch("Child", [Draft(key: -1, values: ["b": .text("b"), "c": .text("c")])]),
      store.batch("Note", [Draft(key: -1)]),
    ]
    transaction.links = [
      LinkChange(
        kind: .add, entity: store.index("Note"), slot: store.slot("Note", "bases"), owner: -1, member: -1)
    ]
    _ = try store.commit(transaction)
    #expect(
      try store.describe("Base", 1)
        == ["entity": "Child", "key": "1", "version": "1", "b": "b", "c": "c"])
    #expect(
      try store.describe("Note", 1)
        == ["entity": "Note", "key": "1", "version": "1", "baseCount": "1"])
    #expect(try store.fetch(StoreQuery(entity: store.index("Base")), isKnown: nil).keys == [1])
    let alpha = store.index("Alpha")
    let reading = #expect(throws: StoreError.self) { try store.count(StoreQuery(entity: alpha)) }
    #expect((reading?.code, reading?.entity) == (.unsupportedQuery, "Alpha"))
    #expect(throws: StoreError.self) { try store.insert("Alpha", [Draft(key: -1)]) }
    #expect(throws: StoreError.self) { try store.allocateKeys([store.root("Alpha"): 1]) }
    var deletion = StoreTransaction()
    deletion.deleted = [RowDeletion(entity: alpha, key: 1, version: 1)]
    let comparing = #expect(throws: StoreError.self) { try store.conflicts(of: deletion) }
    #expect((comparing?.code, comparing?.entity) == (.unsupportedQuery, "Alpha"))
  }

  @Test(
    "A part that does not stand by itself is refused", arguments: [["Child"], ["Base", "Child"], ["Note"]])
  func incomplete(names: [String]) throws {
    let scratch = Scratch()
    let error = #expect(throws: StoreError.self) { try open(scratch.file(), names) }
    #expect(error?.code == .invalidSchema)
    #expect(scratch.bytes() == nil)
  }
}
