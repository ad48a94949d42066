import CDEManagedModel
import CDEModelRuntime
@_spi(CDE) import CDESQLiteFaults
import Foundation
import Testing

// Source: the properties of NSManagedObjectContext in Core Data's documentation, if nothing else is named.
@Suite("Options of contexts", .ownThreads)
struct ContextOptionTests {
  private func items(_ stack: Stack, _ count: Int = 1) throws -> [NSManagedObjectID] {
    let writer = stack.context()
    let items = (0..<count).map { index in
      let item = Item(context: writer)
      item.title = "\(index)"
      return item
    }
    try writer.save()
    return items.map(\.objectID)
  }

  // MARK: retainsRegisteredObjects

  @Test("A context retains its objects if it is told to, until it is told otherwise")
  func retaining() throws {
    let stack = try Stack()
    let ids = try items(stack, 3)
    let context = stack.context()
    #expect(!context.retainsRegisteredObjects)
    let early = try context.existingObject(with: ids[0])
    context.retainsRegisteredObjects = true
    weak var late: NSManagedObject?
    try autoreleased {
      late = try context.existingObject(with: ids[1])
      _ = try context.fetch(Item.fetchRequest())
    }
    #expect(late != nil && context.registeredObjects.count == 3)
    context.delete(try context.existingObject(with: ids[2]))
    try context.save()
    #expect(context.registeredObjects.count == 2)
    context.retainsRegisteredObjects = false
    context.reset()
    _ = early
    #expect(late == nil && context.registeredObjects.isEmpty)
  }

  private func autoreleased(_ body: () throws -> Void) rethrows { try body() }

  @Test("A reset, and the end of the context, release retained objects")
  func ending() throws {
    let stack = try Stack()
    let ids = try items(stack, 2)
    weak var (first, second): (NSManagedObject?, NSManagedObject?)
    do {
      let context = stack.context()
      context.retainsRegisteredObjects = true
      first = try context.existingObject(with: ids[0])
      context.reset()
      second = try context.existingObject(with: ids[1])
      #expect(second != nil)
    }
    #expect(first == nil && second == nil)
  }

  // MARK: shouldDeleteInaccessibleFaults

  private func inaccessible(_ stack: Stack, _ context: NSManagedObjectContext) throws -> Item {
    let id = try items(stack)[0]
    let item = try #require(context.object(with: id) as? Item)
    let writer = stack.context()
    writer.delete(try writer.existingObject(with: id))
    try writer.save()
    #expect(item.isFault)
    return item
  }

  @Test("A fault without a row counts as deleted, has defaults, and does not disturb a save")
  func deletedFault() throws {
    let stack = try Stack()
    let context = stack.context()
    #expect(context.shouldDeleteInaccessibleFaults)
    let item = try inaccessible(stack, context)
    #expect(item.title == "" && item.note == nil && item.tags.isEmpty)
    #expect(item.isDeleted && !item.isFault)
    _ = Item(context: context)
    try context.save()
    #expect(try stack.context().count(for: Item.fetchRequest()) == 1)
  }

  @Test(
    "A fault without a row stays one and can't be saved, if it is not to count as deleted (Core Data raises an exception)"
  )
  func refusedFault() throws {
    let stack = try Stack()
    let context = stack.context()
    context.shouldDeleteInaccessibleFaults = false
    let item = try inaccessible(stack, context)
    #expect(item.title == "")
    #expect(!item.isDeleted && item.isFault)
    item.title = "new"
    let error = try #require(throws: ManagedObjectError.self) { try context.save() }
    #expect(error.code == .store || error.code == .unreadValue)
    #expect("\(error)".contains("shouldDeleteInaccessibleFaults"))
    context.refresh(item, mergeChanges: true)
    context.rollback()
    try context.save()
  }

  // MARK: propagatesDeletesAtEndOfEvent

  private final class Tree: NSManagedObject {}

  private func trees() throws -> Stack {
    let node = entity("Tree", nil, [attribute("name", .stringAttributeType)])
    connect(.one(node, "parent"), .many(node, "children", rule: .cascadeDeleteRule))
    let guard_ = entity("Guard", nil, [])
    connect(.one(guard_, "tree"), .many(node, "guards", rule: .denyDeleteRule))
    let tag = entity("Label", nil, [])
    connect(.one(tag, "tree"), .many(node, "labels"))
    return try Stack(model: model(node, guard_, tag))
  }

