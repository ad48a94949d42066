import CDECoreData
import CDELogging
@_spi(CDE) import CDESQLiteFaults
import Testing

/// A context as tests of applications write it: it counts what it is asked for.
private final class CountingContext: NSManagedObjectContext, @unchecked Sendable {
  // Guard: used by one test, on one thread.
  var fetches = 0
  var counts = 0
  var waits = 0

  override func _cdFetch(_ request: NSFetchRequest<any NSFetchRequestResult>) throws -> [Any] {
    fetches += 1
    return try super._cdFetch(request)
  }

  override func _cdCount(for request: NSFetchRequest<any NSFetchRequestResult>) throws -> Int {
    counts += 1
    return try super._cdCount(for: request) + 10
  }

  override func performAndWait(_ block: () -> Void) {
    waits += 1
    super.performAndWait(block)
  }

  override var insertedObjects: Set<NSManagedObject> { [] }
  override var updatedObjects: Set<NSManagedObject> { super.updatedObjects }
  override var deletedObjects: Set<NSManagedObject> { super.deletedObjects }
  override var registeredObjects: Set<NSManagedObject> { super.registeredObjects }
  override func registeredObject(for objectID: NSManagedObjectID) -> NSManagedObject? { nil }
}

extension NSPersistentStoreCoordinator {
  fileprivate static func empty() -> NSPersistentStoreCoordinator {
    Self(managedObjectModel: NSManagedObjectModel())
  }
}

@Suite("What published sources say")
struct PublishedSpellings {
  private struct Failure: Error {}

  @Test("A typed fetch and a block with a result call what a subclass overrides")
  func overriddenContext() throws {
    let stack = try Stack()
    let context = CountingContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = stack.container.persistentStoreCoordinator
    let titles = try context.performAndWait { () -> [String] in
      let note = stack.insertNote("A", in: context)
      try context.save()
      #expect(context.registeredObject(for: note.objectID) == nil)
      #expect(context.insertedObjects.isEmpty)
      let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
      #expect(try context.count(for: request) == 11)
      return try context.fetch(request).map { $0.value(forKey: "title") as? String ?? "" }
    }
    #expect(titles == ["A"])
    #expect((context.fetches, context.counts, context.waits) == (1, 1, 1))
    #expect(throws: Failure.self) { try context.performAndWait { throw Failure() } }
    context.performAndWait {}
    #expect(context.waits == 3)
  }

  @Test("A request that was cast fetches, counts and executes, with results of its own type")
  func castRequests() throws {
    let stack = try Stack()
    let context = stack.container.newBackgroundContext()
    try context.performAndWait {
      stack.insertNote("A", in: context)
      try context.save()
      let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
      let cast = request ~!> NSFetchRequest<any NSFetchRequestResult>.self
      let found = try context.fetch(cast)
      #expect(found.map { ($0 as? NSManagedObject)?.value(forKey: "title") as? String } == ["A"])
      #expect(try cast.execute().count == 1)
      #expect(try context.count(for: cast) == 1)
      let back = cast ~!> NSFetchRequest<NSManagedObject>.self
      #expect(try context.fetch(back).first?.value(forKey: "title") as? String == "A")
    }
  }

  @Test("A coordinator is made on a class that is known at run time")
  func metatype() {
    #expect(NSPersistentStoreCoordinator.empty().persistentStores.isEmpty)
  }

  @Test("A localised string without a table is its key with the values")
  func localisedStrings() {
    let english = Locale(identifier: "en_US")
    let (count, name) = (3, "Ada")
    #expect(
      String(localized: "\(count) notes of \(name)", bundle: .main, comment: "A title") == "3 notes of Ada")
    #expect(String(localized: "100 % of \(0.5, specifier: "%.2f")", locale: english) == "100 % of 0.50")
    #expect(String(localized: "Done", table: "Errors") == "Done")
    #expect(String(localized: "notes.count", defaultValue: "\(count) notes", comment: "A count") == "3 notes")
  }

  @Test("A localised string comes from the bundle's table")
  func table() throws {
    let folder = ProcessFolder.newURL()
    let tables = folder.appendingPathComponent("en.lproj")
    try FileManager.default.createDirectory(at: tables, withIntermediateDirectories: true)
    try Data(#""%lld notes of %@" = "%2$@ has %1$lld notes";"#.utf8)
      .write(to: tables.appendingPathComponent("Localizable.strings"))
    let bundle = try #require(Bundle(path: folder.path))
    #expect(String(localized: "\(3) notes of \("Ada")", bundle: bundle) == "Ada has 3 notes")
  }

  @Test("An identifier stands in a printed predicate as it is")
  func identifiers() throws {
    let id = try #require(UUID(uuidString: "6BA7B810-9DAD-11D1-80B4-00C04FD430C8"))
    let predicate = NSPredicate(format: "id == %@ AND rank > 3", id as CVarArg)
    #expect(predicate._cdPredicateFormat == "id == 6BA7B810-9DAD-11D1-80B4-00C04FD430C8 AND rank > 3")
  }

  @Test("Messages of a log take formats and columns")
  func logFormats() {
    let (seconds, code) = (1.23456, 255)
    let message: OSLogMessage =
      "\(seconds, format: .fixed(precision: 2)) s, \(code, format: .hex(includePrefix: true)), |\("ab", align: .right(columns: 4))|"
    #expect("\(message)".contains("1.23 s, 0xff, |  ab|"))
  }

  @Test("A key path without a name in key-value coding tells none")
  func unnamedKeyPath() {
    #expect((\String.count)._cdKeyPathString == nil)
  }
}
