import CDEManagedModel
import CDEModelRuntime
@_spi(CDE) import CDESQLiteFaults
import Foundation
import Testing

/// The numbers that applications test for, and SQLite's under `NSSQLiteErrorDomain`.
@Suite("Numbers of errors that concern a store's file", .onSQLite)
struct ErrorNumberTests {
  private let folder = ProcessFolder.newURL()

  private func model(_ names: String...) -> NSManagedObjectModel {
    CDEModelRuntimeTests.model(entity("Thing", nil, names.map { attribute($0, .stringAttributeType) }))
  }

  private func open(
    _ url: URL, _ model: NSManagedObjectModel? = nil,
    _ change: (NSPersistentStoreDescription) -> Void = { _ in }
  ) throws -> NSPersistentContainer {
    let container = NSPersistentContainer(name: "Test", managedObjectModel: model ?? self.model("name"))
    let description = NSPersistentStoreDescription(url: url)
    change(description)
    container.persistentStoreDescriptions = [description]
    var failure: (any Error)?
    container.loadPersistentStores { failure = $1 }
    if let failure { throw failure }
    return container
  }

  @discardableResult
  private func expect(
    _ number: Int, sqlite: Int? = nil, _ place: SourceLocation = #_sourceLocation, _ body: () throws -> Void
  ) -> NSError? {
    let error = #expect(throws: (any Error).self, sourceLocation: place, performing: body)
    let found = error.map { $0 as NSError }
    #expect(found?.domain == NSCocoaErrorDomain, sourceLocation: place)
    #expect(found?.code == number, "\(error.map { "\($0)" } ?? "")", sourceLocation: place)
    #expect(found?.userInfo["NSSQLiteErrorDomain"] as? Int == sqlite, sourceLocation: place)
    return found
  }

  @Test("A file that is missing, is no database, or is a folder")
  func files() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    expect(260) {
      _ = try open(folder.appendingPathComponent("Missing.sqlite")) { $0.isReadOnly = true }
    }
    let text = folder.appendingPathComponent("Text.sqlite")
    try Data("This is no database, and long enough to be one.".utf8).write(to: text)
    let corrupt = expect(259, sqlite: 26) { _ = try open(text) }
    #expect(corrupt?.userInfo[NSFilePathErrorKey] as? String == text.path)
    expect(256, sqlite: 14) { _ = try open(folder) }
    // The coordinator makes no folder, a container does.
    for path in ["Text.sqlite/New.sqlite", "Text.sqlite/sub/New.sqlite"] {
      expect(256, sqlite: 14) { _ = try open(folder.appendingPathComponent(path)) }
      expect(256, sqlite: 14) { try add(folder.appendingPathComponent(path)) }
    }
    expect(256, sqlite: 14) { try add(folder.appendingPathComponent("missing/New.sqlite")) }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["Text.sqlite"])
  }

  private func add(_ url: URL) throws {
    try NSPersistentStoreCoordinator(managedObjectModel: model("name")).addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: url)
  }

  @Test("A path that is too long, and links that lead nowhere")
  func paths() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let manager = FileManager.default
    for (name, target) in [("loop.sqlite", "loop.sqlite"), ("gone", "missing")] {
      try manager.createSymbolicLink(
        atPath: folder.appendingPathComponent(name).path, withDestinationPath: target)
    }
    expect(258, sqlite: 14) {
      _ = try open(folder.appendingPathComponent(String(repeating: "f/", count: 250) + "New.sqlite"))
    }
    expect(258, sqlite: 14) {
      _ = try open(folder.appendingPathComponent(String(repeating: "n", count: 256)))
    }
    expect(256, sqlite: 14) { _ = try open(folder.appendingPathComponent("loop.sqlite")) }
    expect(256, sqlite: 14) { _ = try open(folder.appendingPathComponent("gone/New.sqlite")) }
    #expect(try manager.contentsOfDirectory(atPath: folder.path).sorted() == ["gone", "loop.sqlite"])
  }

  @Test("A disk that has no space, when the store is made and when it is saved to")
  func fullDisk() throws {
    let url = folder.appendingPathComponent("Test.sqlite")
    let faults = StoreFaults()
    faults.begin(.always(.diskFull))
    expect(640, sqlite: 13) {
      _ = try open(url) { $0.setOption(faults.vfs, forKey: CDESQLiteVFSOption) }
    }
    faults.end()
    let container = try open(url) { $0.setOption(faults.vfs, forKey: CDESQLiteVFSOption) }
    let context = container.newBackgroundContext()
    try context.performAndWait {
      context.make("Thing")
      faults.begin(.always(.diskFull))
      expect(640, sqlite: 13) { try context.save() }
      faults.end()
      // What the save left can be saved again.
      try context.save()
    }
    try container.close()
  }

  @Test(
    "A folder that may not be written", .enabled(if: getuid() != 0, "The superuser may write everywhere."))
  func folders() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: folder.path)
    defer { try? FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path) }
    expect(513, sqlite: 14) { _ = try open(folder.appendingPathComponent("New.sqlite")) }
    expect(513, sqlite: 14) { _ = try open(folder.appendingPathComponent("sub/New.sqlite")) }
  }

  @Test("A save to a store that is open for reading")
  func readOnly() throws {
    let url = folder.appendingPathComponent("Test.sqlite")
    try open(url).close()
    let container = try open(url) { $0.isReadOnly = true }
    expect(642) {
      let context = container.newBackgroundContext()
      try context.performAndWait {
        context.make("Thing")
        try context.save()
      }
    }
  }

  @Test("A model that does not fit, without and with a migration")
  func models() throws {
    let url = folder.appendingPathComponent("Test.sqlite")
    let first = try open(url)
    try first.work { context in
      context.make("Thing", ["name": "a"])
      try context.save()
    }
    try first.close()
    let refused = expect(134100) {
      _ = try open(url, model("name", "other")) { $0.shouldMigrateStoreAutomatically = false }
    }
    let metadata = try #require(refused?.userInfo["metadata"] as? [String: Any])
    #expect(metadata[NSStoreUUIDKey] as? String != nil)
    #expect((metadata["NSStoreModelVersionHashes"] as? [String: Data])?.keys.sorted() == ["Thing"])
    #expect(refused?.userInfo["reason"] as? String != nil)
    #expect(refused?.userInfo[NSFilePathErrorKey] as? String == url.path)
    expect(134140) {
      _ = try open(url, model("name", "other")) { $0.shouldInferMappingModelAutomatically = false }
    }
    let required = model("name", "other")
    required.entitiesByName["Thing"]?.attributesByName["other"]?.isOptional = false
    expect(134110) { _ = try open(url, required) }
    let types = model("name")
    types.entitiesByName["Thing"]?.attributesByName["name"]?.attributeType = .integer16AttributeType
    expect(134190) { _ = try open(url, types) }
  }
}
