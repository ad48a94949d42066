import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

/// Writes down what a controller tells it.
private class Recorder: NSObject, NSFetchedResultsControllerDelegate, ExpectsController {
  var events: [String] = []
  weak var expected: AnyObject?
  var onEvent: (String) -> Void = { _ in }

  func take() -> [String] {
    defer { events = [] }
    return events
  }

  fileprivate func note(_ event: String, _ controller: AnyObject) {
    events.append(controller === expected ? event : "another controller: \(event)")
    onEvent(event)
  }

  func controllerWillChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
    note("will", controller)
  }

  func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
  ) {
    let title = (anObject as? Item)?.title ?? "?"
    let paths = [indexPath, newIndexPath].map { $0.map { "\($0.section).\($0.row)" } ?? "-" }
    note("\(type) \(title) \(paths.joined(separator: " "))", controller)
  }

  func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>,
    didChange sectionInfo: NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
    for type: NSFetchedResultsChangeType
  ) {
    note("section \(type) \(sectionInfo.name) \(sectionIndex)", controller)
  }

  func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
    note("did", controller)
  }
}

/// Only wants to know that something changed.
private final class Terse: NSObject, NSFetchedResultsControllerDelegate {
  var count = 0
  func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
    count += 1
  }
}

/// A class whose section name is computed.
private final class Lettered: NSManagedObject {
  override func value(forUndefinedKey key: String) -> Any? {
    guard key == "initial" else { return super.value(forUndefinedKey: key) }
    return (value(forKey: "name") as? String).map { String($0.prefix(1)) }
  }
}

// "Documented" and "header" refer to Apple's documentation of the class, its delegate and its header. What these do not say is
// marked as assumed.
@Suite("Fetched results controllers")
struct FetchedResultsControllerTests: FollowsItems {
  private let stack: Stack
  let context: NSManagedObjectContext

  init() throws {
    stack = try Stack()
    context = stack.context()
  }

  private func events(_ recorder: Recorder, _ body: () throws -> Void) rethrows -> [String] {
    try body()
    context.processPendingChanges()
    return recorder.take()
  }

  // MARK: Fetching

