import CoreDataEvolution
import Testing

// An executor that user code writes over a plain context, under a name that we use too.
private final class NSModelObjectContextExecutor: @unchecked Sendable, SerialExecutor {
  // Guard: the context is immutable here and only used inside its own perform.
  let context: NSManagedObjectContext

  init(context: NSManagedObjectContext) {
    self.context = context
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let unownedJob = UnownedJob(job)
    let unownedExecutor = asUnownedSerialExecutor()
    context.perform {
      unownedJob.runSynchronously(on: unownedExecutor)
    }
  }

  func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    UnownedSerialExecutor(ordinary: self)
  }
}

// The other signature that SerialExecutor takes.
private final class UnownedJobExecutor: @unchecked Sendable, SerialExecutor {
  // Guard: the context is immutable here and only used inside its own perform.
  let context: NSManagedObjectContext

  init(context: NSManagedObjectContext) {
    self.context = context
  }

  func enqueue(_ job: UnownedJob) {
    let unownedExecutor = asUnownedSerialExecutor()
    context.perform { job.runSynchronously(on: unownedExecutor) }
  }

  func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    UnownedSerialExecutor(ordinary: self)
  }
}

private actor UnownedJobStore {
  nonisolated let modelExecutor: UnownedJobExecutor
  nonisolated var unownedExecutor: UnownedSerialExecutor { modelExecutor.asUnownedSerialExecutor() }
  private var context: NSManagedObjectContext { modelExecutor.context }

  init(container: NSPersistentContainer) {
    modelExecutor = UnownedJobExecutor(context: container.newBackgroundContext())
  }

  func insert(_ count: Int) throws {
    for number in 0..<count { Item(context: context).count = number }
    try context.save()
  }

  func count() throws -> Int { try context.count(for: Item.fetchRequest()) }
}

extension NSPersistentContainer {
  fileprivate func loadPersistentStores() async throws {
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, Error>) in
      self.loadPersistentStores { storeDescription, error in
        if let error {
          continuation.resume(throwing: error)
        } else {
          continuation.resume(returning: ())
        }
      }
    }
  }

  fileprivate func add(_ count: Int) async throws {
    let context = newBackgroundContext()
    try await context.perform {
      for number in 0..<count { Item(context: context).count = number }
      try context.save()
    }
  }

  fileprivate func count() async throws -> Int {
    let context = newBackgroundContext()
    return try await context.perform { try context.count(for: Item.fetchRequest()) }
  }
}

private actor CoreDataStore {
  static let shared = CoreDataStore()
  let persistentContainer: NSPersistentContainer
  nonisolated let modelExecutor: NSModelObjectContextExecutor
  nonisolated var unownedExecutor: UnownedSerialExecutor {
    modelExecutor.asUnownedSerialExecutor()
  }
  private var context: NSManagedObjectContext { modelExecutor.context }

  private init() {
    persistentContainer = NSPersistentContainer(
      name: "CoreDataConcurrency", managedObjectModel: MySchema.objectModel)
    let description = NSPersistentStoreDescription()
    description.type = NSInMemoryStoreType
    persistentContainer.persistentStoreDescriptions = [description]
    persistentContainer.viewContext.automaticallyMergesChangesFromParent = true
    modelExecutor = NSModelObjectContextExecutor(context: persistentContainer.newBackgroundContext())
  }

  func load() async throws { try await persistentContainer.loadPersistentStores() }

  func insert(_ count: Int) throws {
    for number in 0..<count { Item(context: context).count = number }
    try context.save()
  }

  func count() throws -> Int { try context.count(for: Item.fetchRequest()) }

  func deleteAllAndSave<T: NSManagedObject>(using fetchRequest: NSFetchRequest<T>) throws {
    let objects = try context.fetch(fetchRequest)
    for object in objects {
      context.delete(object)
    }
    try context.save()
  }
}

private struct CoreDataStoreStructure {
  let context: NSManagedObjectContext

  func deleteAllAndSave<T: NSManagedObject>(using fetchRequest: NSFetchRequest<T>) async throws {
    try await context.perform {
      let objects = try context.fetch(fetchRequest)
      for object in objects {
        context.delete(object)
      }
      try context.save()
    }
  }
}

