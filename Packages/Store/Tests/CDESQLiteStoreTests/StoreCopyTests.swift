@_spi(CDE) import CDESQLiteStore
import CDEStore
import Foundation
import Testing

@Suite("Copies of stores")
struct StoreCopyTests {
  @Test("A copy is one file with all rows, from a file as from memory", arguments: [true, false])
  func copy(inMemory: Bool) throws {
    let scratch = Scratch()
    let location: SQLiteStore.Configuration.Location =
      inMemory ? .inMemory(name: UUID().uuidString) : .file(path: scratch.file())
    let store = try SQLiteStore(
      schema: Shop.schema, configuration: SQLiteStore.Configuration(location: location))
    try store.insert("Tag", (1...3).map { Draft(key: -$0, values: ["name": .text("t\($0)")]) })
    let path = scratch.file("Copy of it.sqlite")
    try store.copy(to: path)
    try store.close()
    #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
    #expect(sql(path, "SELECT ZNAME FROM ZTAG ORDER BY Z_PK") == [["t1"], ["t2"], ["t3"]])
    let reopened = try SQLiteStore.file(path, Shop.schema)
    #expect(try reopened.count(StoreQuery(entity: reopened.index("Tag"))) == 3)
    #expect(reopened.identifier == store.identifier)
  }

  @Test("A copy overwrites nothing, and says so")
  func refusal() throws {
    let scratch = Scratch()
    let store = try SQLiteStore.file(scratch.file(), Shop.schema)
    try Data("mine".utf8).write(to: URL(fileURLWithPath: scratch.file("Taken.sqlite")))
    let error = #expect(throws: StoreError.self) { try store.copy(to: scratch.file("Taken.sqlite")) }
    #expect(error?.message.isEmpty == false)
    #expect(scratch.bytes("Taken.sqlite") == Data("mine".utf8))
  }
}