  @Test("A controller has nothing before its fetch, and the ordered objects after it")
  func fetching() throws {
    for title in ["b", "c", "a"] { item(title) }
    let made = NSFetchedResultsController(
      fetchRequest: sorted(), managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
    #expect(made.fetchedObjects == nil && made.sections == nil)
    try made.performFetch()
    #expect(made.fetchedObjects?.map(\.title) == ["a", "b", "c"])
    #expect(made.object(at: IndexPath(row: 1, section: 0)).title == "b")
    #expect(made.sections?.count == 1 && made.sections?[0].numberOfObjects == 3)
    #expect(made.sections?[0].name == "" && made.sections?[0].indexTitle == nil)
    #expect(made.sectionIndexTitles == [])
    #expect(made.indexPath(forObject: item("d")) == nil)
    #expect(made.managedObjectContext === context && made.fetchRequest.entityName == "Item")
    NSFetchedResultsController<Item>.deleteCache(withName: "cache")
  }

  @Test("Requests without an order, and for other results than objects, are refused with the remedy")
  func refusals() throws {
    let unordered = NSFetchRequest<Item>(entityName: "Item")
    #expect { try controller(unordered) } throws: { "\($0)".contains("Set the request's sortDescriptors") }
    let numbers = sorted()
    numbers.resultType = .countResultType
    #expect { try controller(numbers) } throws: { "\($0)".contains("resultType") }
  }

  // Documented for the initialiser, and the error that Core Data reports, with its number.
  @Test("Section names out of order are an error, and the former result stays")
  func outOfOrder() throws {
    item("a", note: "x")
    item("b", note: "y")
    let made = try controller(sections: "note")
    item("c", note: "x")
    let error = #expect(throws: ManagedObjectError.self) { try made.performFetch() }
    #expect(error?.message.contains("out of order section name \"x\"") == true)
    #expect(error?.errorCode == 134060)
    #expect(made.sections?.map(\.name) == ["x", "y"])
  }

  @Test("A controller of any result type returns objects")
  func resultTypes() throws {
    item("a")
    let request = NSFetchRequest<NSFetchRequestResult>(entityName: "Item")
    request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
    let made = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
    try made.performFetch()
    #expect((made.fetchedObjects?.first as? Item)?.title == "a")
    #expect((made.object(at: IndexPath(row: 0, section: 0)) as? Item)?.title == "a")
    #expect((made.fetchedObjects?.first).flatMap(made.indexPath) == IndexPath(row: 0, section: 0))
    let wrong = NSFetchRequest<Tag>(entityName: "Item")
    wrong.sortDescriptors = request.sortDescriptors
    let other = NSFetchedResultsController(
      fetchRequest: wrong, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
    #expect(throws: ManagedObjectError.self) { try other.performFetch() }
    #expect(other.fetchedObjects == nil)
  }

  // MARK: Callbacks

  // Header: insertions and deletions when an object is created, destroyed, or comes to match or stops to match the predicate.
  @Test("Insertions, deletions and matches are reported between the beginning and the end")
  func insertions() throws {
    let request = sorted()
    request.predicate = NSPredicate(format: "count > 0")
    let (a, c) = (item("a", 1), item("c", 1))
    let recorder = Recorder()
    let made = try controller(request, to: recorder)
    #expect(events(recorder) { item("b", 1) } == ["will", "insert b - 0.1", "did"])
    #expect(events(recorder) { item("x", 0) } == [])
    #expect(events(recorder) { a.count = 0 } == ["will", "delete a 0.0 -", "did"])
    #expect(events(recorder) { a.count = 2 } == ["will", "insert a - 0.0", "did"])
    #expect(
      events(recorder) {
        context.delete(c)
        context.delete(a)
      } == ["will", "delete c 0.2 -", "delete a 0.0 -", "did"])
    #expect(made.fetchedObjects?.map(\.title) == ["b"])
    #expect(events(recorder) {} == [])
  }

  // Header: an update if the place is not affected, else a move, which implies an update. The paths of an update are assumed.
  @Test("A changed order gives a move, any other change an update")
  func moves() throws {
    let (a, b, c) = (item("a"), item("b"), item("c"))
    let recorder = Recorder()
    let made = try controller(to: recorder)
    #expect(made.fetchedObjects?.count == 3)
    #expect(events(recorder) { b.count = 1 } == ["will", "update b 0.1 0.1", "did"])
    #expect(events(recorder) { b.title = "bb" } == ["will", "update bb 0.1 0.1", "did"])
    #expect(events(recorder) { a.title = "d" } == ["will", "move d 0.0 0.2", "did"])
    // Of two that change places one moves.
    #expect(
      events(recorder) {
        b.title = "x"
        c.title = "b"
      }.count == 4)
    // Old places are those before all changes, new places those after all.
    #expect(
      events(recorder) {
        context.delete(c)
        b.count = 7
        item("z")
      } == ["will", "delete b 0.0 -", "insert z - 0.2", "update x 0.2 0.1", "did"])
  }

  // Documented: a section's changes are insertions and deletions, sent before the objects' (the order is assumed).
  @Test("Sections come and go with their objects")
  func sections() throws {
    let a = item("a", note: "x")
    item("b", note: "x")
    let recorder = Recorder()
    let made = try controller(sorted("note", "title"), sections: "note", to: recorder)
    #expect(
      events(recorder) { item("c", note: "w") } == ["will", "section insert w 0", "insert c - 0.0", "did"])
    #expect(events(recorder) { a.note = "w" } == ["will", "move a 1.0 0.0", "did"])
    #expect(
      events(recorder) { made.object(at: IndexPath(row: 0, section: 1)).note = "y" }
        == ["will", "section delete x 1", "section insert y 1", "move b 1.0 1.0", "did"])
    #expect(
      events(recorder) { context.delete(a) } == ["will", "delete a 0.0 -", "did"])
    #expect(made.sections?.map(\.name) == ["w", "y"])
    #expect(made.sections?.map { ($0.objects as? [Item])?.map(\.title) } == [["c"], ["b"]])
  }

  @Test("Nil, numbers and computed values name sections")
  func sectionNames() throws {
    item("a", 10)
    item("b", 9)
    #expect(try controller(sorted("count"), sections: "count").sections?.map(\.name) == ["9", "10"])
    #expect(try controller(sections: "note").sections?.map(\.name) == [""])

    let person = entity("Person", Lettered.self, [attribute("name", .stringAttributeType)])
    let other = try Stack(model: model(person)).context()
    for name in ["bo", "al", "ann"] { other.make("Person", ["name": name]) }
    let request = NSFetchRequest<Lettered>(entityName: "Person")
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    let made = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: other, sectionNameKeyPath: "initial", cacheName: nil)
    try made.performFetch()
    #expect(made.sections?.map(\.name) == ["a", "b"])
    #expect(made.sections?.map(\.numberOfObjects) == [2, 1])
  }

  // MARK: Tracking

  // Documented: without a delegate the controller does not track changes.
  @Test(
    "Without a delegate the result stays; a later delegate is told of what it missed with the next change")
  func noDelegate() throws {
    item("a")
    let made = try controller()
    item("b")
    context.processPendingChanges()
    #expect(made.fetchedObjects?.map(\.title) == ["a"])
    let recorder = Recorder()
    recorder.expected = made
    made.delegate = recorder
    #expect(events(recorder) { item("c") } == ["will", "insert b - 0.1", "insert c - 0.2", "did"])
  }

  // Documented in "Handling Object Invalidation".
  @Test("After a reset the result stays until the next fetch")
  func reset() throws {
    item("a")
    try context.save()
    let recorder = Recorder()
    let made = try controller(to: recorder)
    context.reset()
    item("b")
    #expect(events(recorder) {} == [])
    #expect(made.fetchedObjects?.count == 1)
    try made.performFetch()
    #expect(made.fetchedObjects?.map(\.title) == ["a", "b"])
    #expect(events(recorder) { item("c") } == ["will", "insert c - 0.2", "did"])
  }

  @Test("Rollbacks, refreshes and merges are changes, also of rows without objects here")
  func otherWriters() throws {
    let a = item("a", 1)
    item("b")
    try context.save()
    let request = sorted()
    request.predicate = NSPredicate(format: "count > 0")
    let recorder = Recorder()
    let made = try controller(request, to: recorder)
    #expect(
      events(recorder) {
        a.title = "z"
        item("c", 1)
      }.count == 4)
    #expect(
      events(recorder) { context.rollback() } == ["will", "delete c 0.0 -", "update a 0.1 0.0", "did"])
    #expect(
      events(recorder) { context.refresh(a, mergeChanges: true) } == ["will", "update a 0.0 0.0", "did"])

    context.automaticallyMergesChangesFromParent = false
    let other = stack.context()
    let objects = try other.fetch(sorted())
    objects[1].count = 5
    objects[0].title = "y"
    nonisolated(unsafe) var note: Notification?
    // Guard: the save posts on this thread.
    let token = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidSave, object: other, queue: nil
    ) { note = $0 }
    try other.save()
    NotificationCenter.default.removeObserver(token)
    #expect(
      events(recorder) { context.mergeChanges(fromContextDidSave: note!) }
        == ["will", "insert b - 0.0", "update y 0.0 0.1", "did"])
    #expect(made.fetchedObjects?.map(\.title) == ["b", "y"])
  }

  // Decided here: Core Data does not follow objects behind a relationship. This library does.
  @Test("A change of a related object moves the objects whose order, section or match it decides")
  func related() throws {
    let (one, two) = (Category(context: context), Category(context: context))
    (one.name, two.name) = ("k", "m")
    item("a").category = one
    item("b").category = two
    let recorder = Recorder()
    let made = try controller(sorted("category.name"), sections: "category.name", to: recorder)
    #expect(made.sections?.map(\.name) == ["k", "m"])
    #expect(
      events(recorder) { one.name = "z" }
        == ["will", "section delete k 0", "section insert z 1", "move a 0.0 1.0", "did"])
  }

  @Test("Derived values decide after the save that computes them")
  func derived() throws {
    let lower = NSDerivedAttributeDescription()
    lower.name = "lower"
    lower.attributeType = .stringAttributeType
    lower.derivation = "lowercase:(name)"
    let count = NSDerivedAttributeDescription()
    count.name = "books"
    count.attributeType = .integer64AttributeType
    count.derivation = "parts.@count"
    let shelf = entity("Shelf", nil, [attribute("name", .stringAttributeType), lower, count])
    let part = entity("Part", nil, [attribute("name", .stringAttributeType)])
    connect(.many(shelf, "parts"), .one(part, "shelf"))
    let other = try Stack(model: model(shelf, part)).context()
    let first = other.make("Shelf", ["name": "B"])
    try other.save()
    let controllers = try [("lower", nil), ("name", "books > 0")].map { key, predicate in
      let request = NSFetchRequest<NSManagedObject>(entityName: "Shelf")
      request.predicate = predicate.map { NSPredicate(format: $0) }
      request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
      let made = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: other, sectionNameKeyPath: nil, cacheName: nil)
      let recorder = Recorder()
      recorder.expected = made
      made.delegate = recorder
      try made.performFetch()
      return (made, recorder)
    }
    func names(_ index: Int) -> [String] {
      controllers[index].0.fetchedObjects!.map { $0.value(forKey: "name") as! String }
    }
    first.setValue("c", forKey: "name")
    other.make("Shelf", ["name": "A"])
    other.make("Part", ["shelf": first])
    try other.save()
    #expect(names(0) == ["A", "c"] && names(1) == ["c"])
    for (_, recorder) in controllers { _ = recorder.take() }
    first.setValue("_", forKey: "name")
    try other.save()
    #expect(names(0) == ["_", "A"])
    // Told once of the change, and once of the derived value.
    #expect(controllers[0].1.take().count == 6)
    #expect(controllers[1].1.take() == ["will", "update ? 0.0 0.0", "did"])
  }

  // Known of Core Data, not documented: the limit applies to the fetch.
  @Test("A limit applies to the fetch, and later changes are followed without it")
  func limit() throws {
    for title in ["a", "b", "c", "d"] { item(title) }
    let request = sorted()
    request.fetchLimit = 2
    request.fetchBatchSize = 1
    let recorder = Recorder()
    let made = try controller(request, to: recorder)
    #expect(made.fetchedObjects?.map(\.title) == ["a", "b"])
    #expect(events(recorder) { item("aa") } == ["will", "insert aa - 0.1", "did"])
    #expect(made.fetchedObjects?.map(\.title) == ["a", "aa", "b"])
  }

  @Test("A request without pending changes is followed with them")
  func withoutPending() throws {
    let (a, b) = (item("a"), item("b"))
    try context.save()
    (a.title, b.title) = ("2", "1")
    let request = sorted()
    request.includesPendingChanges = false
    let recorder = Recorder()
    let made = try controller(request, to: recorder)
    _ = events(recorder) { item("3") }
    #expect(made.fetchedObjects?.map(\.title) == ["1", "2", "3"])
  }

  @Test("A delegate may change objects, and fetch again, while it is told of changes")
  func reentrancy() throws {
    let a = item("a")
    let recorder = Recorder()
    let made = try controller(to: recorder)
    recorder.onEvent = { [context] event in
      if event == "did", a.count < 2 {
        a.count += 1
        context.processPendingChanges()
      }
    }
    #expect(
      events(recorder) { item("b") }
        == [
          "will", "insert b - 0.1", "did", "will", "update a 0.0 0.0", "did", "will", "update a 0.0 0.0",
          "did",
        ])
    recorder.onEvent = { event in if event == "will" { try! made.performFetch() } }
    #expect(events(recorder) { item("c") } == ["will"])
    #expect(made.fetchedObjects?.map(\.title) == ["a", "b", "c"])
  }

  @Test("A controller and its context are freed")
  func lifetime() throws {
    weak var freed: NSFetchedResultsController<Item>?
    weak var freedContext: NSManagedObjectContext?
    do {
      let stack = try Stack()
      let context = stack.context()
      let made = NSFetchedResultsController(
        fetchRequest: sorted(), managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
      let delegate = Terse()
      made.delegate = delegate
      try made.performFetch()
      Item(context: context).title = "a"
      context.processPendingChanges()
      #expect(delegate.count == 1)
      (freed, freedContext) = (made, context)
    }
    #expect(freed == nil && freedContext == nil)
  }

  @Test("Index paths have sections, rows and items")
  func indexPaths() {
    var path = IndexPath(row: 3, section: 2)
    #expect(path == IndexPath(item: 3, section: 2) && path.section == 2 && path.row == 3 && path.item == 3)
    path.row = 5
    path.section = 1
    #expect(path == [1, 5])
    path.item = 6
    #expect(path == [1, 6])
  }
}
