import CDESwiftData
import Foundation
import Synchronization
import Testing

@ModelActor
actor Clerk {
  func add(_ titles: [String], to writer: String) throws -> PersistentIdentifier {
    let writer = Writer(writer)
    modelContext.insert(writer)
    for title in titles { writer.novels.append(Novel(title)) }
    try modelContext.save()
    return writer.persistentModelID
  }

  func rename(_ id: PersistentIdentifier, _ name: String) throws {
    guard let writer = self[id, as: Writer.self] else { return }
    writer.name = name
    try modelContext.save()
  }

  func addNovel(_ title: String, to id: PersistentIdentifier) throws {
    self[id, as: Writer.self]?.novels.append(Novel(title))
    try modelContext.save()
  }

  func delete(_ id: PersistentIdentifier) throws {
    if let writer = self[id, as: Writer.self] { modelContext.delete(writer) }
    try modelContext.save()
  }

  func name(_ id: PersistentIdentifier) -> String? { self[id, as: Writer.self]?.name }
  func isNovel(_ id: PersistentIdentifier) -> Bool { self[id, as: Novel.self] != nil }
  func count() throws -> Int { try modelContext.count(Novel.self) }
  func isOnMainThread() -> Bool { Thread.isMainThread }
  func autosaves() -> Bool { modelContext.autosaveEnabled }
}

@Suite("Behaviour: model actors and observation")
@MainActor
struct ActorBehaviour {
  @Test("An actor that was made on the main actor works off it", .tags(.decided))
  func offMain() async throws {
    #expect(await Clerk(modelContainer: try Shelf.container()).isOnMainThread() == false)
  }

  @Test(
    "An actor finds a model by its identifier, and nil for another class or a row that is gone",
    .tags(.documented))
  func byIdentifier() async throws {
    let clerk = Clerk(modelContainer: try Shelf.container())
    let id = try await clerk.add(["One"], to: "Ann")
    #expect(await clerk.name(id) == "Ann")
    #expect(await clerk.isNovel(id) == false)
    try await clerk.delete(id)
    #expect(await clerk.name(id) == nil)
  }

  @Test("Two actors of one container have a context each, and see each other's saves", .tags(.documented))
  func twoActors() async throws {
    let container = try Shelf.container()
    let (one, two) = (Clerk(modelContainer: container), Clerk(modelContainer: container))
    let id = try await one.add(["One", "Two"], to: "Ann")
    #expect(try await two.count() == 2)
    try await two.rename(id, "Bea")
    #expect(await one.name(id) == "Bea")
  }

