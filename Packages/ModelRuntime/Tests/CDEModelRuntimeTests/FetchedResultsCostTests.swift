import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

private final class Counter: NSObject, NSFetchedResultsControllerDelegate {
  var moves = 0
  var others = 0
  func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
  ) {
    if type == .move { moves += 1 } else { others += 1 }
  }
}

@Suite("Cost of fetched results", .serialized)
struct FetchedResultsCostTests {
  private static var count: Int {
    ProcessInfo.processInfo.environment["CDE_FETCHED_OBJECTS"].flatMap(Int.init) ?? 3_000
  }

  /// Prints how long a piece of work takes, for runs in a release build.
  private func measure<Value>(_ what: String, times: Int = 1, _ body: () throws -> Value) rethrows -> Value {
    let start = ContinuousClock.now
    let value = try body()
    print("Fetched results of \(Self.count): \(what) \((ContinuousClock.now - start) / times)")
    return value
  }

  @Test("A change of one of many objects reads the sort keys of a few", arguments: [nil, "note"])
  func oneOfMany(_ sections: String?) throws {
    let context = try Stack().context()
    for index in 0..<Self.count {
      let item = Item(context: context)
      item.title = "title \(index)"
      item.count = index * 2
      item.note = String(UnicodeScalar(UInt8(97 + index * 26 / Self.count)))
    }
    try context.save()
    let request = NSFetchRequest<Item>(entityName: "Item")
    request.sortDescriptors = [NSSortDescriptor(key: "count", ascending: true)]
    let plain = try measure("fetch without a controller") { try context.fetch(request) }
    let made = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: sections, cacheName: nil)
    let delegate = Counter()
    made.delegate = delegate
    try measure("performFetch") { try made.performFetch() }
    #expect(made.fetchedObjects?.count == plain.count)
    measure("first place") { _ = made.indexPath(forObject: plain[0]) }
    measure("first change") {
      plain[0].title = "first"
      context.processPendingChanges()
    }
    let changes = 1_000
    measure("each update", times: changes) {
      for index in 0..<changes {
        plain[index].title = "new"
        context.processPendingChanges()
      }
    }
    #expect(delegate.others == changes + 1 && delegate.moves == 0)
    measure("each move", times: changes) {
      for index in 0..<changes {
        // To the middle of the object's section.
        let path = made.indexPath(forObject: plain[index])!
        let section = made.sections![path.section].numberOfObjects
        let target = made.object(at: IndexPath(row: section / 2, section: path.section))
        plain[index].count = target.count + 1
        context.processPendingChanges()
      }
    }
    #expect(delegate.moves > changes / 2)
    measure("each place", times: changes) {
      for index in 0..<changes { _ = made.indexPath(forObject: plain[index]) }
    }
    measure("array of all objects") { _ = made.fetchedObjects }
    measure("many changes at once, each", times: Self.count) {
      for item in plain { item.title = "again" }
      context.processPendingChanges()
    }
    let counts = try #require(made.fetchedObjects).map(\.count)
    #expect(counts == counts.sorted())
    #expect(made.fetchedObjects.map(Set.init) == Set(plain))
  }
}
