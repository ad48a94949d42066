import CDESwiftData
import Foundation
import Testing

@Suite("The interface of identifiers and actors")
struct IdentityInterfaceTests {
  @Test(
    "An identifier is a value that can be compared, stored and made of its parts",
    .enabled(if: OwnStore.underTest == nil, "A store of one's own chooses its keys."))
  func identifier() throws {
    isHashable(PersistentIdentifier.self)
    isComparable(PersistentIdentifier.self)
    isCodable(PersistentIdentifier.self)
    isSendable(PersistentIdentifier.self)
    isIdentifiable(PersistentIdentifier.self, by: PersistentIdentifier.ID.self)
    isHashable(PersistentIdentifier.ID.self)
    isSendable(PersistentIdentifier.ID.self)
    let _: KeyPath<PersistentIdentifier, PersistentIdentifier.ID> = \PersistentIdentifier.id
    let _: KeyPath<PersistentIdentifier, String> = \PersistentIdentifier.entityName
    let _: KeyPath<PersistentIdentifier, String?> = \PersistentIdentifier.storeIdentifier
    let _: (String, String, String) throws -> PersistentIdentifier =
      PersistentIdentifier.identifier(for:entityName:primaryKey:)
    let _: (PersistentIdentifier, PersistentIdentifier) -> Bool = (<)

    let context = ModelContext(try .inMemory(Journey.self))
    let trip = Journey(name: "a")
    context.insert(trip)
    #expect(trip.persistentModelID.storeIdentifier == nil)
    try context.save()
    let id = trip.persistentModelID
    let store = try #require(id.storeIdentifier)
    #expect(id.entityName == "Journey" && id == trip.id)
    #expect(try PersistentIdentifier.identifier(for: store, entityName: "Journey", primaryKey: "p1") == id)
    let decoded = try JSONDecoder().decode(PersistentIdentifier.self, from: JSONEncoder().encode(id))
    #expect(decoded == id && decoded.id == id.id && !(decoded < id) && context.model(for: decoded) === trip)
  }

  @Test("A model actor has its container, its executor, its context and models by identifier")
  func actor() async throws {
    let container = try ModelContainer.inMemory(Journey.self)
    let actor = Agency(modelContainer: container)
    #expect(actor.modelContainer == container)
    #expect(try await actor.check())
    let own = HandWrittenAgency(modelContainer: container)
    let id = try await own.add("own")
    #expect(try await actor.name(of: id) == "own")
  }
}

@ModelActor
actor Agency {
  func check() throws -> Bool {
    let _: KeyPath<Agency, ModelContainer> = \Agency.modelContainer
    let _: KeyPath<Agency, any ModelExecutor> = \Agency.modelExecutor
    let _: KeyPath<Agency, UnownedSerialExecutor> = \Agency.unownedExecutor
    let _: ModelContext = self.modelContext
    let _: (ModelContext) -> DefaultSerialModelExecutor = DefaultSerialModelExecutor.init(modelContext:)
    let trip = Journey(name: "a")
    modelContext.insert(trip)
    try modelContext.save()
    return self[trip.persistentModelID, as: Journey.self] === trip
      && modelExecutor.modelContext == modelContext
  }

  func name(of id: PersistentIdentifier) throws -> String? { self[id, as: Journey.self]?.name }
}

/// The actor that the macro makes, written by hand.
actor HandWrittenAgency: ModelActor {
  nonisolated let modelExecutor: any ModelExecutor
  nonisolated let modelContainer: ModelContainer

  init(modelContainer: ModelContainer) {
    let context = ModelContext(modelContainer)
    modelExecutor = DefaultSerialModelExecutor.init(modelContext: context)
    self.modelContainer = modelContainer
  }

  func add(_ name: String) throws -> PersistentIdentifier {
    let trip = Journey(name: name)
    modelContext.insert(trip)
    try modelContext.save()
    return trip.persistentModelID
  }
}

/// An executor of an application's own, as SwiftData's protocols ask for it.
final class ForwardingExecutor: SerialModelExecutor {
  private let executor: DefaultSerialModelExecutor

  init(_ context: ModelContext) { executor = DefaultSerialModelExecutor(modelContext: context) }

  var modelContext: ModelContext { executor.modelContext }
  func enqueue(_ job: consuming ExecutorJob) { executor.enqueue(job) }
  func asUnownedSerialExecutor() -> UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
}
