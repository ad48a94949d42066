import CDECoreData
import Testing

// The annotations of these files are the declarations that Core Data has in Swift: what has another one here does not compile.
// Subclasses override each member that can be overridden.

@Suite("The interface of contexts")
struct ContextInterfaceTests {
  private typealias Context = NSManagedObjectContext

  @Test("A context is made with its type of concurrency")
  func making() {
    let _: (NSManagedObjectContextConcurrencyType) -> NSManagedObjectContext =
      NSManagedObjectContext.init(concurrencyType:)
    let _: (NSManagedObjectContext.ConcurrencyType) -> NSManagedObjectContext = NSManagedObjectContext.init(
      _:)
    let _: () -> NSManagedObjectContext = NSManagedObjectContext.init
    let _: KeyPath<Context, NSManagedObjectContextConcurrencyType> = \NSManagedObjectContext.concurrencyType
    let types: [NSManagedObjectContext.ConcurrencyType] = [
      NSManagedObjectContext.ConcurrencyType.privateQueueConcurrencyType,
      NSManagedObjectContext.ConcurrencyType.mainQueueConcurrencyType,
    ]
    #expect(types.map(\.rawValue) == [1, 2])
    let newer: [NSManagedObjectContext.ConcurrencyType] = [
      NSManagedObjectContext.ConcurrencyType.privateQueue, NSManagedObjectContext.ConcurrencyType.mainQueue,
    ]
    #expect(newer == types)
    #expect(
      NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType).concurrencyType == .privateQueue)
    #expect(NSManagedObjectContext(.mainQueue).concurrencyType == .mainQueueConcurrencyType)
  }

  @available(*, deprecated, message: "The type is deprecated in Core Data, too.")
  private static var confinement: NSManagedObjectContextConcurrencyType {
    NSManagedObjectContext.ConcurrencyType.confinementConcurrencyType
  }

  @Test("A context has Core Data's settings")
  func settings() {
    let _: ReferenceWritableKeyPath<Context, String?> = \NSManagedObjectContext.name
    let _: KeyPath<Context, NSMutableDictionary> = \NSManagedObjectContext.userInfo
    let _: ReferenceWritableKeyPath<Context, String?> = \NSManagedObjectContext.transactionAuthor
    let _: ReferenceWritableKeyPath<Context, Any> = \NSManagedObjectContext.mergePolicy
    let _: ReferenceWritableKeyPath<Context, Bool> =
      \NSManagedObjectContext.automaticallyMergesChangesFromParent
    let _: ReferenceWritableKeyPath<Context, NSPersistentStoreCoordinator?> =
      \NSManagedObjectContext.persistentStoreCoordinator
    let _: ReferenceWritableKeyPath<Context, NSManagedObjectContext?> = \NSManagedObjectContext.parent
    let _: ReferenceWritableKeyPath<Context, UndoManager?> = \NSManagedObjectContext.undoManager
    let _: ReferenceWritableKeyPath<Context, TimeInterval> = \NSManagedObjectContext.stalenessInterval
    let _: ReferenceWritableKeyPath<Context, Bool> = \NSManagedObjectContext.shouldDeleteInaccessibleFaults
    let _: ReferenceWritableKeyPath<Context, Bool> = \NSManagedObjectContext.retainsRegisteredObjects
    let _: ReferenceWritableKeyPath<Context, Bool> = \NSManagedObjectContext.propagatesDeletesAtEndOfEvent
    let _: KeyPath<Context, NSQueryGenerationToken?> = \NSManagedObjectContext.queryGenerationToken
    let _: (Context) -> (NSQueryGenerationToken?) throws -> Void =
      NSManagedObjectContext.setQueryGenerationFrom(_:)
    let context = NSManagedObjectContext(.privateQueue)
    #expect(context.name == nil && context.transactionAuthor == nil && context.userInfo.count == 0)
    #expect(!context.automaticallyMergesChangesFromParent && context.parent == nil)
    #expect((context.mergePolicy as? NSMergePolicy)?.mergeType == .errorMergePolicyType)
    #expect(context.propagatesDeletesAtEndOfEvent && !context.retainsRegisteredObjects)
    #expect(context.shouldDeleteInaccessibleFaults && context.stalenessInterval == -1)
  }

  @Test("Blocks run in a context, with results and without")
  func blocks() async throws {
    let _: (Context) -> (sending @escaping () -> Void) -> Void = NSManagedObjectContext.perform(_:)
    let _: (Context) -> (() -> Void) -> Void = NSManagedObjectContext.performAndWait(_:)
    let _: (Context) -> (() throws -> Int) throws -> Int = NSManagedObjectContext.performAndWait(_:)
    let _:
      (Context) ->
        nonisolated(nonsending) (NSManagedObjectContext.ScheduledTaskType, @escaping () throws -> Int)
        async throws -> Int = NSManagedObjectContext.perform(schedule:_:)
    let types: [NSManagedObjectContext.ScheduledTaskType] = [
      NSManagedObjectContext.ScheduledTaskType.immediate, NSManagedObjectContext.ScheduledTaskType.enqueued,
    ]
    let context = NSManagedObjectContext(.privateQueue)
    for type in types {
      let name: String? = await context.perform(schedule: type) { context.name }
      #expect(name == nil)
    }
    let number: Int = try await context.perform { try Int("7", format: .number) }
    #expect(number == context.performAndWait { 7 })
  }

  @Test("Objects are inserted, changed, fetched and saved")
  func objects() throws {
    let _: (Context) -> () throws -> Void = NSManagedObjectContext.save
    let _: (Context) -> (NSFetchRequest<NSManagedObject>) throws -> [NSManagedObject] =
      NSManagedObjectContext.fetch(_:)
    let _: (Context) -> (NSFetchRequest<NSDictionary>) throws -> [NSDictionary] =
      NSManagedObjectContext.fetch(_:)
    let _: (Context) -> (NSFetchRequest<NSManagedObjectID>) throws -> Int = NSManagedObjectContext.count(for:)
    let _: (Context) -> (NSPersistentStoreRequest) throws -> NSPersistentStoreResult =
      NSManagedObjectContext.execute(_:)
    let _: (Context) -> (NSManagedObject) -> Void = NSManagedObjectContext.insert(_:)
    let _: (Context) -> (NSManagedObject) -> Void = NSManagedObjectContext.delete(_:)
    let _: (Context) -> (NSManagedObject, Bool) -> Void = NSManagedObjectContext.refresh(_:mergeChanges:)
    let _: (Context) -> () -> Void = NSManagedObjectContext.refreshAllObjects
    let _: (Context) -> () -> Void = NSManagedObjectContext.reset
    let _: (Context) -> () -> Void = NSManagedObjectContext.rollback
    let _: (Context) -> () -> Void = NSManagedObjectContext.undo
    let _: (Context) -> () -> Void = NSManagedObjectContext.redo
    let _: (Context) -> () -> Void = NSManagedObjectContext.processPendingChanges
    let _: (Context) -> (NSManagedObjectID) -> NSManagedObject = NSManagedObjectContext.object(with:)
    let _: (Context) -> (NSManagedObjectID) throws -> NSManagedObject =
      NSManagedObjectContext.existingObject(with:)
    let _: (Context) -> (NSManagedObjectID) -> NSManagedObject? = NSManagedObjectContext.registeredObject(
      for:)
    let _: (Context) -> ([NSManagedObject]) throws -> Void = NSManagedObjectContext.obtainPermanentIDs(for:)
    let _: (Context) -> (Any, NSPersistentStore) -> Void = NSManagedObjectContext.assign(_:to:)
    let _: (Context) -> (NSManagedObject) -> Void = NSManagedObjectContext.detectConflicts(for:)
    let _: KeyPath<Context, Set<NSManagedObject>> = \NSManagedObjectContext.insertedObjects
    let _: KeyPath<Context, Set<NSManagedObject>> = \NSManagedObjectContext.updatedObjects
    let _: KeyPath<Context, Set<NSManagedObject>> = \NSManagedObjectContext.deletedObjects
    let _: KeyPath<Context, Set<NSManagedObject>> = \NSManagedObjectContext.registeredObjects
    let _: KeyPath<Context, Bool> = \NSManagedObjectContext.hasChanges

    let stack = try Stack()
    let context = stack.container.newBackgroundContext()
    try context.performAndWait {
      let note = stack.insertNote("A", in: context)
      #expect(context.insertedObjects == [note] && context.hasChanges)
      try context.obtainPermanentIDs(for: [note])
      try context.save()
      #expect(context.registeredObject(for: note.objectID) === note)
      #expect(context.object(with: note.objectID) === note)
      #expect(try context.existingObject(with: note.objectID) === note)
      note.setValue("B", forKey: "title")
      #expect(context.updatedObjects == [note])
      context.rollback()
      context.delete(note)
      #expect(context.deletedObjects == [note])
      try context.save()
      #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Note")) == 0)
    }
  }

  @Test("Changes of another context are merged")
  func merging() {
    let _: (Context) -> (Notification) -> Void = NSManagedObjectContext.mergeChanges(fromContextDidSave:)
    let merge: ([AnyHashable: Any], [NSManagedObjectContext]) -> Void =
      NSManagedObjectContext.mergeChanges(fromRemoteContextSave:into:)
    let context = NSManagedObjectContext(.privateQueue)
    merge([:], [context])
    context.performAndWait { #expect(!context.hasChanges) }
  }

  @Test("Notifications have Core Data's names")
  func notificationNames() {
    let members: [Notification.Name] = [
      NSManagedObjectContext.willSaveObjectsNotification, NSManagedObjectContext.didSaveObjectsNotification,
      NSManagedObjectContext.didChangeObjectsNotification,
      NSManagedObjectContext.didSaveObjectIDsNotification,
      NSManagedObjectContext.didMergeChangesObjectIDsNotification,
    ]
    let names: [Notification.Name] = [
      Notification.Name.NSManagedObjectContextWillSave, Notification.Name.NSManagedObjectContextDidSave,
      Notification.Name.NSManagedObjectContextObjectsDidChange,
      Notification.Name.NSManagedObjectContextDidSaveObjectIDs,
      Notification.Name.NSManagedObjectContextDidMergeChangesObjectIDs,
    ]
    #expect(members == names && Set(names).count == 5)
    #expect(
      names[..<3].map(\.rawValue) == [
        "NSManagingContextWillSaveChangesNotification", "NSManagingContextDidSaveChangesNotification",
        "NSObjectsChangedInManagingContextNotification",
      ])
  }

  @Test("Notifications have Core Data's keys, in both spellings")
  func notificationKeys() {
    typealias Key = NSManagedObjectContext.NotificationKey
    let same: [(NSManagedObjectContext.NotificationKey, String)] = [
      (NSManagedObjectContext.NotificationKey.insertedObjects, NSInsertedObjectsKey),
      (NSManagedObjectContext.NotificationKey.updatedObjects, NSUpdatedObjectsKey),
      (NSManagedObjectContext.NotificationKey.deletedObjects, NSDeletedObjectsKey),
      (NSManagedObjectContext.NotificationKey.refreshedObjects, NSRefreshedObjectsKey),
      (NSManagedObjectContext.NotificationKey.invalidatedObjects, NSInvalidatedObjectsKey),
      (NSManagedObjectContext.NotificationKey.invalidatedAllObjects, NSInvalidatedAllObjectsKey),
      (NSManagedObjectContext.NotificationKey.insertedObjectIDs, NSInsertedObjectIDsKey),
      (NSManagedObjectContext.NotificationKey.updatedObjectIDs, NSUpdatedObjectIDsKey),
      (NSManagedObjectContext.NotificationKey.deletedObjectIDs, NSDeletedObjectIDsKey),
      (NSManagedObjectContext.NotificationKey.refreshedObjectIDs, NSRefreshedObjectIDsKey),
      (NSManagedObjectContext.NotificationKey.invalidatedObjectIDs, NSInvalidatedObjectIDsKey),
    ]
    for (key, constant) in same { #expect(key.rawValue == constant) }
    let others: [Key] = [
      NSManagedObjectContext.NotificationKey.sourceContext,
      NSManagedObjectContext.NotificationKey.queryGeneration,
    ]
    #expect(Set(same.map(\.1) + others.map(\.rawValue)).count == 13)
  }
}
