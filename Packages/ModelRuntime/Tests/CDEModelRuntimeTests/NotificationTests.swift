import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

@Suite("Notifications around changes and saves")
struct NotificationTests {
  @Test("A save announces, then asks, then tells; each with its sets")
  func order() throws {
    let context = try Stack().context()
    let (kept, doomed) = (Item(context: context), Item(context: context))
    try context.save()
    let listener = Listener(context)
    kept.title = "changed"
    context.delete(doomed)
    let new = Item(context: context)
    try context.save()
    #expect(listener.names == ["change", "will", "did"])
    for event in [0, 2] {
      #expect(listener.objects(event, NSInsertedObjectsKey) == [new])
      #expect(listener.objects(event, NSUpdatedObjectsKey) == [kept])
      #expect(listener.objects(event, NSDeletedObjectsKey) == [doomed])
      #expect(listener.events[event].info[NSRefreshedObjectsKey] == nil)
      #expect(listener.events[event].info[NSInvalidatedObjectsKey] == nil)
    }
    context.processPendingChanges()
    #expect(listener.names == ["change", "will", "did"])
  }

  @Test("A main context that no block entered announces when the main actor's job is over")
  @MainActor
  func mainTurn() async throws {
    let context = try Stack().container.viewContext
    var token: (any NSObjectProtocol)?
    let names: Set<String> = await withCheckedContinuation { waiter in
      token = NotificationCenter.default.addObserver(
        forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
      ) { note in
        let inserted = note.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject> ?? []
        waiter.resume(returning: Set(inserted.compactMap { ($0 as? Item)?.title }))
      }
      // One announcement for both: a second would resume the waiter twice, which traps.
      for title in ["one", "two"] { Item(context: context).title = title }
    }
    if let token { NotificationCenter.default.removeObserver(token) }
    #expect(names == ["one", "two"])
    #expect(context.hasChanges)
  }

  @Test("In willSave everything is final, in didSave everything is clean")
  func states() throws {
    let context = try Stack().context()
    let item = Item(context: context)
    let category = Category(context: context)
    try context.save()
    item.category = category
    nonisolated(unsafe) var seen: [String] = []
    // Guard: posted on this thread.
    let held = Unchecked((context, item, category))
    let listener = Listener(context) { note in
      let (context, item, category) = held.value
      let keys = [item, category].map { $0.changedValues().keys.sorted().joined() }
      switch note.name {
      case .NSManagedObjectContextWillSave: seen.append("will \(keys) \(context.updatedObjects.count)")
      case .NSManagedObjectContextDidSave: seen.append("did \(keys) \(context.hasChanges)")
      default: break
      }
    }
    try context.save()
    withExtendedLifetime(listener) {}
    #expect(seen == [#"will ["category", "items"] 2"#, #"did ["", ""] false"#])
  }

  @Test("Changes made in willSave are saved, without another announcement before didSave")
  func changesInWillSave() throws {
    let stack = try Stack()
    let context = stack.context()
    let item = Item(context: context)
    let held = Unchecked(item)
    let listener = Listener(context) { note in
      if note.name == .NSManagedObjectContextWillSave { held.value.title = "from willSave" }
    }
    try context.save()
    #expect(listener.names == ["change", "will", "did"])
    #expect(try stack.context().fetch(Item.fetchRequest()).map(\.title) == ["from willSave"])
  }

  @Test("didSave names what was saved, where a willSave observer put one new object in another's place")
  func replacedInWillSave() throws {
    let stack = try Stack()
    let context = stack.context()
    let doomed = Item(context: context)
    nonisolated(unsafe) var replacement: Item?
    // Guard: posted on this thread.
    let held = Unchecked((context, doomed))
    let listener = Listener(context) { note in
      guard note.name == .NSManagedObjectContextWillSave else { return }
      let (context, doomed) = held.value
      context.delete(doomed)
      replacement = Item(context: context)
    }
    try context.save()
    #expect(listener.names == ["change", "will", "did"])
    #expect(listener.objects(2, NSInsertedObjectsKey) == [try #require(replacement)])
    #expect(try stack.context().count(for: Item.fetchRequest()) == 1)
  }

  @Test("What an observer of changes changes is announced before willSave as well")
  func changesInDidChange() throws {
    let context = try Stack().context()
    let (item, category) = (Item(context: context), Category(context: context))
    try context.save()
    let held = Unchecked((item, category))
    let listener = Listener(context) { note in
      let (item, category) = held.value
      let updated = note.userInfo?[NSUpdatedObjectsKey] as? Set<NSManagedObject> ?? []
      if updated.contains(item), !category.hasChanges { category.name = "too" }
    }
    item.title = "changed"
    try context.save()
    #expect(listener.names == ["change", "change", "will", "did"])
    #expect(listener.objects(1, NSUpdatedObjectsKey) == [category])
    #expect(listener.objects(3, NSUpdatedObjectsKey) == [item, category])
  }

