// swift-format-ignore-file
// What is printed stays as it was printed.
import CoreDataEvolution
import Testing

// The examples of a lesson on custom executors for Core Data. They are printed without indentation.

enum ExecutorLesson {
  enum Executor {
// printed
final class NSModelObjectContextExecutor: @unchecked Sendable, SerialExecutor {
// end
    // Guard: the reference is constant, and the context has an isolation of its own.
// printed
private let context: NSManagedObjectContext
init(context: NSManagedObjectContext) {
self.context = context
}
func enqueue(_ job: consuming ExecutorJob) {
let unownedJob = UnownedJob(job)
let unownedExecutor = asUnownedSerialExecutor()
/// Execute the enqueued job on the configured managed object context.
context.perform {
unownedJob.runSynchronously(on: unownedExecutor)
}
}
func asUnownedSerialExecutor() -> UnownedSerialExecutor {
UnownedSerialExecutor(ordinary: self)
}
}
// end
  }

  // As printed the executor's context is private, which its actor could not read; ours is public.
// printed
actor CoreDataStore {
static let shared = CoreDataStore()
let persistentContainer: NSPersistentContainer
nonisolated let modelExecutor: NSModelObjectContextExecutor
nonisolated var unownedExecutor: UnownedSerialExecutor {
modelExecutor.asUnownedSerialExecutor()
}
private var context: NSManagedObjectContext { modelExecutor.context }
private init() {
persistentContainer = NSPersistentContainer(name: "CoreDataConcurrency")
persistentContainer.viewContext.automaticallyMergesChangesFromParent = true
modelExecutor = NSModelObjectContextExecutor(context: persistentContainer.newBackgroundContext())
Task {
do {
try await persistentContainer.loadPersistentStores()
} catch {
print("Failed to load persistent store: \(error)")
}
}
}
}
// end

  enum Deleting {
// printed
actor CoreDataStore {
/// ...
// end
    nonisolated let modelExecutor: NSModelObjectContextExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { modelExecutor.asUnownedSerialExecutor() }
    private var context: NSManagedObjectContext { modelExecutor.context }
    init(container: NSPersistentContainer) {
      modelExecutor = NSModelObjectContextExecutor(context: container.newBackgroundContext())
    }
// printed
func deleteAllAndSave<T: NSManagedObject>(using fetchRequest: NSFetchRequest<T>) throws {
let objects = try context.fetch(fetchRequest)
for object in objects {
context.delete(object)
}
try context.save()
}
}
// end
  }

  enum Structure {
// printed
struct CoreDataStoreStructure {
var context: NSManagedObjectContext {
CoreDataStore.shared.persistentContainer.viewContext
}
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
// end
  }

  static func heavy(_ backgroundContext: NSManagedObjectContext) async throws {
// printed
try await backgroundContext.perform {
/// Perform heavy query & work...
try backgroundContext.save()
}
// end
  }

// printed
@globalActor
actor CoreDataBackgroundContext {
static let shared = CoreDataBackgroundContext()
nonisolated let modelExecutor: NSModelObjectContextExecutor
nonisolated var unownedExecutor: UnownedSerialExecutor {
modelExecutor.asUnownedSerialExecutor()
}
init() {
let backgroundContext = CoreDataStore.shared.persistentContainer.newBackgroundContext()
modelExecutor = NSModelObjectContextExecutor(context: backgroundContext)
}
}
// end

// printed
nonisolated struct CoreDataStoreStructure {
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
// end

  enum Final {
// printed
nonisolated struct CoreDataStore {
static let shared = CoreDataStore()
let persistentContainer: NSPersistentContainer
private var viewContext: NSManagedObjectContext { persistentContainer.viewContext }
private init() {
persistentContainer = NSPersistentContainer(name: "CoreDataConcurrency")
persistentContainer.viewContext.automaticallyMergesChangesFromParent = true
Task { [persistentContainer] in
do {
try await persistentContainer.loadPersistentStores()
} catch {
print("Failed to load persistent store: \(error)")
}
}
}
// end
    init(container: NSPersistentContainer) { persistentContainer = container }
// printed
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
// end
  }
}

// printed
extension NSPersistentContainer {
func loadPersistentStores() async throws {
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
}
// end

@Suite("Examples of the lesson on executors")
struct ExecutorLessonTests {
  actor OnPrintedExecutor {
    nonisolated let modelExecutor: ExecutorLesson.Executor.NSModelObjectContextExecutor
    nonisolated let context: NSManagedObjectContext
    nonisolated var unownedExecutor: UnownedSerialExecutor { modelExecutor.asUnownedSerialExecutor() }

    init(container: NSPersistentContainer) {
      context = container.newBackgroundContext()
      modelExecutor = .init(context: context)
    }

    func insert() throws {
      _ = Item(context: context)
      try context.save()
    }
  }

  @Test("An actor on the printed executor writes, and each printed way to delete everything does so")
  func deleting() async throws {
    let container = try TestStack().container
    let actor = OnPrintedExecutor(container: container)
    let reader = container.newBackgroundContext()
    let count = { () async throws -> Int in
      try await reader.perform { try reader.count(for: Item.fetchRequest()) }
    }

    try await actor.insert()
    #expect(try await count() == 1)
    let request = Item.fetchRequest()
    try await ExecutorLesson.Deleting.CoreDataStore(container: container).deleteAllAndSave(using: request)
    #expect(try await count() == 0)

    try await actor.insert()
    let store = ExecutorLesson.Final.CoreDataStore(container: container)
    try await store.perform { context in
      let count = try context.count(for: Item.fetchRequest())
      #expect(count == 1)
    }
    try await store.deleteAllAndSave(using: Item.fetchRequest())
    #expect(try await count() == 0)
    try await ExecutorLesson.heavy(reader)
  }
}
