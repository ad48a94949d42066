import CDEModelRuntime
@_spi(CDE) import CDESQLiteFaults
import CDESwiftData
import Foundation
import Testing

@ModelActor
actor Keeper {
  func keepSaving() { modelContext.autosaveEnabled = true }
  func add(_ title: String) { modelContext.insert(Novel(title)) }
  func leave(_ imprint: String) { modelContext.insert(Strict(imprint)) }
  func context() -> Leaked<ModelContext> { Leaked(modelContext) }
  func hasChanges() -> Bool { modelContext.hasChanges }
  func wait() {}
}

@Suite("Behaviour: autosaving", .serialized)
@MainActor
struct AutosaveBehaviour {
  /// Waits for a save of a context that a call causes.
  private func save(of context: ModelContext, after body: () async throws -> Void) async rethrows {
    let (saves, continuation) = AsyncStream.makeStream(of: Void.self)
    let token = NotificationCenter.default.addObserver(
      forName: ModelContext.didSave, object: context, queue: nil
    ) { _ in continuation.yield() }
    try await body()
    for await _ in saves { break }
    NotificationCenter.default.removeObserver(token)
  }

  @Test("A context that code on the main actor made saves by itself once that is set", .tags(.documented))
  func onMain() async throws {
    let context = try Shelf.context()
    context.autosaveEnabled = true
    await save(of: context) { context.insert(Novel("One")) }
    #expect(!context.hasChanges)
    #expect(try ModelContext(context.container).count(Novel.self) == 1)
  }

  @Test("Changes that were made before are saved too", .tags(.decided))
  func before() async throws {
    let context = try Shelf.context()
    context.insert(Novel("One"))
    await save(of: context) { context.autosaveEnabled = true }
    #expect(try ModelContext(context.container).count(Novel.self) == 1)
  }

  @Test("A model actor's context saves by itself, on the actor", .tags(.documented))
  func actor() async throws {
    let container = try Shelf.container()
    let keeper = Keeper(modelContainer: container)
    await keeper.keepSaving()
    let context = await keeper.context().value
    await save(of: context) { await keeper.add("One") }
    #expect(await keeper.hasChanges() == false)
    #expect(try ModelContext(container).count(Novel.self) == 1)
  }

  @Test("A failure is reported, and the changes stay", .tags(.decided))
  func failure() async throws {
    let reports = Reports()
    defer { reports.stop() }
    let context = ModelContext(try .inMemory(Strict.self, StrictPart.self))
    context.autosaveEnabled = true
    context.insert(Strict("A"))
    while reports.lines(with: "Autosaving failed").isEmpty { await Task.yield() }
    #expect(context.hasChanges)
  }

  @Test("A context without an actor reports changes that it loses", .tags(.decided))
  func lost() async throws {
    let reports = Reports()
    defer { reports.stop() }
    let container = try Shelf.container()
    await Task.detached {
      let context = ModelContext(container)
      context.autosaveEnabled = true
      context.insert(Novel("One"))
    }.value
    #expect(reports.lines(with: "freed with unsaved changes").count == 1)
  }

  @Test("Unsaved changes are saved before the process ends")
  func end() async throws {
    let url = ProcessFolder.newURL("autosave").appendingPathExtension("store")
    setenv("CDE_AUTOSAVE_STORE", url.path, 1)
    defer { unsetenv("CDE_AUTOSAVE_STORE") }
    await #expect(processExitsWith: .exitCode(0)) {
      let path = try #require(ProcessInfo.processInfo.environment["CDE_AUTOSAVE_STORE"])
      let container = try ModelContainer(
        for: Novel.self, configurations: ModelConfiguration(url: URL(fileURLWithPath: path)))
      let keeper = Keeper(modelContainer: container)
      await keeper.keepSaving()
      await MainActor.run {
        let context = container.mainContext
        context.insert(Novel("Main"))
        exit(0)
      }
    }
    let container = try ModelContainer(for: Novel.self, configurations: ModelConfiguration(url: url))
    #expect(try ModelContext(container).all(Novel.self).map(\.title) == ["Main"])
  }
}
