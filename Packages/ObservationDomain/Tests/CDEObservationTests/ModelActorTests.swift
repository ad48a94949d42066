import CDEModelRuntime
import CDEObservation
import Foundation
import Synchronization
import Testing

@NSModelActor
actor Writer {
  func change(_ id: NSManagedObjectID, _ change: @Sendable (Item) -> Void) throws {
    guard let item = self[id, as: Item.self] else { throw Unwanted() }
    change(item)
  }

  func save(_ id: NSManagedObjectID, _ change: @Sendable (Item) -> Void) async throws {
    try self.change(id, change)
    try await saveObservedChanges()
  }

  func save(
    _ id: NSManagedObjectID, in domain: CDEObservationDomain, _ change: @Sendable (Item) -> Void
  ) async throws {
    try self.change(id, change)
    try await saveObservedChanges(in: domain)
  }

  func plainSave(_ id: NSManagedObjectID, _ change: @Sendable (Item) -> Void) throws {
    try self.change(id, change)
    try modelContext.save()
  }

  var hasChanges: Bool { modelContext.hasChanges }

  func rollback() { modelContext.rollback() }
}

@Suite("Model actors and domains")
@MainActor
struct ModelActorTests {
  @Test("saveObservedChanges() of an actor made with a domain wakes exactly")
  func bound() async throws {
    let stack = try Stack()
    let writer = Writer(observationDomain: CDEObservationDomain(container: stack.container))
    let readers = Readers(stack.item)
    try await writer.save(stack.id) { $0.title = "new" }
    await stack.merged()
    #expect(readers.take() == ["title": 1])
    #expect(writer.modelContainer === stack.container)
  }

  @Test("A plain save of an actor made with a domain wakes exactly")
  func boundPlain() async throws {
    let stack = try Stack()
    let writer = Writer(observationDomain: CDEObservationDomain(container: stack.container))
    let readers = Readers(stack.item)
    try await writer.plainSave(stack.id) { $0.rank = 8 }
    await stack.merged()
    #expect(readers.take() == ["rank": 1])
  }

  @Test("saveObservedChanges(in:) of an actor made with a container wakes exactly; its plain save does not")
  func given() async throws {
    let stack = try Stack()
    let domain = CDEObservationDomain(container: stack.container)
    let writer = Writer(container: stack.container)
    let readers = Readers(stack.item)
    try await writer.save(stack.id, in: domain) { $0.summary = "new" }
    await stack.merged()
    #expect(readers.take() == ["summary": 1])
    try await writer.plainSave(stack.id) { $0.summary = "newer" }
    await stack.merged()
    #expect(readers.take() == Readers.itemFields)
  }

  @Test("If an actor's observed save fails, it throws, the context stays dirty and no reader wakes")
  func failure() async throws {
    let stack = try Stack()
    let domain = CDEObservationDomain(container: stack.container)
    let readers = Readers(stack.item)
    let bound = Writer(observationDomain: domain)
    await #expect(throws: (any Error).self) { try await bound.save(stack.id) { $0.title = Item.unwanted } }
    #expect(await bound.hasChanges)
    let given = Writer(container: stack.container)
    await #expect(throws: (any Error).self) {
      try await given.save(stack.id, in: domain) { $0.title = Item.unwanted }
    }
    #expect(await given.hasChanges)
    await stack.merged()
    #expect(readers.take() == [:])
    await given.rollback()
    try await given.plainSave(stack.id) { $0.rank = 1 }
    await stack.merged()
    #expect(readers.take() == Readers.itemFields)
  }

  @Test("An actor made with a domain keeps it alive, and lets it go with its own end on any thread")
  func lifetime() async throws {
    let stack = try Stack()
    let (holder, domain) = boundWriter(stack)
    let readers = Readers(stack.item)
    #expect(domain.object != nil)
    try await holder.value?.save(stack.id) { $0.title = "new" }
    await stack.merged()
    #expect(readers.take() == ["title": 1])
    await Task.detached { holder.value = nil }.value
    #expect(domain.object == nil)
    stack.item.rank = 1
    try stack.view.save()
    #expect(readers.take() == [:])
  }

  private struct Weak { weak var object: CDEObservationDomain? }

  private func boundWriter(_ stack: Stack) -> (Holder<Writer>, Weak) {
    let domain = CDEObservationDomain(container: stack.container)
    return (Holder(Writer(observationDomain: domain)), Weak(object: domain))
  }

  @Test("An actor outlives its domain's invalidation as one with an unregistered context")
  func outlives() async throws {
    let stack = try Stack()
    let first = CDEObservationDomain(container: stack.container)
    let writer = Writer(observationDomain: first)
    first.invalidate()
    let second = CDEObservationDomain(container: stack.container)
    let readers = Readers(stack.item)
    try await writer.save(stack.id) { $0.title = "new" }
    await stack.merged()
    #expect(readers.take() == Readers.itemFields)
    #expect(stack.item.title == "new")
    withExtendedLifetime(second) {}
  }

  @Test("A domain outlives its actors, and forgets their registrations")
  func outlived() async throws {
    let stack = try Stack()
    let domain = CDEObservationDomain(container: stack.container)
    let holder = Holder(Writer(observationDomain: domain))
    weak let context = holder.value?.modelExecutor.context
    await Task.detached { holder.value = nil }.value
    #expect(context == nil)
    let readers = Readers(stack.item)
    try await Writer(observationDomain: domain).save(stack.id) { $0.title = "new" }
    await stack.merged()
    #expect(readers.take() == ["title": 1])
  }

  @Test("Actors of one domain save side by side, and every save wakes exactly")
  func sideBySide() async throws {
    let stack = try Stack()
    let domain = CDEObservationDomain(container: stack.container)
    let readers = Readers(stack.item)
    let id = stack.id
    let second = Item(context: stack.view)
    try stack.view.save()
    let ofSecond = Readers(second)
    let secondID = second.objectID
    async let one: Void = saveMany(Writer(observationDomain: domain), id) { $1.rank = $0 + 1 }
    async let two: Void = saveMany(Writer(observationDomain: domain), secondID) { $1.summary = "\($0)" }
    _ = try await (one, two)
    await stack.merged()
    #expect(readers.take() == ["rank": 20])
    #expect(ofSecond.take() == ["summary": 20])
  }

  private nonisolated func saveMany(
    _ writer: Writer, _ id: NSManagedObjectID, _ change: @escaping @Sendable (Int, Item) -> Void
  ) async throws {
    for number in 0..<20 { try await writer.save(id) { change(number, $0) } }
  }

  @Test("saveObservedChanges() of actors without a domain saves, and warns once in the process")
  func unbound() async {
    await #expect(processExitsWith: .success) {
      let warnings = Mutex(0)
      Diagnostics.handler = { message in
        if message.contains("saveObservedChanges()") { warnings.withLock { $0 += 1 } }
      }
      let stack = try await Stack()
      for rank in 1...3 {
        try await Writer(container: stack.container).save(stack.id) { $0.rank = rank }
      }
      await stack.merged()
      await MainActor.run { precondition(stack.item.rank == 3) }
      precondition(warnings.withLock { $0 } == 1)
    }
  }
}
