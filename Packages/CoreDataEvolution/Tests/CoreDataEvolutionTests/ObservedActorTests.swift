import CoreDataEvolution
import Observation
import Synchronization
import Testing

/// The guide's own initialiser for an actor that takes part in observation.
@NSModelActor(disableGenerateInit: true)
actor ObservedItemStore {
  private let observationDomain: CDEObservationDomain?
  private let observationProducerRegistration: CDEObservationProducerRegistration?

  init(observationDomain: CDEObservationDomain) {
    let container = observationDomain.modelContainer
    let context = container.newBackgroundContext()
    self.observationDomain = observationDomain
    observationProducerRegistration = observationDomain.registerChangeProducer(context: context)
    modelExecutor = NSModelObjectContextExecutor(context: context)
    modelContainer = container
  }

  deinit {
    observationProducerRegistration?.invalidate()
  }

  func rename(_ id: NSManagedObjectID, to title: String) throws {
    guard let item = self[id, as: Item.self] else { throw StoreError.itemNotFound }
    item.title = title
    try modelContext.save()
  }
}

@NSModelActor
actor ItemWriter {
  func rename(_ id: NSManagedObjectID, to title: String) async throws {
    guard let item = self[id, as: Item.self] else { throw StoreError.itemNotFound }
    item.title = title
    try await saveObservedChanges()
  }
}

@Suite("Model actors bound to an observation domain")
@MainActor
struct ObservedActorTests {
  /// One item in `viewContext`, with the domain that observes it.
  private func world(
    _ function: String = #function
  ) throws -> (container: NSPersistentContainer, item: Item) {
    let container = try TestStack(function: function).container
    container.viewContext.automaticallyMergesChangesFromParent = true
    let item = Item(context: container.viewContext)
    item.title = "before"
    try container.viewContext.save()
    return (container, item)
  }

  /// Waits for a change of what a closure reads, counting changes of something else meanwhile.
  private func change(
    of read: @escaping () -> Void, notOf other: () -> Void, after work: () async throws -> Void
  ) async throws -> Int {
    let others = Atomic<Int>(0)
    withObservationTracking(other) { others.add(1, ordering: .relaxed) }
    let (changes, signal) = AsyncStream.makeStream(of: Void.self)
    withObservationTracking(read) { signal.yield() }
    try await work()
    for await _ in changes { break }
    return others.load(ordering: .relaxed)
  }

  @Test("The generated initialiser: a background save wakes the reader of exactly what changed")
  func generated() async throws {
    let (container, item) = try world()
    let writer = ItemWriter(observationDomain: CDEObservationDomain(container: container))
    let id = item.objectID
    let others = try await change(of: { _ = item.title }, notOf: { _ = item.count }) {
      try await writer.rename(id, to: "after")
    }
    #expect(others == 0)
    #expect(item.title == "after")
  }

  @Test("The guide's own initialiser: plain saves of the registered context wake exactly, too")
  func custom() async throws {
    let (container, item) = try world()
    let writer = ObservedItemStore(observationDomain: CDEObservationDomain(container: container))
    let id = item.objectID
    let others = try await change(of: { _ = item.title }, notOf: { _ = item.count }) {
      try await writer.rename(id, to: "after")
    }
    #expect(others == 0)
    #expect(item.title == "after")
  }
}
