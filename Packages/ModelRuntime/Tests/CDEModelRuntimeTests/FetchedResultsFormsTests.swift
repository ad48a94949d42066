import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

private final class Snapshots: NSObject, NSFetchedResultsControllerDelegate {
  var taken: [NSDiffableDataSourceSnapshotReference] = []
  var others = 0

  func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>,
    didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference
  ) { taken.append(snapshot) }

  func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
    others += 1
  }

  func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>,
    sectionIndexTitleForSectionName sectionName: String
  ) -> String? { "<\(sectionName)>" }
}

private final class Differences: NSObject, NSFetchedResultsControllerDelegate {
  var taken: [CollectionDifference<NSManagedObjectID>] = []
  var others = 0

  func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>,
    didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
  ) { taken.append(diff) }

  func controllerWillChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
    others += 1
  }
}

/// Reads the controller as delegates do, under the type that they get.
private final class Reading: NSObject, NSFetchedResultsControllerDelegate {
  var titles: [String] = []

  func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
    let objects = controller.fetchedObjects ?? []
    titles = objects.map { ($0 as? Item)?.title ?? "?" }
    for (row, object) in objects.enumerated() {
      let path = IndexPath(item: row, section: 0)
      let same = (controller.object(at: path) as? Item) === (object as? Item)
      if !same || controller.indexPath(forObject: object) != path { titles.append("wrong at \(row)") }
    }
  }
}

private final class Capitals: NSFetchedResultsController<Item> {
  override func sectionIndexTitle(forSectionName sectionName: String) -> String? { "\(sectionName.count)" }
  override func object(at indexPath: IndexPath) -> Item {
    reads += 1
    return super.object(at: indexPath)
  }
  var reads = 0
}

@MainActor private final class ViewModel: NSObject {
  var count = 0
  let controller: NSFetchedResultsController<Item>

  init(_ context: NSManagedObjectContext) throws {
    controller = NSFetchedResultsController(
      fetchRequest: sorted(), managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
    super.init()
    controller.delegate = self
    try controller.performFetch()
  }
}
extension ViewModel: @preconcurrency NSFetchedResultsControllerDelegate {
  func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
    count += 1
  }
}

@MainActor private final class IsolatedViewModel: NSObject, @MainActor NSFetchedResultsControllerDelegate {
  var count = 0
  func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
    count += 1
  }
}

// The words "documented" and "header" mean Apple's, as in FetchedResultsControllerTests.
@Suite("Forms of fetched results controllers and their delegates")
struct FetchedResultsFormsTests: FollowsItems {
  private let stack: Stack
  let context: NSManagedObjectContext

  init() throws {
    stack = try Stack()
    context = stack.context()
  }

  // Documented: no other method is called for changes then. The call in performFetch() is known, not documented.
  @Test("A delegate with the method for snapshots gets snapshots")
  func snapshots() throws {
    let a = item("a", note: "x")
    let delegate = Snapshots()
    let made = try controller(sorted("note", "title"), sections: "note", to: delegate)
    #expect(delegate.taken.count == 1)
    #expect(delegate.taken[0].sectionIdentifiers as? [String] == ["x"])
    item("b", note: "y")
    a.count = 1
    context.processPendingChanges()
    let snapshot = try #require(delegate.taken.last)
    #expect(delegate.taken.count == 2 && delegate.others == 0)
    context.delete(a)
    context.processPendingChanges()
    #expect(snapshot.numberOfItems == 2 && snapshot.numberOfSections == 2)
    #expect(snapshot.itemIdentifiersInSection(withIdentifier: "x") as? [NSManagedObjectID] == [a.objectID])
    #expect(snapshot.itemIdentifiers.count == 2 && snapshot.numberOfItems(inSection: "y") == 1)
    #expect(snapshot.reloadedItemIdentifiers as? [NSManagedObjectID] == [a.objectID])
    #expect(snapshot.index(ofItemIdentifier: a.objectID) == 0)
    #expect(snapshot.index(ofSectionIdentifier: "y") == 1)
    #expect(snapshot.sectionIdentifier(forSectionContainingItemIdentifier: a.objectID) as? String == "x")
    #expect(delegate.taken[2].index(ofItemIdentifier: a.objectID) == NSNotFound)
    #expect(made.sectionIndexTitles == ["<y>"])
  }

