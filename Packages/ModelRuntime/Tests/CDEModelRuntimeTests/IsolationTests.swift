import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

/// An executor as users write it: nothing but public calls of a context.
final class PlainExecutor: @unchecked Sendable, SerialExecutor {
  // Guard: the context is only used by its own perform.
  let context: NSManagedObjectContext
  init(context: NSManagedObjectContext) { self.context = context }

  func enqueue(_ job: consuming ExecutorJob) {
    let unownedJob = UnownedJob(job)
    let unownedExecutor = asUnownedSerialExecutor()
    context.perform { unownedJob.runSynchronously(on: unownedExecutor) }
  }

  func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
}

actor PlainStore {
  nonisolated let executor: PlainExecutor
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
  private var context: NSManagedObjectContext { executor.context }

  init(_ container: NSPersistentContainer) {
    executor = PlainExecutor(context: container.newBackgroundContext())
  }

  func add(_ title: String) throws -> NSManagedObjectID {
    let item = Item(context: context)
    item.title = title
    try context.save()
    return item.objectID
  }

  func titles() throws -> [String] { try context.fetch(Item.fetchRequest()).map(\.title).sorted() }
}

@MainActor @NSMainModelActor
final class MainKeeper {
  func title(_ id: NSManagedObjectID) -> String? { self[id, as: Item.self]?.title }
}

@Suite("Isolation: blocks, actors and executors", .ownThreads)
struct IsolationTests {
  private struct Failure: Error, Equatable {}

  @Test("Awaited blocks give values and errors back, to every caller")
  func perform() async throws {
    let stack = try Stack()
    let context = stack.context()
    let count = await context.perform { 42 }
    #expect(count == 42)
    await #expect(throws: Failure.self) { try await context.perform { throw Failure() } }
    #expect(throws: Failure.self) { try context.performAndWait { throw Failure() } }
    let nested = try context.performAndWait {
      try context.performAndWait {
        _ = Item(context: context)
        try context.save()
        return try context.count(for: Item.fetchRequest())
      }
    }
    #expect(nested == 1)
    let enqueued = try await context.perform(schedule: .enqueued) {
      try context.count(for: Item.fetchRequest())
    }
    #expect(enqueued == 1)
  }

  @Test("Blocks run in order, each alone, never inside the call")
  func order() async throws {
    let context = try Stack().context()
    final class Log: @unchecked Sendable {
      // Guard: the context's executor.
      var numbers: [Int] = []
    }
    let log = Log()
    context.performAndWait {
      for number in 0..<100 { context.perform { log.numbers.append(number) } }
      #expect(log.numbers.isEmpty)
    }
    await context.perform(schedule: .enqueued) { #expect(log.numbers == Array(0..<100)) }
  }

  @Test("Background tasks get contexts of their own, by closure and by await")
  func backgroundTasks() async throws {
    let stack = try Stack()
    let made = try await stack.container.performBackgroundTask { context in
      let item = Item(context: context)
      item.title = "awaited"
      try context.save()
      return item.objectID
    }
    await withCheckedContinuation { done in
      stack.container.performBackgroundTask { context in
        _ = Item(context: context)
        try? context.save()
        done.resume()
      }
    }
    let context = stack.context()
    #expect(try context.count(for: Item.fetchRequest()) == 2)
    #expect((try context.existingObject(with: made) as? Item)?.title == "awaited")
    await #expect(throws: Failure.self) {
      try await stack.container.performBackgroundTask { _ in throw Failure() }
    }
  }

  @Test("Model actors work on their own contexts and find objects by ID")
  func actors() async throws {
    let stack = try Stack()
    let (one, other) = (Keeper(container: stack.container), Keeper(container: stack.container))
    #expect(one.modelContainer === stack.container)
    let id = try await one.add("made")
    #expect(await other.title(id) == "made")
    #expect(await !other.isCategory(id))
    try await one.rename(id, to: "renamed")
    #expect(await one.title(id) == "renamed")
    let count = try await one.withContext { context, container in
      #expect(container === stack.container)
      #expect(context !== container.viewContext)
      return try context.count(for: Item.fetchRequest())
    }
    #expect(count == 1)
    await #expect(throws: Failure.self) { try await one.withContext { _ in throw Failure() } }
    #expect(await MainKeeper(modelContainer: stack.container).title(id) == "renamed")
  }

  @Test("Executors that users write over a plain context run actors")
  func userExecutor() async throws {
    let store = PlainStore(try Stack().container)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for index in 0..<20 { group.addTask { _ = try await store.add("\(index)") } }
      try await group.waitForAll()
    }
    #expect(try await store.titles() == (0..<20).map(String.init).sorted())
  }

  @Test("A context that was never entered belongs to the code that made it")
  func neverEntered() throws {
    let stack = try Stack()
    let context = stack.container.newBackgroundContext()
    let item = Item(context: context)
    item.title = "here"
    try context.save()
    #expect(try context.fetch(Item.fetchRequest()).first === item)
  }

  @Test("Use from elsewhere traps, naming the entity and the context")
  func wrongIsolation() async {
    let object = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      checkUsesInReleaseBuildsToo()
      let context = try Stack().context()
      context.name = "importer"
      let item = await context.perform { Unchecked(Item(context: context)) }
      item.value.title = "elsewhere"
    }
    #expect(object?.text.contains("Item was used outside its context \"importer\"") == true)
    let relationship = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      checkUsesInReleaseBuildsToo()
      let context = try Stack().context()
      context.name = "importer"
      let item = await context.perform { Unchecked(Item(context: context)) }
      _ = item.value.tags
    }
    #expect(relationship?.text.contains("Item was used outside its context \"importer\"") == true)
    let fetch = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      checkUsesInReleaseBuildsToo()
      let container = try Stack().container
      await Task.detached { _ = try? container.viewContext.fetch(Item.fetchRequest()) }.value
    }
    #expect(fetch?.text.contains("this one belongs to the main actor") == true)
  }
}

/// What a release build does when it is asked to; debug builds always check. Read once, so it comes first.
private func checkUsesInReleaseBuildsToo() { setenv("CDE_CONCURRENCY_DEBUG", "1", 1) }
