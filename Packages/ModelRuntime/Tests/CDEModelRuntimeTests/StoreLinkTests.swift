import CDEManagedModel
import CDEModelRuntime
@_spi(CDE) import CDESQLiteFaults
import Foundation
import Testing

/// Core Data's documentation says nothing of symbolic links. SQLite follows them, and keeps its files beside the linked one.
@Suite("Stores behind symbolic links", .onSQLite)
struct StoreLinkTests {
  private static let large = Data(repeating: 7, count: 300_000)
  private let folder = ProcessFolder.newURL()
  private var link: URL { folder.appendingPathComponent("links/Link.sqlite") }
  private var file: URL { folder.appendingPathComponent("data/Test.sqlite") }

  /// A link to a file that is not there yet.
  init() throws {
    for place in [link, file] {
      try FileManager.default.createDirectory(
        at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
    }
    try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "../data/Test.sqlite")
  }

  private func model(_ names: String...) -> NSManagedObjectModel {
    let blob = attribute("blob", .binaryDataAttributeType)
    blob.allowsExternalBinaryDataStorage = true
    return CDEModelRuntimeTests.model(
      entity("Note", nil, [blob] + (["text"] + names).map { attribute($0, .stringAttributeType) }))
  }

  private func open(_ url: URL, _ model: NSManagedObjectModel? = nil) throws -> NSPersistentContainer {
    let container = NSPersistentContainer(name: "Test", managedObjectModel: model ?? self.model())
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
    var failure: (any Error)?
    container.loadPersistentStores { failure = $1 }
    if let failure { throw failure }
    return container
  }

  private func save(_ text: String, in container: NSPersistentContainer) throws {
    try container.work { context in
      context.make("Note", ["text": text, "blob": Self.large])
      try context.save()
    }
  }

  private func texts(_ container: NSPersistentContainer) throws -> [String] {
    try container.work { context in
      try context.all("Note", sort: "text").map { note in
        #expect(note.value(forKey: "blob") as? Data == Self.large)
        return note.value(forKey: "text") as? String ?? ""
      }
    }
  }

  private func names(_ url: URL) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: url.deletingLastPathComponent().path).sorted()
  }

  @Test("The store opens by its link again, and its URL is the link's")
  func opening() throws {
    for text in ["a", "b"] {
      let container = try open(link)
      #expect(container.persistentStoreCoordinator.persistentStores[0].url == link)
      try save(text, in: container)
      try container.close()
    }
    #expect(try texts(open(file)) == ["a", "b"])
    #expect(try names(link) == ["Link.sqlite"])
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      ofType: NSSQLiteStoreType, at: link)
    try NSPersistentStoreCoordinator.setMetadata(
      ["key": "value"], forPersistentStoreOfType: NSSQLiteStoreType, at: link)
    let changed = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      ofType: NSSQLiteStoreType, at: file)
    #expect(changed[NSStoreUUIDKey] as? String == metadata[NSStoreUUIDKey] as? String)
    #expect(changed["key"] as? String == "value")
  }

  @Test("Containers by the link and by the file's own path see each other's saves")
  func together() throws {
    let (first, second) = (try open(link), try open(file))
    try save("a", in: first)
    try save("b", in: second)
    #expect(try texts(first) == ["a", "b"])
    #expect(try texts(second) == ["a", "b"])
  }

  @Test("A store is migrated behind its link")
  func migrating() throws {
    let old = try open(link)
    try save("a", in: old)
    try old.close()
    let new = try open(link, model("other"))
    #expect(try texts(new) == ["a"])
    try new.close()
    #expect(try names(link) == ["Link.sqlite"])
    #expect(try names(file) == [".Test_SUPPORT", "Test.sqlite"])
    #expect(try texts(open(file, model("other"))) == ["a"])
  }

  @Test("Destroying a store by its link deletes the files behind it, and the link can be used again")
  func destroying() throws {
    let container = try open(file)
    try save("a", in: container)
    let coordinator = container.persistentStoreCoordinator
    try coordinator.destroyPersistentStore(at: link, ofType: NSSQLiteStoreType)
    #expect(coordinator.persistentStores.isEmpty)
    #expect(try names(file).isEmpty)
    #expect(try names(link) == ["Link.sqlite"])
    try coordinator.destroyPersistentStore(at: link, ofType: NSSQLiteStoreType)
    let again = try open(link)
    #expect(try texts(again).isEmpty)
    try save("b", in: again)
    try again.persistentStoreCoordinator.destroyPersistentStore(at: file, ofType: NSSQLiteStoreType)
    #expect(again.persistentStoreCoordinator.persistentStores.isEmpty)
    #expect(try names(file).isEmpty)
  }

  @Test("Replacing by links takes the linked files, and the links stay")
  func replacing() throws {
    let other = folder.appendingPathComponent("data/Other.sqlite")
    let otherLink = folder.appendingPathComponent("links/Other.sqlite")
    try FileManager.default.createSymbolicLink(atPath: otherLink.path, withDestinationPath: other.path)
    let target = try open(link)
    try save("old", in: target)
    let source = try open(other)
    try save("new", in: source)
    let coordinator = target.persistentStoreCoordinator
    // A store is not replaced by itself.
    try coordinator.replacePersistentStore(
      at: file, withPersistentStoreFrom: link, ofType: NSSQLiteStoreType)
    #expect(try texts(target) == ["old"])
    try coordinator.replacePersistentStore(
      at: link, withPersistentStoreFrom: otherLink, ofType: NSSQLiteStoreType)
    #expect(coordinator.persistentStores.isEmpty)
    #expect(try texts(source) == ["new"])
    try source.close()
    #expect(try texts(open(file)) == ["new"])
    #expect(try texts(open(link)) == ["new"])
    #expect(try names(link) == ["Link.sqlite", "Other.sqlite"])
    for place in [link, otherLink] {
      #expect((try? FileManager.default.destinationOfSymbolicLink(atPath: place.path)) != nil)
    }
  }

  @Test("A store moves to where a link leads")
  func moving() throws {
    let start = folder.appendingPathComponent("data/Start.sqlite")
    let container = try open(start)
    try save("a", in: container)
    let coordinator = container.persistentStoreCoordinator
    let moved = try coordinator.migratePersistentStore(
      coordinator.persistentStores[0], to: link, withType: NSSQLiteStoreType)
    #expect(moved.url == link)
    #expect(try texts(container) == ["a"])
    try container.close()
    #expect(try names(link) == ["Link.sqlite"])
    #expect(try texts(open(file)) == ["a"])
  }
}
