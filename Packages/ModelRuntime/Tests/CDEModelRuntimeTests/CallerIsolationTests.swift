import CDEManagedModel
import CDEModelRuntime
import Foundation
import Observation
import Testing

/// A view model: its blocks, and the closures in them, are the main actor's.
@MainActor
private final class Screen {
  var state = 0
  var titles: [String] = []

  func add(_ title: String, to context: NSManagedObjectContext) async throws {
    try await context.perform {
      MainActor.assertIsolated()
      self.state += 1
      Item(context: context).title = title
      try context.save()
    }
  }

  func load(_ context: NSManagedObjectContext) async throws {
    titles = try await context.perform {
      let items = try context.fetch(Item.fetchRequest()).sorted {
        self.state += 1
        return $0.title < $1.title
      }
      _ = items.reduce(0) {
        self.state += 1
        return $0 + $1.title.count
      }
      items.forEach { _ in self.state += 1 }
      _ = items.first {
        self.state += 1
        return $0.title == "b"
      }
      withObservationTracking {
        _ = items.map(\.title)
        self.state += 1
      } onChange: {
      }
      return items.map { item in
        self.state += 1
        return item.title
      }
    }
  }

  func waiting(_ context: NSManagedObjectContext) throws -> [String] {
    try context.performAndWait {
      self.state += 1
      return try context.fetch(Item.fetchRequest()).map {
        self.state += 1
        return $0.title
      }.sorted { $0 < $1 }
    }
  }

  func inTheBackground(_ container: NSPersistentContainer) async throws -> [String] {
    try await container.performBackgroundTask { context in
      self.state += 1
      return try context.fetch(Item.fetchRequest()).map {
        self.state += 1
        return $0.title
      }.sorted { $0 < $1 }
    }
  }

  func calling(_ context: NSManagedObjectContext) async -> [String] {
    await withCheckedContinuation { continuation in
      context.perform {
        let titles = (try? context.fetch(Item.fetchRequest()))?.map { $0.title }.sorted { $0 < $1 }
        continuation.resume(returning: titles ?? [])
      }
    }
  }

  /// A closure of the main actor whose type does not say so, in the hands of code that belongs to its caller.
  func throughHelper(_ context: NSManagedObjectContext) async {
    let step = {
      MainActor.assertIsolated()
      self.state += 1
    }
    await helper(context, step)
    helperWaiting(context, step)
  }

  func reader(_ reader: Reader) async throws -> [String] {
    try await reader.withContext { context in
      try context.fetch(Item.fetchRequest()).map { $0.title }.sorted { $0 < $1 }
    }
  }

  func announced(_ context: NSManagedObjectContext) async throws -> [Int] {
    var seen: [Int] = []
    let token = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
    ) { _ in
      MainActor.assumeIsolated { seen.append(self.state) }
    }
    defer { NotificationCenter.default.removeObserver(token) }
    await context.perform {
      self.state = 10
      _ = Item(context: context)
      self.state = 11
    }
    return seen
  }
}

nonisolated(nonsending) private func helper(_ context: NSManagedObjectContext, _ step: @escaping () -> Void)
  async
{
  await context.perform { step() }
}

private func helperWaiting(_ context: NSManagedObjectContext, _ step: () -> Void) {
  context.performAndWait { step() }
}

private actor Clerk {
  var count = 0

  func add(_ title: String, to context: NSManagedObjectContext) async throws -> Int {
    try await context.perform {
      self.preconditionIsolated()
      Item(context: context).title = title
      try context.save()
      return try context.fetch(Item.fetchRequest()).filter { _ in
        self.count += 1
        return true
      }.count
    }
  }

  func count(in context: NSManagedObjectContext) throws -> Int {
    try context.performAndWait {
      try context.fetch(Item.fetchRequest()).filter { _ in
        self.count += 1
        return true
      }.count
    }
  }
}

private actor Reader: NSModelActor {
  nonisolated let modelContainer: NSPersistentContainer
  nonisolated let modelExecutor: NSModelObjectContextExecutor
  var count = 0

  init(_ container: NSPersistentContainer) {
    modelContainer = container
    modelExecutor = NSModelObjectContextExecutor(context: container.newBackgroundContext())
  }

  func own() async throws -> Int {
    let context = modelContext
    return try await context.perform {
      try context.fetch(Item.fetchRequest()).filter { _ in
        self.count += 1
        return true
      }.count
    }
  }

  func other(_ context: NSManagedObjectContext) async throws -> Int {
    try await context.perform {
      try context.fetch(Item.fetchRequest()).filter { _ in
        self.count += 1
        return true
      }.count
    }
  }
}

