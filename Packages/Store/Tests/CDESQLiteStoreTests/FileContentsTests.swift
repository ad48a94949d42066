@_spi(CDE) import CDESQL
import CDESQLite
import CDEStore
import Foundation
import Testing

@testable import CDESQLiteStore

@Suite("Reading what is in a file")
struct FileContentsTests {
  let scratch = Scratch()

  private func read(_ name: String = "Test.sqlite") throws -> FileContents {
    let connection = try Connection(
      uri: "file:\(scratch.file(name))", flags: SQLITE_OPEN_READWRITE, busyTimeout: 0)
    return try FileContents(reading: connection)
  }

  @Test("A store's tables, columns, numbers, hashes and triggers are read without a schema")
  func stores() throws {
    let store = try SQLiteStore.file(scratch.file(), Parent.schema)
    let identifier = store.identifier
    try store.close()
    let found = try read()
    #expect(!found.isEmpty)
    #expect(found.path?.hasSuffix("Test.sqlite") == true)
    #expect(found.metadata?.identifier == identifier)
    #expect(found.numbers == ["Parent": 2, "Child": 1])
    #expect(found.versionHashes == ["Parent": .data([1]), "Child": .data([2])])
    #expect(found.hashesVersion == 3)
    #expect(
      Set(found.tables.keys).isSuperset(of: ["ZPARENT", "ZCHILD", "Z_METADATA", "Z_PRIMARYKEY"]))
    let columns = try #require(found.tables["ZCHILD"]?.columns)
    #expect(Set(columns.keys) == ["Z_PK", "Z_ENT", "Z_OPT", "ZNAME", "ZPARENT"])
    #expect(columns.filter(\.value.isKey).map(\.key) == ["Z_PK"])
    #expect(found.triggers.map(\.name) == found.triggers.map(\.name).sorted())
    #expect(found.triggers.contains { $0.table == "ZCHILD" && $0.name.hasPrefix("Z_DA_") })
  }

  @Test("A file that is no store has contents, too")
  func otherFiles() throws {
    _ = sql(scratch.file(), "PRAGMA user_version = 1")
    let empty = try read()
    #expect(empty.isEmpty && empty.tables.isEmpty && empty.metadata == nil && empty.numbers == nil)
    _ = sql(
      scratch.file("Other.sqlite"),
      "CREATE TABLE a (b TEXT, c INTEGER PRIMARY KEY); CREATE VIEW Z_METADATA AS SELECT 1; "
        + "CREATE VIRTUAL TABLE v USING rtree (i, x, y); CREATE TRIGGER t AFTER INSERT ON a BEGIN SELECT 1; END"
    )
    let other = try read("Other.sqlite")
    #expect(!other.isEmpty && other.metadata == nil && other.numbers == nil)
    #expect(other.versionHashes.isEmpty && other.hashesVersion == nil)
    #expect(other.tables["a"]?.columns == ["b": .init(isKey: false), "c": .init(isKey: true)])
    #expect(other.tables["v"] == nil && other.tables["Z_METADATA"] == nil)
    #expect(other.triggers == [.init(name: "t", table: "a")])
  }
}

@Suite("Judging what is in a file")
struct StoreContentsTests {
  private let schema: ResolvedSchema
  /// The contents of a store of the schema, as they would be read.
  private var file: FileContents

  init() throws {
    let scratch = Scratch()
    let store = try SQLiteStore.file(scratch.file(), Parent.schema)
    defer { try? store.close() }
    schema = store.schema
    file = try store.pool.read { (connection) throws(StoreError) in try FileContents(reading: connection) }
  }

  private func judged(_ change: (inout FileContents) -> Void = { _ in }) throws -> StoreContents {
    var changed = file
    change(&changed)
    return try StoreContents(changed, schema: schema, held: Set(schema.entities.indices))
  }

  private func refusal(_ change: (inout FileContents) -> Void) -> StoreError? {
    do {
      _ = try judged(change)
      return nil
    } catch { return error as? StoreError }
  }

  @Test("A store of the schema passes")
  func passes() throws {
    let contents = try judged()
    #expect(!contents.isReadOnly && contents.notes.isEmpty && contents.unkept.isEmpty)
    #expect(contents.identifier == file.metadata?.identifier)
    #expect(contents.physical.numbers == [1, 2])
  }

