import CDECoreData
import Testing

/// Makes objects of a class that is known at run time only.
private func make<Object: NSManagedObject>(_ type: Object.Type, in context: NSManagedObjectContext) -> Object
{
  type.init(context: context)
}

private func make<Object: NSManagedObject>(_ type: Object.Type, of entity: NSEntityDescription) -> Object {
  type.init(entity: entity, insertInto: nil)
}

/// The class of an entity of its name.
final class InterfaceNote: NSManagedObject {}

@Suite("The interface of objects")
struct ObjectInterfaceTests {
  private typealias Object = NSManagedObject

  private func makeStack() throws -> (NSManagedObjectContext, NSEntityDescription) {
    let title = NSAttributeDescription()
    title.name = "title"
    title.attributeType = .stringAttributeType
    let entity = NSEntityDescription()
    entity.name = "InterfaceNote"
    entity.managedObjectClassName = NSStringFromClass(InterfaceNote.self)
    entity.properties = [title]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return (context, entity)
  }

  @Test("Objects are made by a class, and by one that is known at run time only")
  func making() throws {
    let _: (NSEntityDescription, NSManagedObjectContext?) -> NSManagedObject =
      NSManagedObject.init(entity:insertInto:)
    let _: (NSManagedObjectContext) -> InterfaceNote = InterfaceNote.init(context:)
    let _: (NSManagedObjectContext) -> NSManagedObject = NSManagedObject.init(context:)
    let _: () -> NSEntityDescription = NSManagedObject.entity
    let _: () -> NSFetchRequest<any NSFetchRequestResult> = NSManagedObject.fetchRequest
    let (context, entity) = try makeStack()
    try context.performAndWait {
      let note = make(InterfaceNote.self, in: context)
      #expect(note.entity === entity && note.isInserted && context.insertedObjects == [note])
      let loose = make(InterfaceNote.self, of: entity)
      #expect(loose.managedObjectContext == nil && type(of: loose) == InterfaceNote.self)
      try context.save()
      let request: NSFetchRequest<any NSFetchRequestResult> = InterfaceNote.fetchRequest()
      #expect(request.entityName == "InterfaceNote" && InterfaceNote.entity().name == "InterfaceNote")
    }
  }

  @Test("An object has the state of Core Data's")
  func state() throws {
    let _: any NSFetchRequestResult.Type = NSManagedObject.self
    let _: KeyPath<Object, NSEntityDescription> = \NSManagedObject.entity
    let _: KeyPath<Object, NSManagedObjectID> = \NSManagedObject.objectID
    let _: KeyPath<Object, NSManagedObjectContext?> = \NSManagedObject.managedObjectContext
    let _: KeyPath<Object, Bool> = \NSManagedObject.hasChanges
    let _: KeyPath<Object, Bool> = \NSManagedObject.hasPersistentChangedValues
    let _: KeyPath<Object, Bool> = \NSManagedObject.isInserted
    let _: KeyPath<Object, Bool> = \NSManagedObject.isUpdated
    let _: KeyPath<Object, Bool> = \NSManagedObject.isDeleted
    let _: KeyPath<Object, Bool> = \NSManagedObject.isFault
    let _: KeyPath<Object, Int> = \NSManagedObject.faultingState
    let _: (Object) -> (String) -> Bool = NSManagedObject.hasFault(forRelationshipNamed:)
    let _: (Object) -> (String) -> [NSManagedObjectID] = NSManagedObject.objectIDs(forRelationshipNamed:)
    let _: (Object) -> () -> [String: Any] = NSManagedObject.changedValues
    let _: (Object) -> () -> [String: Any] = NSManagedObject.changedValuesForCurrentEvent
    let _: (Object) -> ([String]?) -> [String: Any] = NSManagedObject.committedValues(forKeys:)
    let (context, entity) = try makeStack()
    try context.performAndWait {
      let note = InterfaceNote(entity: entity, insertInto: context)
      try context.save()
      note.setValue("B", forKey: "title")
      #expect(note.isUpdated && note.hasChanges && note.hasPersistentChangedValues && !note.isFault)
      #expect(note.changedValues()["title"] as? String == "B")
      #expect(note.committedValues(forKeys: ["title"])["title"] is NSNull)
      context.delete(note)
      #expect(note.isDeleted && !note.isInserted && note.faultingState == 0)
    }
  }

  @Test("An object has Core Data's callbacks and checks")
  func callbacks() {
    let _: (Object) -> () -> Void = NSManagedObject.awakeFromInsert
    let _: (Object) -> () -> Void = NSManagedObject.awakeFromFetch
    let _: (Object) -> (NSSnapshotEventType) -> Void = NSManagedObject.awake(fromSnapshotEvents:)
    let _: (Object) -> () -> Void = NSManagedObject.prepareForDeletion
    let _: (Object) -> () -> Void = NSManagedObject.willSave
    let _: (Object) -> () -> Void = NSManagedObject.didSave
    let _: (Object) -> () -> Void = NSManagedObject.willTurnIntoFault
    let _: (Object) -> () -> Void = NSManagedObject.didTurnIntoFault
    let _: (Object) -> () throws -> Void = NSManagedObject.validateForInsert
    let _: (Object) -> () throws -> Void = NSManagedObject.validateForUpdate
    let _: (Object) -> () throws -> Void = NSManagedObject.validateForDelete
    let _: (Object) -> (AutoreleasingUnsafeMutablePointer<AnyObject?>, String) throws -> Void =
      NSManagedObject.validateValue(_:forKey:)
    let events: [NSSnapshotEventType] = [
      NSSnapshotEventType.undoInsertion, NSSnapshotEventType.undoDeletion, NSSnapshotEventType.undoUpdate,
      NSSnapshotEventType.rollback, NSSnapshotEventType.refresh, NSSnapshotEventType.mergePolicy,
    ]
    #expect(events.map(\.rawValue) == [2, 4, 8, 16, 32, 64])
    #expect(NSSnapshotEventType(events).rawValue == 126)
  }

