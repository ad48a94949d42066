import CDECoreData
import Testing

/// A request as applications write one of their own.
private class OverriddenRequest<Result: NSFetchRequestResult>: NSFetchRequest<Result>, @unchecked Sendable {
  // Guard: used by one test, on one thread.
  override init() { super.init() }

  override var entityName: String? {
    get { super.entityName ?? "Note" }
    set { super.entityName = newValue }
  }
  override var affectedStores: [NSPersistentStore]? {
    get { super.affectedStores }
    set { super.affectedStores = newValue }
  }
  override var predicate: NSPredicate? {
    get { super.predicate }
    set { super.predicate = newValue }
  }
  override var sortDescriptors: [NSSortDescriptor]? {
    get { super.sortDescriptors }
    set { super.sortDescriptors = newValue }
  }
  override var fetchLimit: Int {
    get { super.fetchLimit }
    set { super.fetchLimit = newValue }
  }
  override var fetchOffset: Int {
    get { super.fetchOffset }
    set { super.fetchOffset = newValue }
  }
  override var fetchBatchSize: Int {
    get { super.fetchBatchSize }
    set { super.fetchBatchSize = newValue }
  }
  override var resultType: NSFetchRequestResultType {
    get { super.resultType }
    set { super.resultType = newValue }
  }
  override var includesSubentities: Bool {
    get { super.includesSubentities }
    set { super.includesSubentities = newValue }
  }
  override var includesPropertyValues: Bool {
    get { super.includesPropertyValues }
    set { super.includesPropertyValues = newValue }
  }
  override var includesPendingChanges: Bool {
    get { super.includesPendingChanges }
    set { super.includesPendingChanges = newValue }
  }
  override var returnsObjectsAsFaults: Bool {
    get { super.returnsObjectsAsFaults }
    set { super.returnsObjectsAsFaults = newValue }
  }
  override var shouldRefreshRefetchedObjects: Bool {
    get { super.shouldRefreshRefetchedObjects }
    set { super.shouldRefreshRefetchedObjects = newValue }
  }
  override var relationshipKeyPathsForPrefetching: [String]? {
    get { super.relationshipKeyPathsForPrefetching }
    set { super.relationshipKeyPathsForPrefetching = newValue }
  }
  override var propertiesToFetch: [Any]? {
    get { super.propertiesToFetch }
    set { super.propertiesToFetch = newValue }
  }
  override var propertiesToGroupBy: [Any]? {
    get { super.propertiesToGroupBy }
    set { super.propertiesToGroupBy = newValue }
  }
  override var havingPredicate: NSPredicate? {
    get { super.havingPredicate }
    set { super.havingPredicate = newValue }
  }
  override var returnsDistinctResults: Bool {
    get { super.returnsDistinctResults }
    set { super.returnsDistinctResults = newValue }
  }
}

/// Requests and results of kinds that applications derive.
private final class OverriddenStoreRequest: NSPersistentStoreRequest, @unchecked Sendable {
  // Guard: used by one test, on one thread.
  override var affectedStores: [NSPersistentStore]? {
    get { [] }
    set { super.affectedStores = newValue }
  }
}

private final class OverriddenResult: NSPersistentStoreResult {}

private final class OverriddenAsynchronousResult: NSPersistentStoreAsynchronousResult, @unchecked Sendable {
  // Guard: it is never made.
  override func cancel() { super.cancel() }
}

private final class OverriddenAsynchronousRequest: NSAsynchronousFetchRequest<NSManagedObject>,
  @unchecked Sendable
{
  // Guard: used by one test, on one thread.
  override var estimatedResultCount: Int {
    get { super.estimatedResultCount + 1 }
    set { super.estimatedResultCount = newValue }
  }
}

@Suite("The interface of fetches")
struct FetchInterfaceTests {
  private typealias Request = NSFetchRequest<NSManagedObject>