  @Test("Delete rules are applied with the deletion, or with the save if they are not to be applied before")
  func propagation() throws {
    let stack = try trees()
    let context = stack.context()
    #expect(context.propagatesDeletesAtEndOfEvent)
    context.propagatesDeletesAtEndOfEvent = false
    let root = context.make("Tree")
    let middle = context.make("Tree", ["parent": root])
    let leaf = context.make("Tree", ["parent": middle])
    let label = context.make("Label", ["tree": middle])
    try context.save()
    context.delete(root)
    context.processPendingChanges()
    #expect(context.deletedObjects == [root] && !middle.isDeleted)
    #expect(label.one("tree") === middle && !label.hasChanges)
    context.rollback()
    try context.save()
    #expect(try stack.context().all("Tree").count == 3)
    context.delete(root)
    try context.save()
    #expect(try stack.context().all("Tree").isEmpty)
    #expect(
      label.one("tree") == nil && middle.managedObjectContext == nil && leaf.managedObjectContext == nil)
  }

  @Test("A deferred rule may deny the deletion, and sees the relationships of the time of the save")
  func deferredDenial() throws {
    let stack = try trees()
    let context = stack.context()
    context.propagatesDeletesAtEndOfEvent = false
    let (kept, root) = (context.make("Tree"), context.make("Tree"))
    let child = context.make("Tree", ["parent": root])
    let watch = context.make("Guard", ["tree": root])
    try context.save()
    child.setValue(kept, forKey: "parent")
    context.delete(root)
    let error = try #require(throws: ManagedObjectError.self) { try context.save() }
    #expect(error.code == .relationshipDeniedDelete)
    context.delete(watch)
    try context.save()
    #expect(Set(try context.all("Tree")) == [kept, child])
  }

  private final class Follower: NSFetchedResultsControllerDelegate {
    var changes = 0
    func controllerDidChangeContent(
      _ controller: NSFetchedResultsController<any NSFetchRequestResult>
    ) {
      changes += 1
    }
  }

  @Test("A fetched result loses a deleted object with the deletion, and its cascade with the save")
  func deferredInResults() throws {
    let context = try trees().context()
    context.propagatesDeletesAtEndOfEvent = false
    let root = context.make("Tree", ["name": "a"])
    let child = context.make("Tree", ["name": "b", "parent": root])
    try context.save()
    let request = NSFetchRequest<NSManagedObject>(entityName: "Tree")
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    let controller = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
    let follower = Follower()
    controller.delegate = follower
    try controller.performFetch()
    #expect(controller.fetchedObjects == [root, child])
    context.delete(root)
    context.processPendingChanges()
    #expect(controller.fetchedObjects == [child] && follower.changes == 1)
    try context.save()
    #expect(controller.fetchedObjects == [] && follower.changes == 2)
  }

  @Test("A deferred rule of a child context reaches the parent with the child's save")
  func deferredInChild() throws {
    let parent = try trees().context()
    let child = NSManagedObjectContext(concurrencyType: .privateQueue)
    child.parent = parent
    let id = try parent.performAndWait {
      let root = parent.make("Tree")
      parent.make("Tree", ["parent": root])
      try parent.save()
      return root.objectID
    }
    try child.performAndWait {
      child.propagatesDeletesAtEndOfEvent = false
      child.delete(try child.existingObject(with: id))
      child.processPendingChanges()
      #expect(child.deletedObjects.count == 1)
      try child.save()
    }
    parent.performAndWait { #expect(parent.deletedObjects.count == 2) }
  }

  @Test("An object that was never saved leaves at once, with its delete rules")
  func unsavedPropagation() throws {
    let context = try trees().context()
    context.propagatesDeletesAtEndOfEvent = false
    let root = context.make("Tree")
    let child = context.make("Tree", ["parent": root])
    context.delete(root)
    #expect(child.managedObjectContext == nil && !context.hasChanges)
  }

  // MARK: detectConflicts(for:)

  @Test(
    "A save fails if another writer changed an object that it is to check, although it does not change it",
    arguments: Rivals.Place.allCases)
  func detection(place: Rivals.Place) throws {
    let rivals = try Rivals(place)
    let item = Item(context: rivals.theirs)
    try rivals.theirs.save()
    let mine = try rivals.twin(of: item, in: rivals.mine)
    item.title = "theirs"
    try rivals.theirs.save()
    _ = Category(context: rivals.mine)
    rivals.mine.detectConflicts(for: mine)
    #expect(!mine.hasChanges)
    let error = try #require(throws: ManagedObjectError.self) { try rivals.mine.save() }
    #expect(error.code == .saveConflict && error.conflicts == [mine.objectID])
    #expect(rivals.mine.hasChanges)
    rivals.mine.refresh(mine, mergeChanges: true)
    try rivals.mine.save()
    // The check has ended.
    item.title = "again"
    try rivals.theirs.save()
    _ = Category(context: rivals.mine)
    try rivals.mine.save()
    #expect(mine.title == "theirs")
  }

  @Test(
    "An object without other changes passes the check and keeps its version, and a save without changes checks nothing"
  )
  func undisturbed() throws {
    let rivals = try Rivals()
    let item = Item(context: rivals.theirs)
    try rivals.theirs.save()
    let mine = try rivals.twin(of: item, in: rivals.mine)
    rivals.mine.detectConflicts(for: mine)
    _ = Category(context: rivals.mine)
    try rivals.mine.save()
    // The version of the row is the same, so the other context's change is no conflict.
    item.title = "b"
    try rivals.theirs.save()
    rivals.mine.detectConflicts(for: mine)
    try rivals.mine.save()
    rivals.mine.rollback()
    _ = Category(context: rivals.mine)
    try rivals.mine.save()
  }

  @Test(
    "A merge policy resolves a conflict of a checked object: it takes the other writer's values, and the save goes on"
  )
  func resolution() throws {
    let rivals = try Rivals(policy: .mergeByPropertyObjectTrump)
    let item = Item(context: rivals.theirs)
    try rivals.theirs.save()
    let mine = try rivals.twin(of: item, in: rivals.mine)
    item.title = "theirs"
    try rivals.theirs.save()
    let category = Category(context: rivals.mine)
    category.name = "mine"
    rivals.mine.detectConflicts(for: mine)
    try rivals.mine.save()
    #expect(mine.title == "theirs" && !rivals.mine.hasChanges)
    let stored = try #require(try rivals.stored(category))
    #expect(stored.name == "mine")
  }

  @Test("The parent of a child context checks the objects that the child named")
  func detectionOfChild() throws {
    let family = try Family()
    let id = try family.savedItem("a")
    try family.child.performAndWait {
      let item = try family.child.existingObject(with: id)
      family.child.detectConflicts(for: item)
      _ = Category(context: family.child)
      try family.child.save()
    }
    let writer = family.stack.context()
    let theirs = try #require(try writer.existingObject(with: id) as? Item)
    theirs.title = "theirs"
    try writer.save()
    family.parent.performAndWait {
      let error = #expect(throws: ManagedObjectError.self) { try family.parent.save() }
      #expect(error?.code == .saveConflict)
    }
  }

  // MARK: assign(_:to:)

  private static func twoStores() throws -> (NSManagedObjectContext, [NSPersistentStore]) {
    let (left, right) = (entity("Left"), entity("Right"))
    let model = model(left, right)
    model.setEntities([left], forConfigurationName: "L")
    model.setEntities([right], forConfigurationName: "R")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let folder = ProcessFolder.newURL()
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let stores = try ["L", "R"].map { (name: String) in
      try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: name,
        at: folder.appendingPathComponent("\(name).sqlite"))
    }
    let context = NSManagedObjectContext(concurrencyType: .privateQueue)
    context.persistentStoreCoordinator = coordinator
    return (context, stores)
  }

  @Test("An object may be assigned to the store that holds its entity")
  func assignment() throws {
    let (context, stores) = try Self.twoStores()
    let (left, right) = (context.make("Left"), context.make("Right"))
    context.assign(left, to: stores[0])
    context.assign(right, to: stores[1])
    try context.obtainPermanentIDs(for: [left, right])
    #expect(left.objectID.persistentStore === stores[0] && right.objectID.persistentStore === stores[1])
  }

  @Test("An object can't be assigned to a store without its entity")
  func wrongAssignment() async throws {
    let result = try await #require(
      processExitsWith: .failure, observing: [\.standardErrorContent],
      performing: {
        let (context, stores) = try Self.twoStores()
        context.assign(context.make("Left"), to: stores[1])
      })
    let text = String(decoding: result.standardErrorContent, as: UTF8.self)
    #expect(
      text.contains(
        "Left can't be assigned to the store R.sqlite, which does not hold the entity; L.sqlite does"))
  }
}