@globalActor
private actor CoreDataBackgroundContext {
  static let shared = CoreDataBackgroundContext()
  nonisolated let modelExecutor: NSModelObjectContextExecutor
  nonisolated var unownedExecutor: UnownedSerialExecutor {
    modelExecutor.asUnownedSerialExecutor()
  }

  init() {
    let container = try! NSPersistentContainer.makeTest(model: MySchema.objectModel, testName: "global actor")
    modelExecutor = NSModelObjectContextExecutor(context: container.newBackgroundContext())
  }
}

nonisolated private struct ContextPair {
  let viewContext: NSManagedObjectContext
  let backgroundContext: NSManagedObjectContext

  @CoreDataBackgroundContext
  func performHeavyQuery(closure: (NSManagedObjectContext) throws -> Void) rethrows {
    try closure(backgroundContext)
  }

  @MainActor
  func performWorkOnViewContext(closure: @escaping (NSManagedObjectContext) throws -> Void) async rethrows {
    try closure(viewContext)
  }
}

nonisolated private struct SimpleStore {
  let persistentContainer: NSPersistentContainer
  private var viewContext: NSManagedObjectContext { persistentContainer.viewContext }

  init(_ container: NSPersistentContainer) {
    persistentContainer = container
    persistentContainer.viewContext.automaticallyMergesChangesFromParent = true
  }

  @MainActor
  func perform(_ block: (NSManagedObjectContext) throws -> Void) rethrows {
    try block(viewContext)
  }

  @concurrent func deleteAllAndSave<T: NSManagedObject>(using fetchRequest: NSFetchRequest<T>) async throws {
    let backgroundContext = persistentContainer.newBackgroundContext()
    try await backgroundContext.perform {
      let objects = try backgroundContext.fetch(fetchRequest)
      for object in objects {
        backgroundContext.delete(object)
      }
      try backgroundContext.save()
    }
  }
}

@Suite("Executors and stores that user code writes over plain contexts")
struct CustomExecutorTests {
  @Test("An actor over a user's own executor may use the context's objects, in any order of calls")
  func ownExecutor() async throws {
    let store = CoreDataStore.shared
    try await store.load()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<20 { group.addTask { try await store.insert(5) } }
      try await group.waitForAll()
    }
    #expect(try await store.count() == 100)
    try await store.deleteAllAndSave(using: Item.fetchRequest())
    #expect(try await store.count() == 0)
  }

  @Test("An executor with the older enqueue isolates an actor alike")
  func unownedJobs() async throws {
    let store = UnownedJobStore(container: try TestStack().container)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<20 { group.addTask { try await store.insert(5) } }
      try await group.waitForAll()
    }
    #expect(try await store.count() == 100)
  }

  @Test("A structure deletes through perform")
  func structure() async throws {
    let container = try TestStack().container
    try await container.add(3)
    try await CoreDataStoreStructure(context: container.newBackgroundContext())
      .deleteAllAndSave(using: Item.fetchRequest())
    #expect(try await container.count() == 0)
  }

  @Test("A global actor over a user's own executor isolates the work on its context")
  func globalActor() async throws {
    let pair = ContextPair(
      viewContext: try TestStack().container.viewContext,
      backgroundContext: CoreDataBackgroundContext.shared.modelExecutor.context)
    try await pair.performHeavyQuery { context in
      Item(context: context).title = "heavy"
      try context.save()
    }
    try await pair.performHeavyQuery { context in
      let titles = try context.fetch(Item.fetchRequest()).map(\.title)
      #expect(titles == ["heavy"])
    }
    try await pair.performWorkOnViewContext { context in
      let count = try context.count(for: Item.fetchRequest())
      #expect(count == 0)
    }
  }

  @Test("A concurrent method deletes in the background, and the view context hears of it")
  func concurrentMethod() async throws {
    let store = SimpleStore(try TestStack().container)
    try await store.persistentContainer.add(4)
    try await store.perform { context in
      let items = try context.fetch(Item.fetchRequest())
      #expect(items.count == 4)
    }
    try await store.deleteAllAndSave(using: Item.fetchRequest())
    try await store.perform { context in
      let items = try context.fetch(Item.fetchRequest())
      #expect(items.isEmpty)
    }
  }

  @Test("Loading reports an error to an async caller, with what to do")
  func loadingFails() async throws {
    let container = NSPersistentContainer(name: "CoreDataConcurrency")
    container.viewContext.automaticallyMergesChangesFromParent = true
    let error = await #expect(throws: ManagedObjectError.self) { try await container.loadPersistentStores() }
    #expect(error?.code == .modelMissing)
    #expect(error?.message.contains("NSPersistentContainer(name:managedObjectModel:)") == true)
  }
}