  @Test("A request has Core Data's settings")
  func request() {
    let _: NSPersistentStoreRequest.Type = NSFetchRequest<NSManagedObject>.self
    let _: () -> NSFetchRequest<NSManagedObject> = NSFetchRequest.init
    let _: (String) -> NSFetchRequest<NSManagedObject> = NSFetchRequest.init(entityName:)
    let _: ReferenceWritableKeyPath<NSPersistentStoreRequest, [NSPersistentStore]?> =
      \NSPersistentStoreRequest.affectedStores
    let _: ReferenceWritableKeyPath<Request, NSEntityDescription?> = \NSFetchRequest.entity
    let _: KeyPath<Request, String?> = \NSFetchRequest.entityName
    let _: ReferenceWritableKeyPath<Request, NSPredicate?> = \NSFetchRequest.predicate
    let _: ReferenceWritableKeyPath<Request, [NSSortDescriptor]?> = \NSFetchRequest.sortDescriptors
    let _: ReferenceWritableKeyPath<Request, Int> = \NSFetchRequest.fetchLimit
    let _: ReferenceWritableKeyPath<Request, Int> = \NSFetchRequest.fetchOffset
    let _: ReferenceWritableKeyPath<Request, Int> = \NSFetchRequest.fetchBatchSize
    let _: ReferenceWritableKeyPath<Request, NSFetchRequestResultType> = \NSFetchRequest.resultType
    let _: ReferenceWritableKeyPath<Request, Bool> = \NSFetchRequest.includesSubentities
    let _: ReferenceWritableKeyPath<Request, Bool> = \NSFetchRequest.includesPropertyValues
    let _: ReferenceWritableKeyPath<Request, Bool> = \NSFetchRequest.includesPendingChanges
    let _: ReferenceWritableKeyPath<Request, Bool> = \NSFetchRequest.returnsObjectsAsFaults
    let _: ReferenceWritableKeyPath<Request, Bool> = \NSFetchRequest.shouldRefreshRefetchedObjects
    let _: ReferenceWritableKeyPath<Request, [String]?> = \NSFetchRequest.relationshipKeyPathsForPrefetching
    let _: ReferenceWritableKeyPath<Request, [Any]?> = \NSFetchRequest.propertiesToFetch
    let _: ReferenceWritableKeyPath<Request, [Any]?> = \NSFetchRequest.propertiesToGroupBy
    let _: ReferenceWritableKeyPath<Request, NSPredicate?> = \NSFetchRequest.havingPredicate
    let _: ReferenceWritableKeyPath<Request, Bool> = \NSFetchRequest.returnsDistinctResults
    let _: (Request) -> () throws -> [NSManagedObject] = NSFetchRequest.execute
    let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
    #expect(request.entityName == "Note" && request.predicate == nil && request.sortDescriptors == nil)
    #expect(request.fetchLimit == 0 && request.fetchOffset == 0 && request.fetchBatchSize == 0)
    #expect(request.includesSubentities && request.includesPropertyValues && request.includesPendingChanges)
    #expect(request.returnsObjectsAsFaults && !request.shouldRefreshRefetchedObjects)
    #expect(!request.returnsDistinctResults && request.affectedStores == nil)
    let types: [NSFetchRequestResultType] = [
      NSFetchRequestResultType.managedObjectResultType, NSFetchRequestResultType.managedObjectIDResultType,
      NSFetchRequestResultType.dictionaryResultType, NSFetchRequestResultType.countResultType,
    ]
    #expect(types.map(\.rawValue) == [0, 1, 2, 4] && request.resultType == types[0])
  }

  @Test("A context reads what a request overrides")
  func overriding() throws {
    let stack = try Stack()
    let context = stack.container.newBackgroundContext()
    try context.performAndWait {
      for title in ["A", "B"] { stack.insertNote(title, in: context) }
      try context.save()
      let request: NSFetchRequest<NSManagedObject> = OverriddenRequest()
      request.entity = NSEntityDescription.entity(forEntityName: "Note", in: context)
      request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: false)]
      request.fetchLimit = 1
      #expect(request.entityName == "Note")
      #expect(try request.execute().map { $0.value(forKey: "title") as? String } == ["B"])
    }
    #expect(OverriddenStoreRequest().affectedStores?.isEmpty == true)
    let results: [NSPersistentStoreResult] = [OverriddenResult()]
    #expect(results.count == 1)
  }

  @Test("An asynchronous request has Core Data's parts")
  func asynchronous() throws {
    typealias Asynchronous = NSAsynchronousFetchRequest<NSManagedObject>
    typealias Result = NSAsynchronousFetchResult<NSManagedObject>
    let _: NSPersistentStoreRequest.Type = NSAsynchronousFetchRequest<NSManagedObject>.self
    let _: NSPersistentStoreResult.Type = NSPersistentStoreAsynchronousResult.self
    let _: NSPersistentStoreAsynchronousResult.Type = NSAsynchronousFetchResult<NSManagedObject>.self
    let _: (Request, ((Result) -> Void)?) -> Asynchronous =
      NSAsynchronousFetchRequest.init(fetchRequest:completionBlock:)
    let _: KeyPath<Asynchronous, Request> = \NSAsynchronousFetchRequest.fetchRequest
    let _: KeyPath<Asynchronous, ((Result) -> Void)?> = \NSAsynchronousFetchRequest.completionBlock
    let _: ReferenceWritableKeyPath<Asynchronous, Int> = \NSAsynchronousFetchRequest.estimatedResultCount
    typealias AnyResult = NSPersistentStoreAsynchronousResult
    let _: KeyPath<AnyResult, NSManagedObjectContext> =
      \NSPersistentStoreAsynchronousResult.managedObjectContext
    let _: KeyPath<AnyResult, (any Error)?> = \NSPersistentStoreAsynchronousResult.operationError
    let _: KeyPath<AnyResult, Progress?> = \NSPersistentStoreAsynchronousResult.progress
    let _: (AnyResult) -> () -> Void = NSPersistentStoreAsynchronousResult.cancel
    let _: KeyPath<Result, [NSManagedObject]?> = \NSAsynchronousFetchResult.finalResult
    let _: KeyPath<Result, Request> = \NSAsynchronousFetchResult.fetchRequest
    let request = OverriddenAsynchronousRequest(fetchRequest: NSFetchRequest(entityName: "Note")) { _ in }
    #expect(request.estimatedResultCount == 1)
    let stack = try Stack()
    let context = stack.container.newBackgroundContext()
    try context.performAndWait {
      let result = try context.execute(Asynchronous(fetchRequest: NSFetchRequest(entityName: "Note")))
      #expect(result is NSAsynchronousFetchResult<NSManagedObject>)
    }
  }
}
