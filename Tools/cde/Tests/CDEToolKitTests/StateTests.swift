@_spi(CDE) import CDEStore
import CoreDataEvolution
@_spi(CDE) import CDESQLiteFaults
import Foundation
import SystemSQLite
import Testing

@testable import CDEToolKit

@Suite("One state of a store while others commit")
struct StateTests {
  private func exported(_ library: Library, during body: () throws -> Void = {}) throws -> String {
    var text = ""
    var isFirst = true
    try StoreExport(try OpenedStore(library.place)).write { part in
      text += part
      guard text.contains("\"Book\""), isFirst else { return }
      isFirst = false
      try body()
    }
    return text
  }

  private func deleteAll(_ entity: String, in container: NSPersistentContainer) throws {
    let context = container.newBackgroundContext()
    try context.performAndWait {
      for object in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity)) {
        context.delete(object)
      }
      try context.save()
    }
  }

  @Test("An export of a store that an app has open is of the state before its later commits")
  func export() throws {
    let library = try Library()
    defer { library.remove() }
    let app = try Library.container(at: library.url)
    let before = try exported(library)
    #expect(before.contains("engines"))
    #expect(try exported(library) { try deleteAll("Tag", in: app) } == before)
    #expect(try !exported(library).contains("engines"))
    try app.persistentStoreCoordinator.remove(app.persistentStoreCoordinator.persistentStores[0])
  }

  @Test("An export of a store that an app opens and changes meanwhile ends with an error")
  func opened() throws {
    let library = try Library()
    defer { library.remove() }
    let error = #expect(throws: ToolError.self) {
      _ = try exported(library) {
        try Library.write(at: library.url) { _ = Library.insert("Tag", ["name": "new"], $0) }
      }
    }
    #expect(error?.message.contains("Try again") == true)
    #expect(try exported(library).contains("new"))
  }

  @Test("An object that is deleted while its IDs are read is an error")
  func deleted() throws {
    let library = try Library()
    defer { library.remove() }
    let store = try OpenedStore(library.place, readsOneState: false)
    let ids = try store.objectIDs(of: try store.entity(named: "Tag"))
    #expect(try store.read { try store.objects(ids, in: $0).count } == ids.count)
    try deleteAll("Tag", in: try Library.container(at: library.url))
    let error = #expect(throws: ToolError.self) {
      try store.read { context in
        try store.empty(context)
        _ = try store.objects(ids, in: context)
      }
    }
    #expect(error?.message.contains("was deleted while the store was read") == true)
  }

  @Test("An export says which values it could not read")
  func unread() throws {
    let library = try Library { context in
      _ = Library.insert("Book", ["title": "A", "cover": Data(repeating: 7, count: 300_000)], context)
      _ = Library.insert("Book", ["title": "B", "cover": Data(repeating: 8, count: 30)], context)
    }
    defer { library.remove() }
    let export = StoreExport(try OpenedStore(library.place))
    try export.write { _ in }
    #expect(export.loss == nil)
    try FileManager.default.removeItem(at: library.folder.appendingPathComponent(".Library_SUPPORT"))
    let other = StoreExport(try OpenedStore(library.place))
    var text = ""
    try other.write { text += $0 }
    #expect(text.contains("\"B\""))
    #expect(
      other.loss?.hasPrefix("Values that could not be read were written as empty: Book.cover (1).") == true)
  }

  @Test(
    "A command that writes keeps the rollback journal of a store, and the log of another",
    arguments: [true, false])
  func journals(usesLog: Bool) throws {
    let library = try Library()
    defer { library.remove() }
    if !usesLog {
      var database: OpaquePointer?
      #expect(sqlite3_open(library.url.path, &database) == SQLITE_OK)
      #expect(sqlite3_exec(database, "PRAGMA journal_mode = DELETE", nil, nil, nil) == SQLITE_OK)
      sqlite3_close(database)
    }
    let records = library.folder.appendingPathComponent("tags.json")
    try Data(#"{"entities":{"Tag":[{"name":"imported"}]}}"#.utf8).write(to: records)
    _ = try StoreImport(library.place).answer(records)
    #expect(try Data(contentsOf: library.url)[18] == (usesLog ? 2 : 1))
    #expect(try exported(library).contains("imported"))
  }

  @Test(
    "Folders of commands that were interrupted are removed by the next one, and those of running ones stay")
  func interrupted() throws {
    let parent = FileManager.default.temporaryDirectory
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/true")
    try process.run()
    process.waitUntilExit()
    let left = parent.appendingPathComponent("cde-copy-\(process.processIdentifier)-left")
    let used = parent.appendingPathComponent("cde-copy-\(getpid())-used")
    for folder in [left, used] {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }
    let new = TemporaryFolder.newURL(prefix: "cde-copy-")
    #expect(
      !FileManager.default.fileExists(atPath: left.path) && FileManager.default.fileExists(atPath: used.path))
    #expect(new.lastPathComponent.hasPrefix("cde-copy-\(getpid())-"))
    try FileManager.default.removeItem(at: used)
  }

  @Test("Each line of a session reads what is committed then")
  func lines() throws {
    let library = try Library()
    defer { library.remove() }
    let session = QuerySession(try OpenedStore(library.place))
    func count() throws -> JSONValue? {
      guard case .answer(let answer) = try session.run("count Tag") else { return nil }
      return answer.json
    }
    let before = try #require(try count())
    try Library.write(at: library.url) { _ = Library.insert("Tag", ["name": "first"], $0) }
    #expect(try count() != before)
    try deleteAll("Tag", in: try Library.container(at: library.url))
    #expect(try count() == .int(0))
  }
}
