@_spi(CDE) import CDESQLiteFaults
import CDEManagedModel
import CDEModelRuntime
import CDEStore
import Foundation
import Testing

@Suite("Damaged stores", .onSQLite)
struct SalvagedStoreTests {
  private func store() throws -> Stack {
    let stack = try Stack(model: CachedModelTests.library())
    let context = stack.context()
    let author = context.make("Author", ["name": "Ada"])
    for index in 0..<300 {
      context.make(
        index % 2 == 0 ? "Work" : "Novel",
        ["title": "w\(index) " + String(repeating: "x", count: 100), "scan": Data([1, 2]), "author": author])
    }
    try context.save()
    try stack.close()
    return stack
  }

  /// Sets a page to zero.
  private func destroy(_ page: Int, of file: URL) throws {
    var data = try Data(contentsOf: file)
    data.replaceSubrange((page - 1) * 4096..<page * 4096, with: Data(count: 4096))
    try data.write(to: file)
  }

  private func opened(_ file: URL) throws -> NSPersistentContainer {
    let container = try NSPersistentContainer(modelCachedInStoreAt: file)
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    return container
  }

  @Test("Objects keep their IDs in the new store, which opens with the copied model")
  func salvaging() throws {
    let stack = try store()
    let root = try #require(
      Int(try stack.sql("SELECT rootpage FROM sqlite_master WHERE name = 'ZWORK'")[0][0]))
    let identifier = try stack.sql("SELECT Z_UUID FROM Z_METADATA")
    try destroy(root, of: stack.file)
    // SQLite reads none of the rows any more. The error says of what, and in which file.
    let damaged = try opened(stack.file)
    let broken = damaged.newBackgroundContext()
    let error = #expect(throws: ManagedObjectError.self) { _ = try broken.all("Work") }
    #expect(error?.message.contains("Work") == true)
    #expect(error?.message.contains(stack.file.path) == true)
    for store in damaged.persistentStoreCoordinator.persistentStores {
      try damaged.persistentStoreCoordinator.remove(store)
    }
    let rescued = stack.folder.appendingPathComponent("Rescued.sqlite")
    let report = try NSPersistentStoreCoordinator.salvagePersistentStore(at: stack.file, to: rescued)
    #expect(report.tables.first { $0.name == "ZWORK" }?.rows == 300)
    #expect(report.damages.map(\.page) == [root])
    #expect(report.losses.isEmpty)
    #expect(try RawSQLite(rescued.path).run("SELECT Z_UUID FROM Z_METADATA") == identifier)
    let container = try opened(rescued)
    let context = container.newBackgroundContext()
    let author = try #require(try context.all("Author").first)
    #expect(author.set("works").count == 300)
    #expect(author.objectID.uriRepresentation().path == "/Author/p1")
  }

  @Test(
    "A store without its property list opens for reading, if it has a copy of its model, and salvage makes a whole one of it"
  )
  func lostMetadata() throws {
    let stack = try store()
    _ = try stack.sql("UPDATE Z_METADATA SET Z_PLIST = NULL")
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      ofType: NSSQLiteStoreType, at: stack.file)
    #expect(metadata[NSStoreUUIDKey] as? String == (try stack.sql("SELECT Z_UUID FROM Z_METADATA")[0][0]))
    for container in [try opened(stack.file), try Stack.open(stack.file, CachedModelTests.library())] {
      let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
      #expect(store.isReadOnly)
      let context = container.newBackgroundContext()
      #expect(try context.all("Author").first?.set("works").count == 300)
      context.make("Author")
      let error = #expect(throws: ManagedObjectError.self) { try context.save() }
      #expect((error as? NSError)?.code == 642)
      try container.close()
    }
    let other = CachedModelTests.library()
    other.entitiesByName["Author"]?.properties.append(attribute("other", .stringAttributeType))
    #expect(throws: ManagedObjectError.self) { try Stack.open(stack.file, other) }
    let rescued = stack.folder.appendingPathComponent("Rescued.sqlite")
    let report = try NSPersistentStoreCoordinator.salvagePersistentStore(at: stack.file, to: rescued)
    #expect(report.notes.contains("The metadata of the application are lost."))
    let container = try opened(rescued)
    let context = container.newBackgroundContext()
    context.make("Author")
    try context.save()
    #expect(try context.all("Author").count == 2)
    try container.close()
    _ = try stack.sql("DELETE FROM Z_MODELCACHE")
    let error = #expect(throws: ManagedObjectError.self) {
      try Stack.open(stack.file, CachedModelTests.library())
    }
    #expect(error?.message.contains("Z_METADATA.Z_PLIST has no property list") == true)
  }

  @Test("With a model that is given, the copy in the file is not needed; without both the error says so")
  func withModel() throws {
    let stack = try store()
    let page = try #require(
      Int(try stack.sql("SELECT rootpage FROM sqlite_master WHERE name = 'Z_MODELCACHE'")[0][0]))
    try destroy(page, of: stack.file)
    let rescued = stack.folder.appendingPathComponent("Rescued.sqlite")
    let error = #expect(throws: ManagedObjectError.self) {
      _ = try NSPersistentStoreCoordinator.salvagePersistentStore(at: stack.file, to: rescued)
    }
    #expect(error?.code == .modelMissing)
    let report = try NSPersistentStoreCoordinator.salvagePersistentStore(
      at: stack.file, to: rescued, model: CachedModelTests.library())
    #expect(report.rowCount == 301)
    #expect(
      try Stack.open(rescued, CachedModelTests.library()).newBackgroundContext().all("Work").count == 300)
    #expect(throws: ManagedObjectError.self, "the destination exists") {
      _ = try NSPersistentStoreCoordinator.salvagePersistentStore(
        at: stack.file, to: rescued, model: CachedModelTests.library())
    }
  }
}