  @Test("A didSave observer may save again")
  func saveInDidSave() throws {
    let stack = try Stack()
    let context = stack.context()
    let held = Unchecked(Item(context: context))
    let listener = Listener(context) { note in
      guard note.name == .NSManagedObjectContextDidSave, held.value.title.isEmpty else { return }
      held.value.title = "second"
      try? held.value.managedObjectContext?.save()
    }
    try context.save()
    #expect(listener.names == ["change", "will", "did", "change", "will", "did"])
    #expect(!context.hasChanges)
    #expect(try stack.context().fetch(Item.fetchRequest()).map(\.title) == ["second"])
  }

  @Test("processPendingChanges announces at once, and once; a new object deleted later is announced too")
  func processing() throws {
    let context = try Stack().context()
    let listener = Listener(context)
    let (first, second) = (Item(context: context), Item(context: context))
    context.delete(second)
    context.processPendingChanges()
    context.processPendingChanges()
    #expect(listener.names == ["change"])
    #expect(listener.objects(0, NSInsertedObjectsKey) == [first])
    #expect(listener.events[0].info[NSDeletedObjectsKey] == nil)
    context.delete(first)
    context.processPendingChanges()
    #expect(listener.names == ["change", "change"])
    #expect(listener.objects(1, NSDeletedObjectsKey) == [first])
    #expect(context.deletedObjects.isEmpty)
  }

  @Test("The end of a block announces what it changed")
  func endOfBlock() async throws {
    let context = try Stack().context()
    let listener = Listener(context)
    await context.perform {
      _ = Item(context: context)
      #expect(listener.names.isEmpty)
    }
    #expect(listener.names == ["change"])
    context.performAndWait {
      _ = Item(context: context)
      #expect(listener.names == ["change"])
    }
    #expect(listener.names == ["change", "change"])
    await withCheckedContinuation { done in
      context.perform { _ = Item(context: context) }
      context.perform {
        #expect(listener.names.count == 3)
        done.resume()
      }
    }
  }

  @Test("The end of an actor's job announces what it changed")
  func endOfJob() async throws {
    let actor = Keeper(container: try Stack().container)
    let context = actor.modelExecutor.context
    let listener = Listener(context)
    await actor.make()
    await context.perform {}
    #expect(listener.names == ["change"])
    #expect(listener.objects(0, NSInsertedObjectsKey).count == 1)
  }
}

@NSModelActor
actor Keeper {
  func make() { _ = Item(context: modelContext) }

  func add(_ title: String) throws -> NSManagedObjectID {
    let item = Item(context: modelContext)
    item.title = title
    try modelContext.save()
    return item.objectID
  }

  func rename(_ id: NSManagedObjectID, to title: String) throws {
    try #require(self[id, as: Item.self]).title = title
    try modelContext.save()
  }

  func title(_ id: NSManagedObjectID) -> String? { self[id, as: Item.self]?.title }
  func isCategory(_ id: NSManagedObjectID) -> Bool { self[id, as: Category.self] != nil }
}

@Suite("The notification of saved IDs")
struct SavedIDTests {
  @Test("It follows didSave, names permanent IDs, and can be merged")
  func savedIDs() throws {
    let stack = try Stack()
    let (context, other) = (stack.context(), stack.context())
    let names = [
      NSManagedObjectContext.didSaveObjectsNotification, NSManagedObjectContext.didSaveObjectIDsNotification,
    ]
    let (kept, doomed) = (Item(context: context), Item(context: context))
    try context.save()
    let seen = try #require(other.existingObject(with: kept.objectID) as? Item)
    let posted = Unchecked(NSMutableArray())
    let tokens = names.map { name in
      NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) {
        posted.value.add($0)
      }
    }
    defer { for token in tokens { NotificationCenter.default.removeObserver(token) } }
    kept.title = "changed"
    context.delete(doomed)
    let made = Item(context: context)
    try context.save()
    let notes = posted.value.compactMap { $0 as? Notification }
    #expect(notes.map(\.name) == names)
    let info = try #require(notes.last?.userInfo)
    #expect(info[NSInsertedObjectIDsKey] as? Set<NSManagedObjectID> == [made.objectID])
    #expect(info[NSUpdatedObjectIDsKey] as? Set<NSManagedObjectID> == [kept.objectID])
    #expect(info[NSDeletedObjectIDsKey] as? Set<NSManagedObjectID> == [doomed.objectID])
    #expect(!made.objectID.isTemporaryID)
    other.mergeChanges(fromContextDidSave: try #require(notes.last))
    #expect(seen.title == "changed")
  }
}
