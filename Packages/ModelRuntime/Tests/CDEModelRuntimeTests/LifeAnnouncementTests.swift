import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

@Suite("What announcements and errors tell of an object's life", .ownThreads)
struct LifeAnnouncementTests {
  /// Merges what a context saves into another, by its notification.
  private func merge(
    _ source: NSManagedObjectContext, into target: NSManagedObjectContext, by ids: Bool = false,
    _ work: () throws -> Void
  ) throws {
    let listener = Listener(source)
    try work()
    try source.save()
    let info = try #require(listener.events.last?.info)
    if ids {
      var data: [AnyHashable: Any] = [:]
      for key in [NSInsertedObjectsKey, NSUpdatedObjectsKey, NSDeletedObjectsKey] {
        data[key + "_objectIDs"] = (info[key] as? Set<NSManagedObject> ?? []).map(\.objectID)
      }
      NSManagedObjectContext.mergeChanges(fromRemoteContextSave: data, into: [target])
    } else {
      target.mergeChanges(
        fromContextDidSave: Notification(name: .NSManagedObjectContextDidSave, object: source, userInfo: info)
      )
    }
  }

  @Test("Merged insertions stand under inserted, registered in the target", arguments: [false, true])
  func mergedInsertion(byIDs: Bool) throws {
    let stack = try Stack()
    let (writer, reader) = (stack.context(), stack.context())
    let listener = Listener(reader)
    nonisolated(unsafe) var made: [Item] = []
    // Guard: one thread.
    try merge(writer, into: reader, by: byIDs) {
      made = (0..<3).map { number in
        let item = Item(context: writer)
        item.title = "\(number)"
        return item
      }
    }
    #expect(listener.names == ["change", "merge"])
    let inserted = listener.objects(0, NSInsertedObjectsKey)
    #expect(Set(inserted.map(\.objectID)) == Set(made.map(\.objectID)))
    #expect(listener.events[0].info[NSObjectsChangedByMergeChangesKey] != nil)
    // On its executor: a merge by IDs has entered it.
    reader.performAndWait {
      #expect(inserted.allSatisfy { $0.managedObjectContext === reader && !$0.isInserted && !$0.hasChanges })
      #expect(Set(inserted.compactMap { ($0 as? Item)?.title }) == ["0", "1", "2"])
      #expect(reader.registeredObjects == inserted)
      #expect(!reader.hasChanges)
    }
  }

