import CDEManagedModel
import CDEModelRuntime
@_spi(CDE) import CDESQLiteFaults
import CDETestSupport
import CDETesting
import Foundation
import Testing

private let folder = ProcessFolder.url.appendingPathComponent("cde-places")

@Suite("Where a test's store is", .inMemory, .store(Note.self, Label.self))
struct StorePlaceTests {
  var store: NSPersistentStore { TestStore.current.container.persistentStoreCoordinator.persistentStores[0] }

  var pragmas: [String: String] {
    TestStore.current.container.persistentStoreDescriptions[0].sqlitePragmas
  }

  @Test("A suite's stores are in memory where it says so, before or behind .store", arguments: 0..<3)
  func memory(number: Int) async throws {
    #expect(store.type == NSInMemoryStoreType)
    #expect(store.url == nil)
    let container = TestStore.current.container
    #expect(try await container.titles() == [])
    try await container.addNote("\(number)")
    #expect(try await container.titles() == ["\(number)"])
  }

  @Test("A test's own word counts more than its suite's", .onDisk)
  func disk() async throws {
    #expect(store.type == NSSQLiteStoreType)
    let path = try #require(store.url).path
    try await TestStore.current.container.addNote("x")
    #expect(FileManager.default.fileExists(atPath: path + "-wal"))
    #expect(pragmas == ["synchronous": "OFF"])
  }

  @Test("A test's .store behind its place has it too", .onDisk(folder: folder), .store(Plain.self))
  func order() throws {
    #expect(store.url?.deletingLastPathComponent().lastPathComponent == "cde-places")
    #expect(TestStore.current.container.managedObjectModel.entities.map(\.name) == ["Plain"])
  }

  @Test("Commits wait for the disk where the test wants it", .onDisk(durability: .full))
  func durability() async throws {
    #expect(pragmas == ["synchronous": "FULL"])
    try await TestStore.current.container.addNote("x")
    #expect(try await TestStore.current.container.titles() == ["x"])
  }

  @Test("What a failed test had in memory is written to a file")
  func remains() async throws {
    let scope = try TestStoreScope(
      model: .makeRuntimeModel(Note.self, Label.self), options: TestStoreOptions(place: .inMemory))
    scope.begin()
    try await scope.container.addNote("kept")
    let remains = try scope.keep()
    #expect(try await NSPersistentContainer.reading(remains.store).titles() == ["kept"])
    #expect(!FileManager.default.fileExists(atPath: remains.store.path + "-wal"))
    #expect(try String(contentsOf: remains.log, encoding: .utf8).contains("INSERT INTO"))
    for file in [remains.store, remains.log] { try FileManager.default.removeItem(at: file) }
  }
}

extension NSPersistentContainer {
  /// A container of notes over a file that is only read.
  static func reading(_ file: URL) throws -> NSPersistentContainer {
    let container = NSPersistentContainer(
      name: "Reading", managedObjectModel: try .makeRuntimeModel(Note.self, Label.self))
    let description = NSPersistentStoreDescription(url: file)
    description.isReadOnly = true
    container.persistentStoreDescriptions = [description]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    return container
  }
}
