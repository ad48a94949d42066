import CDEModelRuntime
import Foundation
import Testing

/// Expected behaviour is Core Data's, from the documentation of `NSManagedObjectContext` and `UndoManager`, unless a test
/// says otherwise.
@Suite("Undo and redo in a context")
struct UndoTests {
  private let stack: Stack
  private let context: NSManagedObjectContext
  private let manager = UndoManager()

  init() throws {
    stack = try Stack()
    context = stack.context()
    // Assumed: without groups by event each announcement is a step.
    manager.groupsByEvent = false
    context.undoManager = manager
  }

  private func step(_ body: () throws -> Void) rethrows {
    try body()
    context.processPendingChanges()
  }

  private func savedItem(_ title: String) throws -> Item {
    let item = Item(context: context)
    item.title = title
    try context.save()
    manager.removeAllActions()
    return item
  }

  @Test("A context has no undo manager until one is set, and then undo() and redo() do nothing")
  func none() throws {
    let context = stack.context()
    #expect(context.undoManager == nil)
    let item = Item(context: context)
    context.undo()
    context.redo()
    #expect(item.isInserted)
    context.undoManager = nil
  }

  @Test("Values return to those before the step, and an object with its saved values has no changes")
  func values() throws {
    let item = try savedItem("one")
    step { item.title = "two" }
    step {
      item.count = 7; item.title = "three"
    }
    context.undo()
    #expect(item.title == "two" && item.count == 0 && item.hasChanges)
    context.undo()
    #expect(item.title == "one" && !item.hasChanges && !context.hasChanges)
    context.redo()
    context.redo()
    #expect(item.title == "three" && item.count == 7 && context.hasChanges)
    #expect(context.updatedObjects == [item])
  }

  @Test("undo() takes changes along that were not announced")
  func unannounced() throws {
    let item = try savedItem("one")
    item.title = "two"
    context.undo()
    #expect(item.title == "one")
    item.title = "three"
    manager.undo()
    #expect(item.title == "one")
    #expect(!manager.canUndo)
    item.title = "four"
    #expect(manager.canUndo)
  }

  @Test("A value that is set to itself leaves nothing to undo (assumed)")
  func equalValues() throws {
    let item = try savedItem("one")
    step { item.title = "one" }
    #expect(!manager.canUndo)
  }

  @Test("An undo after a save changes the object again, and the next save writes that")
  func acrossSaves() throws {
    let item = try savedItem("one")
    item.title = "two"
    item.price = 3
    try context.save()
    context.undo()
    #expect(item.title == "one" && item.price == nil && item.hasChanges)
    try context.save()
    #expect(try stack.context().fetch(Item.fetchRequest()).map(\.title) == ["one"])
    context.redo()
    #expect(item.title == "two" && item.price == 3)
  }

  @Test("Undoing an insertion drops the object, and redoing it brings the same object back")
  func insertions() throws {
    var item: Item!
    step {
      item = Item(context: context)
      item.title = "new"
    }
    let id = item.objectID
    context.undo()
    #expect(context.insertedObjects.isEmpty && item.managedObjectContext == nil)
    context.redo()
    #expect(context.insertedObjects == [item] && item.title == "new" && item.objectID == id)
    try context.save()
    context.undo()
    #expect(context.deletedObjects == [item])
    try context.save()
    #expect(try stack.context().count(for: Item.fetchRequest()) == 0)
    context.redo()
    #expect(item.isInserted && item.title == "new")
    try context.save()
    #expect(try stack.context().fetch(Item.fetchRequest()).map(\.title) == ["new"])
  }

