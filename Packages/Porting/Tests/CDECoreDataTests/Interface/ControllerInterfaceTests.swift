import CDECoreData
import Testing

private final class OverriddenController: NSFetchedResultsController<NSManagedObject> {
  var fetches = 0

  override init(
    fetchRequest: NSFetchRequest<NSManagedObject>, managedObjectContext context: NSManagedObjectContext,
    sectionNameKeyPath: String?, cacheName name: String?
  ) {
    super.init(
      fetchRequest: fetchRequest, managedObjectContext: context, sectionNameKeyPath: sectionNameKeyPath,
      cacheName: name)
  }

  override func performFetch() throws {
    fetches += 1
    try super.performFetch()
  }

  override var fetchRequest: NSFetchRequest<NSManagedObject> { super.fetchRequest }
  override var managedObjectContext: NSManagedObjectContext { super.managedObjectContext }
  override var sectionNameKeyPath: String? { super.sectionNameKeyPath }
  override var cacheName: String? { super.cacheName }
  override weak var delegate: (any NSFetchedResultsControllerDelegate)? {
    get { super.delegate }
    set { super.delegate = newValue }
  }
  override var fetchedObjects: [NSManagedObject]? { super.fetchedObjects?.reversed() }
  override var sections: [any NSFetchedResultsSectionInfo]? { super.sections }
  override func object(at indexPath: IndexPath) -> NSManagedObject { super.object(at: indexPath) }
  override func indexPath(forObject object: NSManagedObject) -> IndexPath? {
    super.indexPath(forObject: object)
  }
  override var sectionIndexTitles: [String] { super.sectionIndexTitles.map { "\($0)!" } }
  override func sectionIndexTitle(forSectionName sectionName: String) -> String? {
    super.sectionIndexTitle(forSectionName: sectionName)
  }
  override func section(forSectionIndexTitle title: String, at sectionIndex: Int) -> Int {
    super.section(forSectionIndexTitle: title, at: sectionIndex)
  }
  override class func deleteCache(withName name: String?) { super.deleteCache(withName: name) }
}

/// A delegate with each method of Core Data's protocol.
private final class Listener: NSFetchedResultsControllerDelegate {
  var calls: [String] = []

  func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
    calls.append("will")
  }

  func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
    calls.append("did")
  }

  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
  ) {
    calls.append("object \(type.rawValue) at \(newIndexPath?.item ?? -1)")
  }

  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
    for type: NSFetchedResultsChangeType
  ) {
    calls.append("section \(type.rawValue) at \(sectionIndex)")
  }

  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    sectionIndexTitleForSectionName sectionName: String
  ) -> String? { sectionName.uppercased() }
}

/// A delegate that is told of differences.
private final class DifferenceListener: NSFetchedResultsControllerDelegate {
  var insertions = 0

  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
  ) { insertions += diff.insertions.count }
}

private struct Section: NSFetchedResultsSectionInfo {
  var name: String { "A" }
  var indexTitle: String? { nil }
  var numberOfObjects: Int { 0 }
  var objects: [Any]? { nil }
}

@Suite("The interface of fetched results controllers")
struct ControllerInterfaceTests {
  private typealias Controller = NSFetchedResultsController<NSManagedObject>

  @Test("A controller has Core Data's members")
  func controller() {
    let _: (NSFetchRequest<NSManagedObject>, NSManagedObjectContext, String?, String?) -> Controller =
      NSFetchedResultsController.init(fetchRequest:managedObjectContext:sectionNameKeyPath:cacheName:)
    let _: (Controller) -> () throws -> Void = NSFetchedResultsController.performFetch
    let _: KeyPath<Controller, NSFetchRequest<NSManagedObject>> = \NSFetchedResultsController.fetchRequest
    let _: KeyPath<Controller, NSManagedObjectContext> = \NSFetchedResultsController.managedObjectContext
    let _: KeyPath<Controller, String?> = \NSFetchedResultsController.sectionNameKeyPath
    let _: KeyPath<Controller, String?> = \NSFetchedResultsController.cacheName
    let _: ReferenceWritableKeyPath<Controller, (any NSFetchedResultsControllerDelegate)?> =
      \NSFetchedResultsController.delegate
    let _: KeyPath<Controller, [NSManagedObject]?> = \NSFetchedResultsController.fetchedObjects
    let _: KeyPath<Controller, [any NSFetchedResultsSectionInfo]?> = \NSFetchedResultsController.sections
    let _: (Controller) -> (IndexPath) -> NSManagedObject = NSFetchedResultsController.object(at:)
    let _: (Controller) -> (NSManagedObject) -> IndexPath? = NSFetchedResultsController.indexPath(forObject:)
    let _: KeyPath<Controller, [String]> = \NSFetchedResultsController.sectionIndexTitles
    let _: (Controller) -> (String) -> String? =
      NSFetchedResultsController.sectionIndexTitle(forSectionName:)
    let _: (Controller) -> (String, Int) -> Int =
      NSFetchedResultsController.section(forSectionIndexTitle:at:)
    let _: (String?) -> Void = NSFetchedResultsController<NSManagedObject>.deleteCache(withName:)
    let types: [NSFetchedResultsChangeType] = [
      NSFetchedResultsChangeType.insert, NSFetchedResultsChangeType.delete, NSFetchedResultsChangeType.move,
      NSFetchedResultsChangeType.update,
    ]
    #expect(types.map(\.rawValue) == [1, 2, 3, 4])
    let section: any NSFetchedResultsSectionInfo = Section()
    #expect(section.name == "A" && section.indexTitle == nil && section.numberOfObjects == 0)
    #expect(section.objects == nil)
  }

  @Test("A delegate is told of changes, and a subclass is asked for what it overrides")
  func delegate() throws {
    let stack = try Stack()
    let context = stack.container.newBackgroundContext()
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
      request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
      let overridden = OverriddenController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "title", cacheName: nil)
      let controller: NSFetchedResultsController<NSManagedObject> = overridden
      let listener = Listener()
      controller.delegate = listener
      for title in ["a", "b"] { stack.insertNote(title, in: context) }
      try context.save()
      try controller.performFetch()
      #expect(overridden.fetches == 1 && controller.sections?.map(\.name) == ["a", "b"])
      #expect(controller.fetchedObjects?.map { $0.value(forKey: "title") as? String } == ["b", "a"])
      #expect(controller.sectionIndexTitles == ["A!", "B!"])
      #expect(controller.sectionIndexTitle(forSectionName: "a") == "A")
      let last = controller.object(at: IndexPath(item: 0, section: 1))
      #expect(controller.indexPath(forObject: last) == IndexPath(item: 0, section: 1))
      stack.insertNote("c", in: context)
      context.processPendingChanges()
      #expect(listener.calls == ["will", "section 1 at 2", "object 1 at 0", "did"])
    }
  }

  @Test("A delegate is told of differences")
  func differences() throws {
    let stack = try Stack()
    let context = stack.container.newBackgroundContext()
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
      request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
      let controller = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
      let listener = DifferenceListener()
      controller.delegate = listener
      try controller.performFetch()
      stack.insertNote("a", in: context)
      context.processPendingChanges()
      #expect(listener.insertions == 1)
    }
  }
}
