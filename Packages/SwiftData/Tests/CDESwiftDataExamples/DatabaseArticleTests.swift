import CDESwiftData
import Foundation
import Testing

@ModelActor
private actor ThreadProbe {
  func isOnMain() -> Bool { Thread.isMainThread }
}

@Suite("The program of the article")
struct DatabaseArticleTests {
  private func makeContainer() throws -> ModelContainer {
    try ModelContainer(
      for: Machine.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
  }

  @Test("Its operations insert, save, fetch and delete")
  func operations() async throws {
    let database: any Database = BackgroundDatabase(modelContainer: try makeContainer())
    let machine = Machine(name: "Sonoma")
    _ = Snapshot(taken: Date(timeIntervalSince1970: 0), machine: machine)
    await database.insert(machine)
    await database.insert(Machine(name: "Ventura"))
    try await database.save()
    let all = try await database.fetch(Machine.self, sortBy: [SortDescriptor(\.name)])
    #expect(all.map(\.name) == ["Sonoma", "Ventura"])
    #expect(try await database.fetch(#Predicate<Machine> { $0.name == "Sonoma" }).first?.snapshots.count == 1)
    try await database.delete(model: Machine.self, where: #Predicate { $0.name == "Sonoma" })
    try await database.save()
    #expect(try await database.fetch(Snapshot.self).isEmpty)
    await database.delete(all[1])
    try await database.save()
    #expect(try await database.fetch(Machine.self).isEmpty)
  }

  @Test("The shared database has one container for the program")
  func shared() async throws {
    let shared = SharedDatabase.shared
    #expect(shared.schemas.count == 2)
    await shared.database.insert(Machine(name: "Shared"))
    try await shared.database.save()
    #expect(try ModelContext(shared.modelContainer).fetchCount(FetchDescriptor<Machine>()) == 1)
  }

  @Test("\"Our calls are still running on the main thread\": they do not, wherever the actor is made")
  @MainActor
  func offMain() async throws {
    #expect(await !ThreadProbe(modelContainer: try makeContainer()).isOnMain())
  }

  @Test("\"Cannot delete objects in other contexts\": the context deletes its own instance of the row")
  @MainActor
  func otherContext() async throws {
    let container = try makeContainer()
    let first: any Database = ModelActorDatabase(modelContainer: container)
    await first.insert(Machine(name: "Sonoma"))
    try await first.save()
    // The views of the article make another database at each redraw.
    let machine = try #require(try container.mainContext.fetch(FetchDescriptor<Machine>()).first)
    let second: any Database = ModelActorDatabase(modelContainer: container)
    await second.delete(machine)
    try await second.save()
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Machine>()) == 0)
  }
}