  @Test("Undoing a deletion restores the object and what the delete rules changed, before and after a save")
  func deletions() throws {
    let category = Category(context: context)
    category.name = "tools"
    let item = Item(context: context)
    item.title = "saw"
    item.category = category
    let tag = Tag(context: context)
    tag.name = "sharp"
    item.addToTags(tag)
    try context.save()
    let id = category.objectID
    manager.removeAllActions()
    for saves in [false, true] {
      step { context.delete(category) }
      step { context.delete(item) }
      if saves { try context.save() }
      #expect(tag.items.isEmpty)
      context.undo()
      context.undo()
      #expect(item.category == category && category.items == [item] && category.name == "tools")
      #expect(tag.items == [item] && item.tags == [tag])
      #expect(!category.isDeleted && category.managedObjectContext === context)
      #expect(context.hasChanges == saves)
    }
    #expect(category.objectID == id)
    try context.save()
    let fresh = stack.context()
    let found = try #require(try fresh.fetch(Category.fetchRequest()).first)
    #expect(found.objectID == id && found.items.map(\.title) == ["saw"])
    #expect(found.items.first?.tags.map(\.name) == ["sharp"])
  }

  @Test("An object that another writer deleted stays deleted (assumed)")
  func deletedElsewhere() throws {
    let item = try savedItem("one")
    step { item.title = "two" }
    try context.save()
    let other = stack.context()
    let saved = NoteBox()
    let token = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidSave, object: other, queue: nil
    ) { saved.note = $0 }
    defer { NotificationCenter.default.removeObserver(token) }
    other.delete(try other.existingObject(with: item.objectID))
    try other.save()
    context.mergeChanges(fromContextDidSave: try #require(saved.note))
    context.undo()
    #expect(item.isDeleted && !context.hasChanges)
    try context.save()
    #expect(try stack.context().count(for: Item.fetchRequest()) == 0)
  }

  @Test("Nothing is registered while registration is disabled, if pending changes are processed first")
  func disabling() throws {
    let item = try savedItem("one")
    item.count = 1
    context.processPendingChanges()
    manager.disableUndoRegistration()
    item.title = "two"
    context.processPendingChanges()
    manager.enableUndoRegistration()
    context.undo()
    #expect(item.title == "two" && item.count == 0)
  }

  @Test("A group holds all changes between its begin and its end")
  func groups() throws {
    let item = try savedItem("one")
    item.note = "before"
    manager.beginUndoGrouping()
    manager.setActionName("Rename")
    item.title = "two"
    context.processPendingChanges()
    item.title = "three"
    manager.endUndoGrouping()
    #expect(manager.undoCount == 2 && manager.undoActionName == "Rename")
    context.undo()
    #expect(item.title == "one" && item.note == "before")
  }

  @Test("With groups by event a block of perform is one step")
  func events() async throws {
    let context = stack.container.newBackgroundContext()
    let names = try await context.perform {
      context.undoManager = UndoManager()
      let item = Item(context: context)
      item.title = "one"
      try context.save()
      return item.objectID
    }
    await context.perform {
      guard let item = context.object(with: names) as? Item else { return }
      item.title = "two"
      context.processPendingChanges()
      item.count = 2
    }
    let found = await context.perform {
      context.undo()
      let item = context.object(with: names) as? Item
      return "\(item?.title ?? "") \(item?.count ?? -1)"
    }
    #expect(found == "one 0")
  }

  @Test("rollback() and reset() drop the context's actions")
  func dropping() throws {
    let item = try savedItem("one")
    step { item.title = "two" }
    context.rollback()
    #expect(!manager.canUndo && item.title == "one")
    step { item.title = "three" }
    context.reset()
    #expect(!manager.canUndo && !manager.canRedo)
  }

  @Test("A refresh that drops changes is not undone, and later steps are (assumed)")
  func refreshing() throws {
    let item = try savedItem("one")
    item.title = "two"
    context.refresh(item, mergeChanges: false)
    context.processPendingChanges()
    #expect(!manager.canUndo)
    step { item.title = "three" }
    context.undo()
    #expect(item.title == "one")
  }

