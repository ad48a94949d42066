import CDECoreData
import Testing

private final class OverriddenInsertion: NSBatchInsertRequest, @unchecked Sendable {
  // Guard: used by one test, on one thread.
  override init(entityName: String, objects dictionaries: [[String: Any]]) {
    super.init(entityName: entityName, objects: dictionaries)
  }

  override var objectsToInsert: [[String: Any]]? {
    get { super.objectsToInsert.map { $0 + [["title": "C"]] } }
    set { super.objectsToInsert = newValue }
  }
  override var dictionaryHandler: ((NSMutableDictionary) -> Bool)? {
    get { super.dictionaryHandler }
    set { super.dictionaryHandler = newValue }
  }
  override var managedObjectHandler: ((NSManagedObject) -> Bool)? {
    get { super.managedObjectHandler }
    set { super.managedObjectHandler = newValue }
  }
  override var resultType: NSBatchInsertRequestResultType {
    get { .count }
    set { super.resultType = newValue }
  }
}

private final class OverriddenUpdate: NSBatchUpdateRequest, @unchecked Sendable {
  // Guard: used by one test, on one thread.
  override init(entityName: String) { super.init(entityName: entityName) }
  override init(entity: NSEntityDescription) { super.init(entity: entity) }

  override var predicate: NSPredicate? {
    get { super.predicate }
    set { super.predicate = newValue }
  }
  override var includesSubentities: Bool {
    get { super.includesSubentities }
    set { super.includesSubentities = newValue }
  }
  override var propertiesToUpdate: [AnyHashable: Any]? {
    get { super.propertiesToUpdate }
    set { super.propertiesToUpdate = newValue }
  }
  override var resultType: NSBatchUpdateRequestResultType {
    get { .updatedObjectsCountResultType }
    set { super.resultType = newValue }
  }
}

private final class OverriddenDelete: NSBatchDeleteRequest, @unchecked Sendable {
  // Guard: used by one test, on one thread.
  override var resultType: NSBatchDeleteRequestResultType {
    get { .resultTypeCount }
    set { super.resultType = newValue }
  }
}

@Suite("The interface of batch requests")
struct BatchInterfaceTests {
  @Test("A batch insertion has Core Data's members, and a context reads what a subclass overrides")
  func insertion() throws {
    typealias Insertion = NSBatchInsertRequest
    let _: (String, [[String: Any]]) -> Insertion = NSBatchInsertRequest.init(entityName:objects:)
    let _: (NSEntityDescription, [[String: Any]]) -> Insertion = NSBatchInsertRequest.init(entity:objects:)
    let _: (String, @escaping (NSMutableDictionary) -> Bool) -> Insertion =
      NSBatchInsertRequest.init(entityName:dictionaryHandler:)
    let _: (NSEntityDescription, @escaping (NSMutableDictionary) -> Bool) -> Insertion =
      NSBatchInsertRequest.init(entity:dictionaryHandler:)
    let _: (String, @escaping (NSManagedObject) -> Bool) -> Insertion =
      NSBatchInsertRequest.init(entityName:managedObjectHandler:)
    let _: (NSEntityDescription, @escaping (NSManagedObject) -> Bool) -> Insertion =
      NSBatchInsertRequest.init(entity:managedObjectHandler:)
    let _: KeyPath<Insertion, String> = \NSBatchInsertRequest.entityName
    let _: KeyPath<Insertion, NSEntityDescription?> = \NSBatchInsertRequest.entity
    let _: ReferenceWritableKeyPath<Insertion, [[String: Any]]?> = \NSBatchInsertRequest.objectsToInsert
    let _: ReferenceWritableKeyPath<Insertion, ((NSMutableDictionary) -> Bool)?> =
      \NSBatchInsertRequest.dictionaryHandler
    let _: ReferenceWritableKeyPath<Insertion, ((NSManagedObject) -> Bool)?> =
      \NSBatchInsertRequest.managedObjectHandler
    let _: ReferenceWritableKeyPath<Insertion, NSBatchInsertRequestResultType> =
      \NSBatchInsertRequest.resultType
    let types: [NSBatchInsertRequestResultType] = [
      NSBatchInsertRequestResultType.statusOnly, NSBatchInsertRequestResultType.objectIDs,
      NSBatchInsertRequestResultType.count,
    ]
    #expect(types.map(\.rawValue) == [0, 1, 2])
    let stack = try Stack()
    let context = stack.container.newBackgroundContext()
    try context.performAndWait {
      let request = NSBatchInsertRequest(entityName: "Note", objects: [["title": "A"], ["title": "B"]])
      #expect(request.resultType == .statusOnly && request.objectsToInsert?.count == 2)
      request.resultType = .count
      let result = try context.execute(request) as? NSBatchInsertResult
      let number: Any? = result?.result
      #expect(number as? Int == 2 && result?.resultType == .count)
      let derived: NSBatchInsertRequest = OverriddenInsertion(entityName: "Note", objects: [["title": "D"]])
      #expect((try context.execute(derived) as? NSBatchInsertResult)?.result as? Int == 2)
    }
  }

