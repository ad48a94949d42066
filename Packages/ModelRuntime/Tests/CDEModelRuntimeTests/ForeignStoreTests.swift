import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

/// What other programs' stores have and ours do not: transformers and tables that are unknown here, other names.
@Suite("Stores of other programs", .onSQLite)
struct ForeignStoreTests {
  private func store(history: Bool = false) throws -> Stack {
    let color = attribute("color", .transformableAttributeType)
    color.valueTransformerName = "ElsewhereColorTransformer"
    let note = entity("Note", nil, [attribute("text", .stringAttributeType), color])
    let tag = entity("Tag", nil, [attribute("name", .stringAttributeType)])
    connect(.many(note, "tags", ordered: true), .many(tag, "notes"))
    let stack = try Stack(model: model(note, tag))
    if history {
      let coordinator = stack.container.persistentStoreCoordinator
      try coordinator.remove(coordinator.persistentStores[0])
      try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: stack.file,
        options: [NSPersistentHistoryTrackingKey: true])
    }
    let context = stack.context()
    let tags = (0..<3).map { context.make("Tag", ["name": "t\($0)"]) }
    for index in 0..<2 {
      context.make("Note", ["text": "n\(index)", "tags": NSOrderedSet(array: tags)])
    }
    try context.save()
    try stack.close()
    try stack.sql("UPDATE ZNOTE SET ZCOLOR = X'00FF'")
    return stack
  }

  private func opened(_ stack: Stack) throws -> NSPersistentContainer {
    let container = try NSPersistentContainer(modelCachedInStoreAt: stack.file)
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    return container
  }

  @Test("A value whose transformer is unknown reads as its bytes, survives other changes and can be copied")
  func undecoded() throws {
    let stack = try store()
    let context = try opened(stack).newBackgroundContext()
    let note = try #require(try context.all("Note", sort: "text").first)
    let color = try #require(note.value(forKey: "color") as? UndecodedValue)
    #expect(color.data == Data([0, 255]))
    #expect(color.transformerName == "ElsewhereColorTransformer")
    #expect(color.reason.contains("Note.color"))
    note.setValue("changed", forKey: "text")
    context.make("Note", ["text": "copy", "color": color])
    try context.save()
    #expect(
      try stack.sql("SELECT ZTEXT, hex(ZCOLOR) FROM ZNOTE ORDER BY 1")
        == [["changed", "00FF"], ["copy", "00FF"], ["n1", "00FF"]])
    let request = NSFetchRequest<NSDictionary>(entityName: "Note")
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = ["color"]
    #expect(try context.fetch(request).compactMap { $0["color"] as? UndecodedValue }.count == 3)
    // Any other value still needs the transformer.
    note.setValue("red", forKey: "color")
    let error = #expect(throws: ManagedObjectError.self) { try context.save() }
    #expect(error?.property == "color")
  }

  @Test("Tables, columns and metadata of others stay as they are when the store is written")
  func strangers() throws {
    let stack = try store(history: true)
    try stack.sql("CREATE TABLE ANSCKEVENT ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER )")
    try stack.sql("INSERT INTO ANSCKEVENT VALUES (1, 17002, 1)")
    try stack.sql("INSERT INTO Z_PRIMARYKEY VALUES (17002, 'NSCKEvent', 0, 1)")
    try stack.sql("ALTER TABLE ZNOTE ADD COLUMN ZCKRECORD BLOB")
    try stack.sql("UPDATE ZNOTE SET ZCKRECORD = X'AB'")
    let before = try stack.sql("SELECT type, name, sql FROM sqlite_master ORDER BY 2")
    let metadata = try stack.sql("SELECT Z_UUID, hex(Z_PLIST) FROM Z_METADATA")
    let transactions = try stack.sql("SELECT COUNT(*) FROM ATRANSACTION")
    let container = try opened(stack)
    #expect(!container.persistentStoreCoordinator.persistentStores[0].isReadOnly)
    let context = container.newBackgroundContext()
    for note in try context.all("Note") { note.setValue("changed", forKey: "text") }
    try context.save()
    #expect(try stack.sql("SELECT type, name, sql FROM sqlite_master ORDER BY 2") == before)
    #expect(try stack.sql("SELECT Z_UUID, hex(Z_PLIST) FROM Z_METADATA") == metadata)
    #expect(try stack.sql("SELECT * FROM ANSCKEVENT") == [["1", "17002", "1"]])
    #expect(try stack.sql("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = 17002") == [["1"]])
    #expect(try stack.sql("SELECT DISTINCT ZTEXT, hex(ZCKRECORD) FROM ZNOTE") == [["changed", "AB"]])
    // The commit is in the history, because the store has one.
    #expect(try stack.sql("SELECT COUNT(*) FROM ATRANSACTION") != transactions)
  }

  @Test("An entity that a migration has left under its old name in Z_PRIMARYKEY is found by its number")
  func renamed() throws {
    let stack = try store()
    try stack.sql("UPDATE Z_PRIMARYKEY SET Z_NAME = 'Memo' WHERE Z_NAME = 'Note'")
    let context = try opened(stack).newBackgroundContext()
    #expect(try context.all("Note").count == 2)
    context.make("Note")
    try context.save()
    #expect(
      try stack.sql("SELECT Z_ENT, Z_NAME, Z_MAX FROM Z_PRIMARYKEY ORDER BY 1")
        == [["1", "Memo", "3"], ["2", "Tag", "3"]])
  }

  @Test("A join table is found by its columns, and its columns by their names without a suffix")
  func joinTables() throws {
    let stack = try store()
    let table = try stack.sql(
      "SELECT name FROM sqlite_master WHERE name LIKE 'Z\\_1%' ESCAPE '\\' AND type = 'table'")
    let name = try #require(table.first?.first)
    try stack.sql("ALTER TABLE \(name) RENAME TO Z_1OTHER")
    func tags() throws -> [[String?]] {
      let context = try opened(stack).newBackgroundContext()
      return try context.all("Note", sort: "text").map { note in
        note.list("tags").map { $0.value(forKey: "name") as? String }
      }
    }
    #expect(try tags() == [["t0", "t1", "t2"], ["t0", "t1", "t2"]])
    try stack.sql("ALTER TABLE Z_1OTHER RENAME TO \(name)")
    for column in ["Z_1NOTES", "Z_2TAGS", "Z_FOK_2TAGS"] {
      try stack.sql("ALTER TABLE \(name) RENAME COLUMN \(column) TO \(column)1")
    }
    #expect(try tags() == [["t0", "t1", "t2"], ["t0", "t1", "t2"]])
    try stack.sql("ALTER TABLE \(name) RENAME COLUMN Z_2TAGS1 TO Z_2LABELS")
    let error = #expect(throws: (any Error).self) { _ = try opened(stack) }
    #expect("\(error.map { "\($0)" } ?? "")".contains("has no column Z_2TAGS"))
  }
}