  @Test("An undo announces objects as updated, inserted and deleted")
  func announcements() throws {
    let changed = try savedItem("one")
    let removed = try savedItem("doomed")
    var added: Item!
    step {
      changed.title = "two"
      context.delete(removed)
      added = Item(context: context)
    }
    let log = AnnouncedLog(context)
    context.undo()
    #expect(
      log.last == [
        "deleted": [added.objectID], "inserted": [removed.objectID], "updated": [changed.objectID],
      ])
    context.redo()
    #expect(
      log.last == [
        "deleted": [removed.objectID], "inserted": [added.objectID], "updated": [changed.objectID],
      ])
  }

  @Test("Fetched results follow an undo")
  func fetchedResults() throws {
    let item = try savedItem("a")
    let request = Item.fetchRequest()
    request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
    request.predicate = NSPredicate(format: "title < %@", "m")
    let results = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
    // Without a delegate a controller does not follow changes.
    let delegate = Follower()
    results.delegate = delegate
    try results.performFetch()
    step { item.title = "z" }
    #expect(results.fetchedObjects == [])
    context.undo()
    #expect(results.fetchedObjects == [item])
    step { context.delete(item) }
    #expect(results.fetchedObjects == [])
    context.undo()
    #expect(results.fetchedObjects == [item])
    context.redo()
    #expect(results.fetchedObjects == [])
  }

  @Test("A child's save is a step of its parent, and the child undoes on its own")
  func children() throws {
    let family = try Family()
    let id = try family.savedItem("one")
    let (parentManager, childManager) = (UndoManager(), UndoManager())
    family.parent.performAndWait { family.parent.undoManager = parentManager }
    try family.child.performAndWait {
      family.child.undoManager = childManager
      let item = try #require(try family.child.existingObject(with: id) as? Item)
      item.title = "two"
      try family.child.save()
    }
    family.parent.performAndWait {
      let item = family.parent.object(with: id) as? Item
      #expect(item?.title == "two")
      family.parent.undo()
      #expect(item?.title == "one" && !family.parent.hasChanges)
      family.parent.redo()
    }
    try family.child.performAndWait {
      family.child.undo()
      #expect((family.child.object(with: id) as? Item)?.title == "one")
      try family.child.save()
      let item = family.child.object(with: id)
      family.child.delete(item)
      try family.child.save()
      family.child.undo()
      try family.child.save()
    }
    try family.parent.performAndWait {
      #expect(try family.parent.fetch(Item.fetchRequest()).map(\.title) == ["one"])
      try family.parent.save()
    }
    #expect(try family.stored() == ["one"])
  }

  @Test("Large values in files of their own return")
  func externalValues() throws {
    let item = try savedItem("one")
    let (old, new) = (Data(repeating: 1, count: 300_000), Data(repeating: 2, count: 300_000))
    item.payload = old
    try context.save()
    step { item.payload = new }
    try context.save()
    context.undo()
    #expect(item.payload == old)
  }
}

private final class Follower: NSFetchedResultsControllerDelegate {}

private final class NoteBox: @unchecked Sendable {
  // Guard: the test keeps to one thread.
  var note: Notification?
}

/// The IDs of a context's last announcement.
private final class AnnouncedLog: @unchecked Sendable {
  // Guard: the test keeps to one thread.
  private(set) var last: [String: Set<NSManagedObjectID>] = [:]
  private var token: (any NSObjectProtocol)?

  init(_ context: NSManagedObjectContext) {
    token = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
    ) { [unowned self] note in
      last = [:]
      for (name, key) in [
        ("inserted", NSInsertedObjectsKey), ("updated", NSUpdatedObjectsKey),
        ("deleted", NSDeletedObjectsKey),
      ] {
        guard let objects = note.userInfo?[key] as? Set<NSManagedObject>, !objects.isEmpty else { continue }
        last[name] = Set(objects.map(\.objectID))
      }
    }
  }

  deinit { token.map(NotificationCenter.default.removeObserver) }
}
