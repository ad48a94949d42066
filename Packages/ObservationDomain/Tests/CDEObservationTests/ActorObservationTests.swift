import CDEModelRuntime
import CDEObservation
import Foundation
import Observation
import Synchronization
import Testing

/// Reads objects as a server would: on its own actor.
@NSModelActor
actor Watcher {
  private var reads: [String: () -> Void] = [:]
  private var counts: [String: Int] = [:]
  private var followed: Item?

  func watch(_ id: NSManagedObjectID) throws {
    guard let item = self[id, as: Item.self] else { throw Unwanted() }
    reads["title"] = { _ = item.title }
    reads["summary"] = { _ = item.summary }
    reads["rank"] = { _ = item.rank }
    for name in reads.keys { track(name) }
  }

  private func track(_ name: String) {
    guard let read = reads[name] else { return }
    withObservationTracking(read) { [weak self] in
      // Wakes come on the actor, in the middle of its merge.
      self?.assumeIsolated {
        $0.counts[name, default: 0] += 1
        $0.track(name)
      }
    }
  }

  func rename(_ id: NSManagedObjectID, _ title: String) throws {
    guard let item = self[id, as: Item.self] else { throw Unwanted() }
    item.title = title
    try modelContext.save()
  }

  func merge(_ ids: [NSManagedObjectID]) {
    NSManagedObjectContext.mergeChanges(
      fromRemoteContextSave: [NSUpdatedObjectIDsKey: ids], into: [modelContext])
  }

  /// Who woke since the last time; after everything that was waiting to be merged.
  func take() async -> [String: Int] {
    await modelContext.perform(schedule: .enqueued) {}
    defer { counts = [:] }
    return counts
  }

  func collect(_ id: NSManagedObjectID, _ count: Int, _ next: @Sendable (Int) async throws -> Void)
    async throws -> [String]
  {
    followed = self[id, as: Item.self]
    var titles: [String] = []
    for await title in Observations({ self.followed?.title ?? "" }) {
      titles.append(title)
      if titles.count == count { break }
      try await next(titles.count)
    }
    return titles
  }
}

@Suite("Observation on model actors")
@MainActor
struct ActorObservationTests {
  @Test("Readers on an actor wake by its own save, exactly")
  func ownSave() async throws {
    let stack = try Stack()
    let watcher = Watcher(container: stack.container)
    let observation = await CDEModelActorObservation(of: watcher)
    try await watcher.watch(stack.id)
    try await watcher.rename(stack.id, "new")
    #expect(await watcher.take() == ["title": 1])
    withExtendedLifetime(observation) {}
  }

  @Test("Readers on an actor wake exactly by registered saves, and for everything by others")
  func merges() async throws {
    let stack = try Stack()
    let watcher = Watcher(container: stack.container)
    let observation = await CDEModelActorObservation(of: watcher)
    try await watcher.watch(stack.id)
    try await stack.write(in: observation.newObservedBackgroundContext()) { $0.rank = 3 }
    #expect(await watcher.take() == ["rank": 1])
    let other = stack.container.newBackgroundContext()
    try await edit(stack.id, in: other) { $0.summary = "s" }
    try await observation.saveObservedChanges(in: other)
    #expect(await watcher.take() == ["summary": 1])
    let writer = Writer(container: stack.container)
    try await writer.change(stack.id) { $0.title = "t" }
    try await writer.saveObservedChanges(in: observation)
    #expect(await watcher.take() == ["title": 1])
    try await stack.write(in: stack.container.newBackgroundContext()) { $0.rank = 4 }
    #expect(await watcher.take() == ["title": 1, "summary": 1, "rank": 1])
    // Its own copy has to be the latest before it may save a change of it.
    await stack.merged()
    stack.item.title = "by the view context"
    try stack.view.save()
    #expect(await watcher.take() == ["title": 1, "summary": 1, "rank": 1])
  }

  @Test("With precision for every save, plain saves and batches wake the actor's readers exactly")
  func everySave() async throws {
    let stack = try Stack()
    let watcher = Watcher(container: stack.container)
    let observation = await CDEModelActorObservation(of: watcher, precision: .everySave)
    try await watcher.watch(stack.id)
    stack.item.title = "by the view context"
    try stack.view.save()
    #expect(await watcher.take() == ["title": 1])
    let request = NSBatchUpdateRequest(entityName: "Item")
    request.propertiesToUpdate = ["summary": "batch"]
    request.resultType = .updatedObjectIDsResultType
    let result = try stack.view.execute(request) as? NSBatchUpdateResult
    await watcher.merge(try #require(result?.result as? [NSManagedObjectID]))
    #expect(await watcher.take() == ["summary": 1])
    withExtendedLifetime(observation) {}
  }

  @Test("Observations on an actor yields once per save")
  func observations() async throws {
    let stack = try Stack()
    let watcher = Watcher(container: stack.container)
    let observation = await CDEModelActorObservation(of: watcher)
    let context = observation.newObservedBackgroundContext()
    let id = stack.id
    let titles = try await watcher.collect(id, 3) { number in
      try await edit(id, in: context) {
        $0.title = "save \(number)"
      } then: {
        try context.save()
      }
    }
    #expect(titles == ["old", "save 1", "save 2"])
  }

  @Test("The main actor's domain and an actor's observation do not mix")
  func sideBySide() async throws {
    let stack = try Stack()
    let domain = CDEObservationDomain(container: stack.container)
    let readers = Readers(stack.item)
    let watcher = Watcher(container: stack.container)
    let observation = await CDEModelActorObservation(of: watcher)
    try await watcher.watch(stack.id)
    try await stack.write(in: domain.newObservedBackgroundContext()) { $0.title = "new" }
    await stack.merged()
    #expect(readers.take() == ["title": 1])
    #expect(await watcher.take() == ["title": 1, "summary": 1, "rank": 1])
    withExtendedLifetime(observation) {}
  }

  @Test("After an actor's observation ended, on any thread, no reader wakes")
  func end() async throws {
    let stack = try Stack()
    let watcher = Watcher(container: stack.container)
    var observation: CDEModelActorObservation? = await CDEModelActorObservation(of: watcher)
    try await watcher.watch(stack.id)
    weak let ended = observation
    observation = nil
    #expect(ended == nil)
    try await watcher.rename(stack.id, "new")
    #expect(await watcher.take() == [:])
  }
}