  @Test("Entities have the numbers of the file")
  func numbers() throws {
    let contents = try judged { $0.numbers = ["Parent": 2, "Child": 7, "Other": 1] }
    #expect(contents.physical.numbers[schema.entity(named: "Child")!.index] == 7)
    #expect(refusal { $0.numbers = ["Parent": 1, "Child": 1] }?.code == .unreadable)
    #expect(refusal { $0.numbers = ["Parent": 1, "Child": 0] }?.code == .unreadable)
    let error = refusal { $0.numbers = ["Parent": 1] }
    #expect(error?.code == .unreadable && error?.entity == "Child")
    #expect(error?.message.contains("Z_PRIMARYKEY has no row with the Z_NAME Child") == true)
  }

  @Test("What is no store is refused")
  func noStore() {
    #expect(refusal { $0.isEmpty = true }?.message.contains("without tables") == true)
    #expect(refusal { $0.metadata = nil }?.message.contains("no table Z_METADATA") == true)
    #expect(refusal { $0.numbers = nil }?.message.contains("no table Z_PRIMARYKEY") == true)
  }

  @Test("Hashes decide where both sides have them")
  func hashes() throws {
    func set(_ value: StoreMetadata.Value?, _ key: String) -> (inout FileContents) -> Void {
      { $0.metadata?.values.values[key] = value }
    }
    let other = refusal(
      set(.dictionary(["Parent": .data([1]), "Child": .data([9])]), StoreMetadata.hashesKey))
    #expect(other?.code == .incompatibleSchema && other?.entity == "Child")
    let more = refusal(
      set(
        .dictionary(["Parent": .data([1]), "Child": .data([2]), "Extra": .data([3])]), StoreMetadata.hashesKey
      ))
    #expect(more?.entity == "Extra")
    #expect(refusal(set(.integer(4), StoreMetadata.hashesVersionKey))?.code == .unreadable)
    _ = try judged(set(nil, StoreMetadata.hashesKey))
  }

  @Test("Tables and columns have to be there")
  func columns() {
    let table = refusal { $0.tables["ZCHILD"] = nil }
    #expect(table?.code == .incompatibleSchema && table?.entity == "Child")
    let column = refusal { $0.tables["ZCHILD"]?.columns["ZNAME"] = nil }
    #expect(column?.entity == "Child" && column?.properties == ["name"])
    let key = refusal { $0.tables["ZCHILD"]?.columns["Z_PK"] = .init(isKey: false) }
    #expect(key?.message.contains("lacks Core Data's own columns") == true)
    let join = refusal { file in
      for name in file.tables.keys where name.hasPrefix("Z_1") || name.hasPrefix("Z_2") {
        file.tables[name] = nil
      }
    }
    #expect(join?.code == .incompatibleSchema)
  }

  @Test("A store with another's trigger is read only, and a lost trigger of Core Data's is noticed")
  func triggers() throws {
    let foreign = try judged { $0.triggers.append(.init(name: "audit", table: "ZCHILD")) }
    #expect(foreign.isReadOnly && foreign.notes.first?.contains("audit") == true)
    #expect(try !judged { $0.triggers.append(.init(name: "audit", table: "elsewhere")) }.isReadOnly)
    #expect(try judged { $0.triggers.append(.init(name: "Z_RT_x", table: "ZCHILD")) }.hasSpatialTriggers)
    #expect(try judged { $0.triggers = [] }.unkept.map(\.attribute) == ["childCount"])
  }
}

/// Two entities with a reference, a join table and a derived attribute.
private enum Parent {
  static let schema = StoreSchema(entities: [
    StoreEntity(
      name: "Parent",
      attributes: [
        StoreAttribute(name: "childCount", type: .integer64, derivation: .count(relationship: "children"))
      ],
      relationships: [
        StoreRelationship(name: "children", destination: "Child", inverse: "parent", isToMany: true),
        StoreRelationship(name: "friends", destination: "Parent", inverse: "friends", isToMany: true),
      ], versionHash: [1]),
    StoreEntity(
      name: "Child", attributes: [StoreAttribute(name: "name", type: .string)],
      relationships: [
        StoreRelationship(name: "parent", destination: "Parent", inverse: "children", isToMany: false)
      ], versionHash: [2]),
  ])
}
