import CDESwiftData
import Foundation
import Observation
import Synchronization
import Testing

@Suite("Observed queries")
struct ObservedQueryTests {
  @Test("A query has its models in order, and follows insertions, changes and deletions before a save")
  func pending() throws {
    let context = ModelContext(try .inMemory(TaskItem.self))
    let query = try ObservedQuery(
      filter: #Predicate<TaskItem> { !$0.isDone }, sort: [SortDescriptor(\.title)], in: context)
    #expect(query.models.isEmpty)
    let (milk, bread) = (TaskItem(title: "Milk"), TaskItem(title: "Bread"))
    context.insert(milk)
    context.insert(bread)
    context.processPendingChanges()
    #expect(query.models.map(\.title) == ["Bread", "Milk"])
    bread.isDone = true
    context.processPendingChanges()
    #expect(query.models.map(\.title) == ["Milk"])
    context.delete(milk)
    context.processPendingChanges()
    #expect(query.models.isEmpty)
  }

  @Test("A reader of the result wakes when an actor saves a model of it, and not for a change of a value")
  @MainActor
  func background() async throws {
    let container = try ModelContainer.inMemory(TaskItem.self)
    let importer = Importer(modelContainer: container)
    let id = try await importer.add(["Milk"])[0]
    let query = try ObservedQuery<TaskItem>(sort: [SortDescriptor(\.created)], in: container.mainContext)
    #expect(query.models.map(\.title) == ["Milk"])
    let (wakes, continuation) = AsyncStream.makeStream(of: Void.self)
    let count = Mutex(0)
    withObservationTracking {
      _ = query.models
    } onChange: {
      count.withLock { $0 += 1 }
      continuation.yield()
    }
    try await importer.rename(id, to: "Oat milk")
    _ = try container.mainContext.fetch(FetchDescriptor<TaskItem>())
    #expect(count.withLock { $0 } == 0 && query.models.map(\.title) == ["Oat milk"])
    _ = try await importer.add(["Bread"])
    var iterator = wakes.makeAsyncIterator()
    await iterator.next()
    #expect(Set(query.models.map(\.title)) == ["Oat milk", "Bread"])
  }
}
