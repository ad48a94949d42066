import CDECoreData
import Testing

/// A context that notes which of its members are called.
private final class OverriddenContext: NSManagedObjectContext, @unchecked Sendable {
  // Guard: used by one test, on one thread.
  var calls: [String] = []

  override init(concurrencyType: NSManagedObjectContextConcurrencyType) {
    super.init(concurrencyType: concurrencyType)
  }

  override func perform(_ block: sending @escaping () -> Void) { super.perform(block) }

  override func performAndWait(_ block: () -> Void) {
    calls.append("performAndWait")
    super.performAndWait(block)
  }

  override func save() throws {
    calls.append("save")
    try super.save()
  }

  override func execute(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
    calls.append("execute")
    return try super.execute(request)
  }

  override func insert(_ object: NSManagedObject) {
    calls.append("insert")
    super.insert(object)
  }

  override func delete(_ object: NSManagedObject) {
    calls.append("delete")
    super.delete(object)
  }

  override func refresh(_ object: NSManagedObject, mergeChanges flag: Bool) {
    calls.append("refresh")
    super.refresh(object, mergeChanges: flag)
  }

  override func refreshAllObjects() {
    calls.append("refreshAllObjects")
    super.refreshAllObjects()
  }

  override func reset() {
    calls.append("reset")
    super.reset()
  }

  override func rollback() {
    calls.append("rollback")
    super.rollback()
  }

  override func undo() {
    calls.append("undo")
    super.undo()
  }

  override func redo() {
    calls.append("redo")
    super.redo()
  }

  override func processPendingChanges() { super.processPendingChanges() }

  override func object(with objectID: NSManagedObjectID) -> NSManagedObject { super.object(with: objectID) }

  override func existingObject(with objectID: NSManagedObjectID) throws -> NSManagedObject {
    try super.existingObject(with: objectID)
  }

  override func registeredObject(for objectID: NSManagedObjectID) -> NSManagedObject? {
    super.registeredObject(for: objectID)
  }

  override func obtainPermanentIDs(for objects: [NSManagedObject]) throws {
    try super.obtainPermanentIDs(for: objects)
  }

  override func mergeChanges(fromContextDidSave notification: Notification) {
    calls.append("mergeChanges")
    super.mergeChanges(fromContextDidSave: notification)
  }

  override var insertedObjects: Set<NSManagedObject> { super.insertedObjects }
  override var updatedObjects: Set<NSManagedObject> { super.updatedObjects }
  override var deletedObjects: Set<NSManagedObject> { super.deletedObjects }
  override var registeredObjects: Set<NSManagedObject> { super.registeredObjects }
  override var hasChanges: Bool { super.hasChanges }

  override var name: String? {
    get { super.name.map { "\($0)!" } }
    set { super.name = newValue }
  }
  override var transactionAuthor: String? {
    get { super.transactionAuthor }
    set { super.transactionAuthor = newValue }
  }
  override var mergePolicy: Any {
    get { super.mergePolicy }
    set { super.mergePolicy = newValue }
  }
  override var automaticallyMergesChangesFromParent: Bool {
    get { super.automaticallyMergesChangesFromParent }
    set { super.automaticallyMergesChangesFromParent = newValue }
  }
  override var persistentStoreCoordinator: NSPersistentStoreCoordinator? {
    get { super.persistentStoreCoordinator }
    set { super.persistentStoreCoordinator = newValue }
  }
  override var parent: NSManagedObjectContext? {
    get { super.parent }
    set { super.parent = newValue }
  }
  override var undoManager: UndoManager? {
    get { super.undoManager }
    set { super.undoManager = newValue }
  }
  override var stalenessInterval: TimeInterval {
    get { super.stalenessInterval }
    set { super.stalenessInterval = newValue }
  }
  override var shouldDeleteInaccessibleFaults: Bool {
    get { super.shouldDeleteInaccessibleFaults }
    set { super.shouldDeleteInaccessibleFaults = newValue }
  }
}

@Suite("A context whose members are overridden")
struct OverriddenContextTests {
  @Test("Code that knows the base class calls what a subclass overrides")
  func overriding() throws {
    let stack = try Stack()
    let overridden = OverriddenContext(concurrencyType: .privateQueueConcurrencyType)
    overridden.undoManager = UndoManager()
    let context: NSManagedObjectContext = overridden
    context.persistentStoreCoordinator = stack.container.persistentStoreCoordinator
    context.name = "A"
    #expect(context.name == "A!")
    try context.performAndWait {
      let note = stack.insertNote("A", in: context)
      try context.save()
      note.setValue("B", forKey: "title")
      context.processPendingChanges()
      context.undo()
      context.redo()
      #expect(context.updatedObjects == [note] && note.value(forKey: "title") as? String == "B")
      context.rollback()
      context.refresh(note, mergeChanges: true)
      context.refreshAllObjects()
      context.delete(note)
      try context.save()
      _ = try context.execute(NSBatchDeleteRequest(objectIDs: []))
      context.reset()
    }
    let called: Set = [
      "performAndWait", "insert", "save", "undo", "redo", "rollback", "refresh", "refreshAllObjects",
      "delete",
      "execute", "reset",
    ]
    #expect(called.isSubset(of: overridden.calls))
  }
}