  @Test("Values are read and written by key")
  func values() throws {
    let _: (Object) -> (String) -> Any? = NSManagedObject.value(forKey:)
    let _: (Object) -> (Any?, String) -> Void = NSManagedObject.setValue(_:forKey:)
    let _: (Object) -> (String) -> Any? = NSManagedObject.value(forKeyPath:)
    let _: (Object) -> (Any?, String) -> Void = NSManagedObject.setValue(_:forKeyPath:)
    let _: (Object) -> (String) -> Any? = NSManagedObject.value(forUndefinedKey:)
    let _: (Object) -> (Any?, String) -> Void = NSManagedObject.setValue(_:forUndefinedKey:)
    let _: (Object) -> ([String]) -> [String: Any] = NSManagedObject.dictionaryWithValues(forKeys:)
    let _: (Object) -> ([String: Any]) -> Void = NSManagedObject.setValuesForKeys(_:)
    let _: (String) -> Set<String> = NSManagedObject.keyPathsForValuesAffectingValue(forKey:)
    let _: (Object) -> (String) -> Any? = NSManagedObject.primitiveValue(forKey:)
    let _: (Object) -> (Any?, String) -> Void = NSManagedObject.setPrimitiveValue(_:forKey:)
    let _: (Object) -> (String?) -> Void = NSManagedObject.willAccessValue(forKey:)
    let _: (Object) -> (String?) -> Void = NSManagedObject.didAccessValue(forKey:)
    let _: (Object) -> (String) -> Void = NSManagedObject.willChangeValue(forKey:)
    let _: (Object) -> (String) -> Void = NSManagedObject.didChangeValue(forKey:)
    let _: (Object) -> (String, NSKeyValueSetMutationKind, Set<AnyHashable>) -> Void =
      NSManagedObject.willChangeValue(forKey:withSetMutation:using:)
    let _: (Object) -> (String, NSKeyValueSetMutationKind, Set<AnyHashable>) -> Void =
      NSManagedObject.didChangeValue(forKey:withSetMutation:using:)
    let _: (Object) -> (NSKeyValueChange, IndexSet, String) -> Void =
      NSManagedObject.willChange(_:valuesAt:forKey:)
    let _: (Object) -> (NSKeyValueChange, IndexSet, String) -> Void =
      NSManagedObject.didChange(_:valuesAt:forKey:)
    let _: (Object) -> (String) -> NSMutableSet = NSManagedObject.mutableSetValue(forKey:)
    let _: (Object) -> (String) -> NSMutableOrderedSet = NSManagedObject.mutableOrderedSetValue(forKey:)
    let (context, entity) = try makeStack()
    context.performAndWait {
      let note = InterfaceNote(entity: entity, insertInto: context)
      note.willChangeValue(forKey: "title")
      note.setPrimitiveValue("B", forKey: "title")
      note.didChangeValue(forKey: "title")
      #expect(note.primitiveValue(forKey: "title") as? String == "B" && note.hasChanges)
      #expect(note.dictionaryWithValues(forKeys: ["title"])["title"] as? String == "B")
    }
  }

  @Test("An identity tells its entity, its store and its address")
  func identity() throws {
    let _: any NSFetchRequestResult.Type = NSManagedObjectID.self
    let _: any Sendable.Type = NSManagedObjectID.self
    let _: KeyPath<NSManagedObjectID, NSEntityDescription> = \NSManagedObjectID.entity
    let _: KeyPath<NSManagedObjectID, NSPersistentStore?> = \NSManagedObjectID.persistentStore
    let _: KeyPath<NSManagedObjectID, Bool> = \NSManagedObjectID.isTemporaryID
    let _: (NSManagedObjectID) -> () -> URL = NSManagedObjectID.uriRepresentation
    let _: () -> NSManagedObjectID = NSManagedObjectID.init
    let (context, entity) = try makeStack()
    try context.performAndWait {
      let note = InterfaceNote(context: context)
      #expect(note.objectID.isTemporaryID)
      try context.save()
      #expect(!note.objectID.isTemporaryID && note.objectID.entity === entity)
      #expect(note.objectID.persistentStore === context.persistentStoreCoordinator?.persistentStores.first)
      #expect(note.objectID.uriRepresentation().scheme == "x-coredata")
    }
  }

  @Test("Kinds of changes have Foundation's numbers")
  func changeKinds() {
    let kinds: [NSKeyValueSetMutationKind] = [
      NSKeyValueSetMutationKind.union, NSKeyValueSetMutationKind.minus, NSKeyValueSetMutationKind.intersect,
      NSKeyValueSetMutationKind.set,
    ]
    let changes: [NSKeyValueChange] = [
      NSKeyValueChange.setting, NSKeyValueChange.insertion, NSKeyValueChange.removal,
      NSKeyValueChange.replacement,
    ]
    #expect(kinds.map(\.rawValue) == [1, 2, 3, 4] && changes.map(\.rawValue) == [1, 2, 3, 4])
  }
}
