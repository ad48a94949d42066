import CDEManagedModel
import CDEModelRuntime
import CDEPredicates
import Foundation
import Testing

/// Apple's documentation of `NSPredicate(block:)`: stores in memory support it, SQLite stores do not.
@Suite("Blocks and comparators in fetches from stores in memory", .onSQLite)
struct MemoryFetchTests {
  private func context(_ type: String = NSInMemoryStoreType) throws -> NSManagedObjectContext {
    let stack = try Stack()
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: stack.container.managedObjectModel)
    try coordinator.addPersistentStore(
      ofType: type, configurationName: nil, at: URL(fileURLWithPath: "/dev/null"))
    let context = NSManagedObjectContext(concurrencyType: .privateQueue)
    context.persistentStoreCoordinator = coordinator
    for (count, title) in ["one", "two", "three", "four", "five"].enumerated() {
      let item = Item(context: context)
      (item.title, item.count) = (title, count + 1)
    }
    try context.save()
    return context
  }

  private func request(_ block: @escaping @Sendable (Item) -> Bool = { _ in true }) -> NSFetchRequest<Item> {
    let request = NSFetchRequest<Item>(entityName: "Item")
    request.predicate = NSPredicate { object, _ in (object as? Item).map(block) ?? false }
    request.sortDescriptors = [NSSortDescriptor(key: "count", ascending: true)]
    return request
  }

  private let byLength = NSSortDescriptor(key: "title", ascending: false) { left, right in
    let (left, right) = ((left as? String ?? "").count, (right as? String ?? "").count)
    return left < right ? .orderedAscending : left > right ? .orderedDescending : .orderedSame
  }

  @Test("A block chooses objects, also as a part of a compound, with order, offset, limit and number")
  func blocks() throws {
    let context = try context()
    let request = request { $0.title.contains("e") }
    #expect(try context.fetch(request).map(\.title) == ["one", "three", "five"])
    #expect(try context.count(for: request) == 3)
    (request.fetchOffset, request.fetchLimit) = (1, 1)
    #expect(try context.fetch(request).map(\.title) == ["three"])
    #expect(try context.count(for: request) == 1)
    (request.fetchOffset, request.fetchLimit) = (9, 0)
    #expect(try context.fetch(request).isEmpty)
    request.fetchOffset = 0
    request.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: [
      NSPredicate(format: "count > 1"), NSCompoundPredicate(notPredicateWithSubpredicate: request.predicate!),
    ])
    request.fetchBatchSize = 1
    #expect(try context.fetch(request).map(\.title) == ["two", "four"])
  }

  @Test("Unsaved changes count, and a fresh context and a child find the same")
  func unsaved() throws {
    let context = try context()
    let first = try #require(try context.fetch(request { $0.count == 1 }).first)
    first.title = "zero"
    context.delete(try #require(try context.fetch(request { $0.count == 5 }).first))
    let new = Item(context: context)
    (new.title, new.count) = ("six", 6)
    let request = request { $0.title.contains("e") || $0.title == "six" }
    #expect(try context.fetch(request).map(\.title) == ["zero", "three", "six"])
    let child = NSManagedObjectContext(concurrencyType: .privateQueue)
    child.parent = context
    #expect(try child.fetch(request).map(\.title) == ["zero", "three", "six"])
    let fresh = NSManagedObjectContext(concurrencyType: .privateQueue)
    fresh.persistentStoreCoordinator = context.persistentStoreCoordinator
    #expect(try fresh.fetch(request).map(\.title) == ["one", "three", "five"])
  }

  @Test("A comparator orders objects, together with other descriptors")
  func comparators() throws {
    let context = try context()
    let request = NSFetchRequest<Item>(entityName: "Item")
    request.sortDescriptors = [byLength, NSSortDescriptor(key: "title", ascending: true)]
    #expect(try context.fetch(request).map(\.title) == ["three", "five", "four", "one", "two"])
    request.predicate = NSPredicate(format: "count < 4")
    request.fetchLimit = 2
    #expect(try context.fetch(request).map(\.title) == ["three", "one"])
    // An unsaved object takes another way through the fetch.
    let new = Item(context: context)
    new.title = "eleven"
    #expect(try context.fetch(request).map(\.title) == ["eleven", "three"])
  }

  @Test("Results may be IDs and numbers; dictionaries are refused")
  func resultTypes() throws {
    let context = try context()
    let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Item")
    ids.predicate = request { $0.count == 2 }.predicate
    ids.resultType = .managedObjectIDResultType
    #expect(try context.fetch(ids).map { (try context.existingObject(with: $0) as? Item)?.title } == ["two"])
    let number = NSFetchRequest<NSNumber>(entityName: "Item")
    number.predicate = request { $0.count > 2 }.predicate
    number.resultType = .countResultType
    #expect(try context.fetch(number) == [3])
    let dictionaries = NSFetchRequest<NSDictionary>(entityName: "Item")
    dictionaries.predicate = ids.predicate
    dictionaries.resultType = .dictionaryResultType
    #expect(throws: ManagedObjectError.self) { try context.fetch(dictionaries) }
  }

  @Test(
    "A store that is not of the type, or a coordinator with one that is not, refuses",
    arguments: [false, true])
  func otherStores(isMixed: Bool) throws {
    let context = try context(isMixed ? NSInMemoryStoreType : NSSQLiteStoreType)
    let request = request()
    if isMixed {
      #expect(try context.fetch(request).count == 5)
      try context.persistentStoreCoordinator?.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil,
        at: Stack().folder.appendingPathComponent("Other.sqlite"))
    }
    let error = #expect(throws: ManagedObjectError.self) { try context.fetch(request) }
    #expect((error?.cause as? PredicateTreeError)?.code == .inMemoryOnly)
    #expect(throws: ManagedObjectError.self) { try context.count(for: request) }
    request.predicate = nil
    request.sortDescriptors = [byLength]
    #expect(throws: ManagedObjectError.self) { try context.fetch(request) }
    request.affectedStores = context.persistentStoreCoordinator?.persistentStores.filter {
      $0.type == NSInMemoryStoreType
    }
    #expect(try context.fetch(request).count == (isMixed ? 5 : 0))
  }

  @Test("A mistake in the part that is a format is an error that names it")
  func mistakes() throws {
    let context = try context()
    let request = request()
    request.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: [
      request.predicate!, NSPredicate(format: "titel == 'a'"),
    ])
    let error = #expect(throws: (any Error).self) { try context.fetch(request) }
    #expect("\(try #require(error))".contains("titel"))
  }
}
