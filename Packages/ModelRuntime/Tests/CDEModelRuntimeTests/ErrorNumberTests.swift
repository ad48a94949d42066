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

  private func expect(
    _ number: Int, sqlite: Int? = nil, _ place: SourceLocation = #_sourceLocation, _ body: () throws -> Void
  ) {
    let error = #expect(throws: (any Error).self, sourceLocation: place, performing: body)
    let found = error.map { $0 as NSError }
    #expect(found?.domain == NSCocoaErrorDomain, sourceLocation: place)
    #expect(found?.code == number, "\(error.map { "\($0)" } ?? "")", sourceLocation: place)
    #expect(found?.userInfo["NSSQLiteErrorDomain"] as? Int == sqlite, sourceLocation: place)
  }

  @Test("A file that is missing, is no database, or is a folder")
  func files() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    expect(260) {
      _ = try open(folder.appendingPathComponent("Missing.sqlite")) { $0.isReadOnly = true }
    }
    let text = folder.appendingPathComponent("Text.sqlite")
    try Data("This is no database, and long enough to be one.".utf8).write(to: text)
    expect(259, sqlite: 26) { _ = try open(text) }
    expect(256, sqlite: 14) { _ = try open(folder) }
  }

  @Test(
    "A folder that may not be written", .enabled(if: getuid() != 0, "The superuser may write everywhere."))
  func folders() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: folder.path)
    defer { try? FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path) }
    expect(513, sqlite: 14) { _ = try open(folder.appendingPathComponent("New.sqlite")) }
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
    expect(134100) {
      _ = try open(url, model("name", "other")) { $0.shouldMigrateStoreAutomatically = false }
    }
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