@Suite("Blocks run where their caller is")
struct CallerIsolationTests {
  @Test(
    "A view model's blocks, and closures of every kind in them, run on the main actor with the context its own"
  )
  func mainActor() async throws {
    let stack = try Stack()
    let context = stack.context()
    let screen = Screen()
    try await screen.add("b", to: context)
    try await screen.add("a", to: stack.container.viewContext)
    try await screen.load(context)
    #expect(await screen.titles == ["a", "b"])
    #expect(try await screen.waiting(context) == ["a", "b"])
    #expect(try await screen.waiting(stack.container.viewContext) == ["a", "b"])
    #expect(try await screen.inTheBackground(stack.container) == ["a", "b"])
    #expect(await screen.calling(context) == ["a", "b"])
    #expect(try await screen.reader(Reader(stack.container)) == ["a", "b"])
    let before = await screen.state
    await screen.throughHelper(context)
    #expect(await screen.state == before + 2)
  }

  @Test("Blocks of actors run on them: a plain actor's, a model actor's on its own context and on another's")
  func actors() async throws {
    let stack = try Stack()
    let (clerk, reader) = (Clerk(), Reader(stack.container))
    #expect(try await clerk.add("a", to: stack.context()) == 1)
    #expect(try await clerk.add("b", to: stack.container.viewContext) == 2)
    #expect(try await clerk.count(in: stack.context()) == 2)
    #expect(try await reader.own() == 2)
    #expect(try await reader.other(stack.context()) == 2)
    #expect(try await reader.other(stack.container.viewContext) == 2)
  }

  @Test("A caller of no actor leaves the block on the context, and may use one object in two blocks")
  func callerWithoutActor() async throws {
    let stack = try Stack()
    let context = stack.context()
    final class Local { var number = 0 }
    let local = Local()
    await context.perform { local.number += 1 }
    await context.perform { local.number += 1 }
    #expect(local.number == 2)
    let item = await context.perform { Item(context: context) }
    await context.perform { item.title = "x" }
    #expect(await context.perform { item.title } == "x")
  }

  @Test("The end of a main actor's block announces its changes, on the main actor")
  func announcements() async throws {
    #expect(try await Screen().announced(Stack().context()) == [11])
  }

  @Test("The handler of stores that are loaded in the background runs on the actor that it belongs to")
  func loading() async throws {
    let model = try Stack().container.managedObjectModel
    let description = NSPersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))
    for inBackground in [false, true] {
      description.shouldAddStoreAsynchronously = inBackground
      let container = NSPersistentContainer(name: "Loading", managedObjectModel: model)
      container.persistentStoreDescriptions = [description]
      await Loader().load(container)
      #expect(container.persistentStoreCoordinator.persistentStores.count == 1)
    }
  }

  @Test("Stores are loaded in the background without a thread of the pool of tasks")
  func loadingQueue() async throws {
    let model = try Stack().container.managedObjectModel
    let description = NSPersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))
    description.shouldAddStoreAsynchronously = true
    let container = NSPersistentContainer(name: "Loading", managedObjectModel: model)
    container.persistentStoreDescriptions = [description]
    let isInTask = await withCheckedContinuation { continuation in
      container.loadPersistentStores { _, _ in
        continuation.resume(returning: withUnsafeCurrentTask { $0 != nil })
      }
    }
    #expect(!isInTask)
    // A coordinator reads the description as well. The block of a store that is loaded at once is called in this task.
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    for inBackground in [false, true] {
      description.shouldAddStoreAsynchronously = inBackground
      let isInTask = await withCheckedContinuation { continuation in
        coordinator.addPersistentStore(with: description) { added, error in
          #expect(added === description && error == nil)
          continuation.resume(returning: withUnsafeCurrentTask { $0 != nil })
        }
      }
      #expect(isInTask == !inBackground)
    }
    #expect(coordinator.persistentStores.count == 2)
    description.type = "None"
    let failure = await withCheckedContinuation { continuation in
      coordinator.addPersistentStore(with: description) {
        continuation.resume(returning: $1 as? ManagedObjectError)
      }
    }
    #expect(failure?.code == .invalidStoreType)
  }
}

@MainActor
private final class Loader {
  var count = 0

  func load(_ container: NSPersistentContainer) async {
    await withCheckedContinuation { continuation in
      container.loadPersistentStores { _, error in
        MainActor.assertIsolated()
        self.count +=
          [1].map {
            self.count += 1
            return $0
          }[0]
        #expect(error == nil)
        continuation.resume()
      }
    }
    #expect(count == 2)
  }
}