  // Documented: only for controllers without sections. The pairs for moves and updates are assumed.
  @Test("A delegate with the method for differences gets differences")
  func differences() throws {
    let (a, b) = (item("a"), item("b"))
    try context.save()
    let delegate = Differences()
    let made = try controller(to: delegate)
    var ids = try #require(made.fetchedObjects).map(\.objectID)
    a.title = "z"
    context.delete(b)
    item("c")
    item("d")
    context.processPendingChanges()
    let last = try #require(delegate.taken.last)
    ids = try #require(ids.applying(last))
    #expect(ids == made.fetchedObjects?.map(\.objectID))
    #expect(delegate.taken.filter { !$0.isEmpty }.count == 1 && delegate.others == 0)

    let sectioned = Differences()
    let other = try controller(sections: "title", to: sectioned)
    item("e")
    context.processPendingChanges()
    #expect(sectioned.taken.isEmpty && sectioned.others == 1)
    #expect(other.sections?.count == 4)
  }

  @Test("Delegates read the controller under the type that they get")
  func reading() throws {
    item("a")
    let delegate = Reading()
    let made = try controller(to: delegate)
    item("b")
    context.processPendingChanges()
    #expect(delegate.titles == ["a", "b"])
    withExtendedLifetime(made) {}
  }

  // Header: the capital first letter by default; a delegate or a subclass replaces it.
  @Test("Titles are capital first letters, or what a subclass says")
  func titles() throws {
    for title in ["apple", "avocado", "berry"] { item(title) }
    let made = try controller(sections: "title")
    #expect(made.sections?.map(\.indexTitle) == ["A", "A", "B"])
    #expect(made.sectionIndexTitles == ["A", "B"])
    #expect(made.section(forSectionIndexTitle: "B", at: 1) == 2)
    #expect(made.section(forSectionIndexTitle: "A", at: 0) == 0)

    let subclass = Capitals(
      fetchRequest: sorted(), managedObjectContext: context, sectionNameKeyPath: "title", cacheName: nil)
    try subclass.performFetch()
    #expect(subclass.sectionIndexTitles == ["5", "7"])
  }

  @Test("Delegates reach the members that a subclass overrides")
  func overrides() throws {
    let made = Capitals(
      fetchRequest: sorted(), managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
    let delegate = Reading()
    made.delegate = delegate
    try made.performFetch()
    item("a")
    context.processPendingChanges()
    #expect(delegate.titles == ["a"] && made.reads == 1)
  }

  @Test("Mistakes end the program with the rule")
  func mistakes() async throws {
    let far = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let context = try Stack().context()
      let made = NSFetchedResultsController(
        fetchRequest: sorted(), managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
      try made.performFetch()
      _ = made.object(at: IndexPath(row: 1, section: 0))
    }
    expect(far?.text, "No object at row 1 of section 0")
    let early = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let context = try Stack().context()
      let made = NSFetchedResultsController(
        fetchRequest: sorted(), managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
      _ = made.object(at: IndexPath(row: 0, section: 0))
    }
    expect(early?.text, "before performFetch()")
    let title = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let context = try Stack().context()
      let made = NSFetchedResultsController(
        fetchRequest: sorted(), managedObjectContext: context, sectionNameKeyPath: "title", cacheName: nil)
      try made.performFetch()
      _ = made.section(forSectionIndexTitle: "Q", at: 0)
    }
    expect(title?.text, "\"Q\" is no title of a section")
    let path = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = IndexPath(index: 1).row
    }
    expect(path?.text, "has 1 indexes")
    let section = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let context = try Stack().context()
      let made = NSFetchedResultsController(
        fetchRequest: sorted(), managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
      let delegate = Snapshots()
      made.delegate = delegate
      try made.performFetch()
      _ = delegate.taken[0].numberOfItems(inSection: "Q")
    }
    expect(section?.text, "The snapshot has no section \"Q\"")
  }

  private func expect(_ text: String?, _ part: String) {
    #expect(text?.contains(part) == true, "\(part)\nnot in: \(text ?? "nothing")")
  }
}

@Suite("Fetched results on the main actor")
@MainActor
struct MainActorFetchedResultsTests {
  @Test("Classes of the main actor are delegates, as with Apple's framework")
  func delegates() async throws {
    let stack = try Stack()
    let context = stack.container.viewContext
    let model = try ViewModel(context)
    let isolated = IsolatedViewModel()
    let controller = NSFetchedResultsController(
      fetchRequest: sorted(), managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
    controller.delegate = isolated
    try controller.performFetch()
    Item(context: context).title = "a"
    context.processPendingChanges()
    #expect(model.count == 1 && isolated.count == 1)
    #expect(model.controller.fetchedObjects?.count == 1)
  }
}
