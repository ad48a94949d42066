import CDESwiftData
import Foundation
import Testing

@ModelActor
actor Importer {
  func add(_ titles: [String]) throws -> [PersistentIdentifier] {
    let items = titles.map { TaskItem(title: $0) }
    for item in items { modelContext.insert(item) }
    try modelContext.save()
    return items.map(\.persistentModelID)
  }

  func rename(_ id: PersistentIdentifier, to title: String) throws {
    guard let item = self[id, as: TaskItem.self] else { return }
    item.title = title
    try modelContext.save()
  }

  func isOnMain() -> Bool { Thread.isMainThread }

  func title(_ id: PersistentIdentifier) -> String? { self[id, as: TaskItem.self]?.title }
}

@Suite("Model actors")
struct ModelActorTests {
  @Test("Calls run off the main actor, also if the actor was made there")
  @MainActor
  func offMain() async throws {
    let importer = Importer(modelContainer: try .inMemory(TaskItem.self))
    #expect(await !importer.isOnMain())
  }

  @Test("Models of an actor are found by their identifiers, and reach the main context")
  @MainActor
  func identifiers() async throws {
    let container = try ModelContainer.inMemory(TaskItem.self)
    let importer = Importer(modelContainer: container)
    let ids = try await importer.add(["Milk", "Bread"])
    let main = container.mainContext
    #expect(main.autosaveEnabled)
    let items = try main.fetch(FetchDescriptor<TaskItem>(sortBy: [SortDescriptor(\.title)]))
    #expect(items.map(\.title) == ["Bread", "Milk"])
    #expect(await importer.title(ids[0]) == "Milk")
  }

  @Test("A reader on the main actor wakes for what an actor saves, and for the changed property alone")
  @MainActor
  func observation() async throws {
    let container = try ModelContainer.inMemory(TaskItem.self)
    let importer = Importer(modelContainer: container)
    let id = try await importer.add(["Milk"])[0]
    let item = try #require(container.mainContext.model(for: id) as? TaskItem)
    let (changes, continuation) = AsyncStream.makeStream(of: String.self)
    withObservationTracking {
      _ = item.isDone
    } onChange: {
      continuation.yield("isDone")
    }
    withObservationTracking {
      _ = item.title
    } onChange: {
      continuation.yield("title")
    }
    try await importer.rename(id, to: "Bread")
    var iterator = changes.makeAsyncIterator()
    #expect(await iterator.next() == "title")
    #expect(item.title == "Bread")
  }

  @Test("The main context saves by itself soon after a change")
  @MainActor
  func autosave() async throws {
    let container = try ModelContainer.inMemory(TaskItem.self)
    let (saves, continuation) = AsyncStream.makeStream(of: Void.self)
    let token = NotificationCenter.default.addObserver(
      forName: ModelContext.didSave, object: container.mainContext, queue: nil
    ) { _ in continuation.yield() }
    defer { NotificationCenter.default.removeObserver(token) }
    container.mainContext.insert(TaskItem(title: "Milk"))
    var iterator = saves.makeAsyncIterator()
    await iterator.next()
    #expect(!container.mainContext.hasChanges)
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<TaskItem>()) == 1)
  }
}