  @Test("Many calls at once leave every model once", .tags(.widelyKnown))
  func manyCalls() async throws {
    let container = try Shelf.container()
    let clerk = Clerk(modelContainer: container)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<20 { group.addTask { _ = try await clerk.add(["A", "B"], to: "W\(number)") } }
      try await group.waitForAll()
    }
    #expect(try await clerk.count() == 40)
    #expect(try container.mainContext.count(Writer.self) == 20)
  }

  @Test("The main context gets what an actor saves, and readers of the property wake", .tags(.widelyKnown))
  func wakes() async throws {
    let container = try Shelf.container()
    let clerk = Clerk(modelContainer: container)
    let id = try await clerk.add(["One"], to: "Ann")
    let writer = try #require(container.mainContext.model(for: id) as? Writer)
    #expect(writer.name == "Ann" && writer.novels.count == 1)
    let (named, born) = (Wakes { _ = writer.name }, Wakes { _ = writer.born })
    try await clerk.rename(id, "Bea")
    _ = try container.mainContext.count(Writer.self)
    #expect(writer.name == "Bea" && named.count == 1 && born.count == 0)
  }

  @Test("Readers of a relationship wake when an actor saves a new member", .tags(.widelyKnown))
  func relationshipWakes() async throws {
    let container = try Shelf.container()
    let clerk = Clerk(modelContainer: container)
    let id = try await clerk.add(["One"], to: "Ann")
    let writer = try #require(container.mainContext.model(for: id) as? Writer)
    let wakes = Wakes { _ = writer.novels.count }
    try await clerk.addNovel("Two", to: id)
    _ = try container.mainContext.count(Writer.self)
    #expect(wakes.count == 1 && writer.novels.count == 2)
  }

  @Test("A setter wakes the readers of its property alone", .tags(.documented))
  func setter() throws {
    let context = try Shelf.container().mainContext
    let novel = Novel("One")
    context.insert(novel)
    let (title, pages) = (Wakes { _ = novel.title }, Wakes { _ = novel.pages })
    novel.title = "Two"
    #expect(title.count == 1 && pages.count == 0)
  }

  @Test("Both sides of a relationship wake their readers", .tags(.widelyKnown))
  func bothSides() throws {
    let context = try Shelf.container().mainContext
    let (writer, novel) = (Writer("Ann"), Novel("One"))
    context.insert(writer)
    context.insert(novel)
    let (many, one) = (Wakes { _ = writer.novels }, Wakes { _ = novel.writer })
    writer.novels.append(novel)
    #expect(many.count == 1 && one.count == 1)
  }

  @Test("A computed property wakes through the properties that it reads", .tags(.documented))
  func computed() throws {
    let writer = Writer("Ann")
    writer.novels = [Novel("One", pages: 1)]
    let wakes = Wakes { _ = writer.novels.reduce(0) { $0 + $1.pages } }
    writer.novels[0].pages = 5
    #expect(wakes.count == 1)
  }

  @Test("A transient property is not observed", .tags(.widelyKnown))
  func transient() throws {
    let novel = Novel("One")
    let wakes = Wakes { _ = novel.isOpen }
    novel.isOpen = true
    #expect(wakes.count == 0 && novel.isOpen)
  }

  @Test("A query of the main context follows what an actor saves", .tags(.documented))
  func query() async throws {
    let container = try Shelf.container()
    let clerk = Clerk(modelContainer: container)
    let query = try ObservedQuery<Novel>(
      filter: #Predicate { $0.title != "Two" }, sort: [SortDescriptor(\.title)], in: container.mainContext)
    #expect(query.models.isEmpty)
    let wakes = Wakes { _ = query.models }
    let id = try await clerk.add(["One", "Two", "Three"], to: "Ann")
    _ = try container.mainContext.count(Novel.self)
    #expect(query.models.map(\.title) == ["One", "Three"] && wakes.count == 1)
    try await clerk.delete(id)
    _ = try container.mainContext.count(Novel.self)
    #expect(query.models.isEmpty)
  }

  @Test("A query moves a model whose sorted value changed", .tags(.documented))
  func queryMoves() throws {
    let (context, writer) = try Shelf.filled()
    let query = try ObservedQuery<Novel>(sort: [SortDescriptor(\.pages)], in: context)
    #expect(query.models.map(\.title) == ["One", "Two", "Three"])
    let wakes = Wakes { _ = query.models }
    writer.novels[0].pages = 1000
    context.processPendingChanges()
    #expect(wakes.count == 1 && query.models.map(\.title) == ["Two", "Three", "One"])
  }

  @Test("The main context saves by itself soon after a change", .tags(.documented))
  func autosave() async throws {
    let container = try Shelf.container()
    let (saves, continuation) = AsyncStream.makeStream(of: Void.self)
    let token = NotificationCenter.default.addObserver(
      forName: ModelContext.didSave, object: container.mainContext, queue: nil
    ) { _ in continuation.yield() }
    defer { NotificationCenter.default.removeObserver(token) }
    container.mainContext.insert(Novel("One"))
    for await _ in saves { break }
    #expect(!container.mainContext.hasChanges)
    #expect(try ModelContext(container).count(Novel.self) == 1)
  }

  @Test("The main context without autosaving keeps its changes to itself", .tags(.documented))
  func noAutosave() async throws {
    let container = try Shelf.container()
    container.mainContext.autosaveEnabled = false
    container.mainContext.insert(Novel("One"))
    container.mainContext.processPendingChanges()
    // Jobs of the main actor that were put in line before this one have run.
    await Task.yield()
    await Task { @MainActor in }.value
    #expect(container.mainContext.hasChanges)
    #expect(try ModelContext(container).count(Novel.self) == 0)
  }
}