  @Test("A batch update has Core Data's members, and a context reads what a subclass overrides")
  func update() throws {
    typealias Update = NSBatchUpdateRequest
    let _: (String) -> NSBatchUpdateRequest = NSBatchUpdateRequest.init(entityName:)
    let _: (NSEntityDescription) -> NSBatchUpdateRequest = NSBatchUpdateRequest.init(entity:)
    let _: KeyPath<Update, String> = \NSBatchUpdateRequest.entityName
    let _: KeyPath<Update, NSEntityDescription?> = \NSBatchUpdateRequest.entity
    let _: ReferenceWritableKeyPath<Update, NSPredicate?> = \NSBatchUpdateRequest.predicate
    let _: ReferenceWritableKeyPath<Update, Bool> = \NSBatchUpdateRequest.includesSubentities
    let _: ReferenceWritableKeyPath<Update, [AnyHashable: Any]?> = \NSBatchUpdateRequest.propertiesToUpdate
    let _: ReferenceWritableKeyPath<Update, NSBatchUpdateRequestResultType> =
      \NSBatchUpdateRequest.resultType
    let types: [NSBatchUpdateRequestResultType] = [
      NSBatchUpdateRequestResultType.statusOnlyResultType,
      NSBatchUpdateRequestResultType.updatedObjectIDsResultType,
      NSBatchUpdateRequestResultType.updatedObjectsCountResultType,
    ]
    #expect(types.map(\.rawValue) == [0, 1, 2])
    let stack = try Stack()
    let context = stack.container.newBackgroundContext()
    try context.performAndWait {
      stack.insertNote("A", in: context)
      try context.save()
      let request: NSBatchUpdateRequest = OverriddenUpdate(entityName: "Note")
      #expect(request.includesSubentities && request.predicate == nil)
      request.propertiesToUpdate = ["rank": 7]
      let result = try context.execute(request) as? NSBatchUpdateResult
      #expect(result?.result as? Int == 1 && result?.resultType == .updatedObjectsCountResultType)
    }
  }

  @Test("A batch deletion has Core Data's members, and a context reads what a subclass overrides")
  func deletion() throws {
    typealias Deletion = NSBatchDeleteRequest
    let _: (NSFetchRequest<any NSFetchRequestResult>) -> NSBatchDeleteRequest =
      NSBatchDeleteRequest.init(fetchRequest:)
    let _: ([NSManagedObjectID]) -> NSBatchDeleteRequest = NSBatchDeleteRequest.init(objectIDs:)
    let _: KeyPath<Deletion, NSFetchRequest<any NSFetchRequestResult>> = \NSBatchDeleteRequest.fetchRequest
    let _: ReferenceWritableKeyPath<Deletion, NSBatchDeleteRequestResultType> =
      \NSBatchDeleteRequest.resultType
    let types: [NSBatchDeleteRequestResultType] = [
      NSBatchDeleteRequestResultType.resultTypeStatusOnly,
      NSBatchDeleteRequestResultType.resultTypeObjectIDs, NSBatchDeleteRequestResultType.resultTypeCount,
    ]
    #expect(types.map(\.rawValue) == [0, 1, 2])
    let stack = try Stack()
    let context = stack.container.newBackgroundContext()
    try context.performAndWait {
      stack.insertNote("A", in: context)
      try context.save()
      let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Note")
      let request: NSBatchDeleteRequest = OverriddenDelete(fetchRequest: fetch)
      let result = try context.execute(request) as? NSBatchDeleteResult
      #expect(result?.result as? Int == 1 && result?.resultType == .resultTypeCount)
    }
  }
}