  @Test("Without a use of the notification's name a merge makes no objects")
  func unobservedInsertion() async {
    await #expect(processExitsWith: .success) {
      let stack = try Stack()
      let (writer, reader) = (stack.context(), stack.context())
      let items = (0..<3).map { _ in Item(context: writer) }
      nonisolated(unsafe) var info: [AnyHashable: Any] = [:]
      // Guard: one thread.
      let token = NotificationCenter.default.addObserver(
        forName: .NSManagedObjectContextDidSave, object: writer, queue: nil
      ) { info = $0.userInfo ?? [:] }
      try writer.save()
      NotificationCenter.default.removeObserver(token)
      reader.mergeChanges(
        fromContextDidSave: Notification(name: .NSManagedObjectContextDidSave, object: writer, userInfo: info)
      )
      // A new object of a merge would have been made, and awakened, by now.
      precondition(reader.registeredObjects.isEmpty && items.count == 3)
    }
  }

  @Test("A merged deletion keeps the object known as deleted", arguments: [false, true])
  func mergedDeletion(byIDs: Bool) throws {
    let stack = try Stack()
    let (writer, reader) = (stack.context(), stack.context())
    let item = Item(context: writer)
    item.title = "kept"
    try writer.save()
    let seen = try #require(try reader.fetch(Item.fetchRequest()).first)
    #expect(seen.title == "kept")
    let listener = Listener(reader)
    try merge(writer, into: reader, by: byIDs) { writer.delete(item) }
    #expect(listener.objects(0, NSDeletedObjectsKey) == [seen])
    reader.performAndWait {
      #expect(seen.isDeleted && seen.managedObjectContext == nil && seen.title == "kept")
      #expect(!reader.hasChanges && reader.deletedObjects.isEmpty)
    }
  }

  @Test("A new object that changes after it was announced is announced as updated, and saved as inserted")
  func changedNew() throws {
    let context = try Stack().context()
    let item = Item(context: context)
    let other = Item(context: context)
    context.processPendingChanges()
    let listener = Listener(context)
    item.title = "changed"
    context.processPendingChanges()
    #expect(listener.objects(0, NSInsertedObjectsKey).isEmpty)
    #expect(listener.objects(0, NSUpdatedObjectsKey) == [item])
    #expect(context.insertedObjects == [item, other] && context.updatedObjects.isEmpty)
    item.title = "again"
    try context.save()
    #expect(listener.names == ["change", "change", "will", "did"])
    #expect(listener.objects(1, NSUpdatedObjectsKey) == [item])
    #expect(listener.objects(3, NSInsertedObjectsKey) == [item, other])
    #expect(listener.objects(3, NSUpdatedObjectsKey).isEmpty)

    // As many renewed new objects as changed old ones.
    item.count = 1
    context.processPendingChanges()
    let third = Item(context: context)
    context.processPendingChanges()
    third.title = "third"
    listener.clear()
    try context.save()
    #expect(listener.objects(2, NSInsertedObjectsKey) == [third])
    #expect(listener.objects(2, NSUpdatedObjectsKey) == [item])
  }

  @Test("DidSave has its three keys, whatever was saved")
  func threeKeys() throws {
    let context = try Stack().context()
    let listener = Listener(context)
    func expect(_ counts: [Int], line: Int = #line) throws {
      try context.save()
      let info = try #require(listener.events.last?.info)
      let found = [NSInsertedObjectsKey, NSUpdatedObjectsKey, NSDeletedObjectsKey].map {
        (info[$0] as? Set<NSManagedObject>)?.count
      }
      #expect(found == counts, "line \(line)")
    }
    let item = Item(context: context)
    try expect([1, 0, 0])
    item.title = "x"
    try expect([0, 1, 0])
    context.delete(item)
    try expect([0, 0, 1])
  }

  @Test("A validation error holds the object, and its description is the sentence")
  func validationError() throws {
    let context = try Stack().context()
    let item = Item(context: context)
    item.setValue(nil, forKey: "title")
    let error = try #require(#expect(throws: ManagedObjectError.self) { try context.save() })
    let bridged = error as NSError
    #expect(bridged.userInfo["NSValidationErrorObject"] as? NSManagedObject === item)
    #expect(bridged.userInfo["NSValidationErrorKey"] as? String == "title")
    #expect(error.localizedDescription == error.message && bridged.localizedDescription == error.message)
    #expect(error.message.hasPrefix("Item.title is required and has no value."))
    let other = Item(context: context)
    other.setValue(nil, forKey: "title")
    let both = try #require(#expect(throws: ManagedObjectError.self) { try context.save() })
    let details = try #require((both as NSError).userInfo["NSDetailedErrors"] as? [NSError])
    let objects = details.compactMap { $0.userInfo["NSValidationErrorObject"] as? NSManagedObject }
    #expect(Set(objects) == [item, other])
  }

  @Test(
    "A conflict's snapshots are the old values and the new ones, told apart by who wrote",
    arguments: Rivals.Place.allCases)
  func snapshots(_ place: Rivals.Place) throws {
    let rivals = try Rivals(place)
    let theirs = Item(context: rivals.theirs)
    (theirs.title, theirs.count) = ("base", 1)
    try rivals.theirs.save()
    let mine = try rivals.twin(of: theirs, in: rivals.mine)
    (theirs.title, theirs.count) = ("theirs", 2)
    try rivals.theirs.save()
    mine.title = "mine"
    let error = try #require(#expect(throws: ManagedObjectError.self) { try rivals.mine.save() })
    let conflict = try #require(error.mergeConflicts.first)
    let titles = [conflict.objectSnapshot, conflict.cachedSnapshot, conflict.persistedSnapshot].map {
      $0?["title"] as? String
    }
    // The coordinator that wrote has the new row cached; what another one wrote is in the store alone.
    #expect(titles == (place == .oneContainer ? ["base", "theirs", nil] : ["base", "base", "theirs"]))
  }

  @Test("isDeleted is true until the deletion is saved")
  func deleted() throws {
    let context = try Stack().context()
    let (item, category) = (Item(context: context), Category(context: context))
    item.category = category
    try context.save()
    context.delete(item)
    #expect(item.isDeleted)
    try context.save()
    #expect(!item.isDeleted && item.managedObjectContext == nil && !item.hasChanges)
    #expect(category.items.isEmpty)
    _ = (item.title, item.category, item.tags)
  }

  @Test("A request has its entity once it was fetched by name")
  func requestEntity() throws {
    let context = try Stack().context()
    let request = NSFetchRequest<Item>(entityName: "Item")
    #expect(request.entity == nil)
    _ = try context.fetch(request)
    #expect(request.entity === context.persistentStoreCoordinator?.managedObjectModel.entitiesByName["Item"])
    request.entityName = "Tag"
    #expect(request.entity == nil)
    let counted = NSFetchRequest<Item>(entityName: "Item")
    _ = try context.count(for: counted)
    #expect(counted.entity?.name == "Item")
  }

  @Test("The metadata has UUID and type, and an unknown store type has Core Data's number")
  func store() throws {
    let stack = try Stack()
    let coordinator = stack.container.persistentStoreCoordinator
    let store = try #require(coordinator.persistentStores.first)
    #expect(coordinator.metadata(for: store)["NSStoreUUID"] as? String == store.identifier)
    #expect(coordinator.metadata(for: store)["NSStoreType"] as? String == "SQLite")
    let memory = try Stack(
      model: NSManagedObjectModel.makeRuntimeModel([Item.self, Category.self, Tag.self]))
    let other = NSPersistentStoreCoordinator(managedObjectModel: memory.container.managedObjectModel)
    let inMemory = try other.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    #expect(other.metadata(for: inMemory)["NSStoreUUID"] as? String == inMemory.identifier)
    #expect(other.metadata(for: inMemory)["NSStoreType"] as? String == "InMemory")
    let third = NSPersistentStoreCoordinator(managedObjectModel: memory.container.managedObjectModel)
    let error = try #require(
      #expect(throws: ManagedObjectError.self) {
        try third.addPersistentStore(ofType: "XML", configurationName: nil, at: nil)
      })
    #expect(((error as NSError).domain, (error as NSError).code) == (NSCocoaErrorDomain, 134000))
    #expect(
      error.message
        == "There is no store type \"XML\". Use InMemory, SQLite, or register an engine with "
        + "NSPersistentStoreCoordinator.registerStoreEngine(_:forStoreType:).")
  }
}
