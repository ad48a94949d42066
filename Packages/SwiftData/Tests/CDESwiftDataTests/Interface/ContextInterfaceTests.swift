import CDESwiftData
import Foundation
import Testing

@Suite("The interface of contexts and fetches")
struct ContextInterfaceTests {
  @Test("A context has the members of SwiftData's")
  func context() throws {
    isEquatable(ModelContext.self)
    let _: any SendableMetatype.Type = ModelContext.self
    let _: (ModelContainer) -> ModelContext = ModelContext.init(_:)
    let _: KeyPath<ModelContext, ModelContainer> = \ModelContext.container
    let _: ReferenceWritableKeyPath<ModelContext, Bool> = \ModelContext.autosaveEnabled
    let _: ReferenceWritableKeyPath<ModelContext, String?> = \ModelContext.author
    let _: ReferenceWritableKeyPath<ModelContext, UndoManager?> = \ModelContext.undoManager
    let _: KeyPath<ModelContext, EditingState> = \ModelContext.editingState
    let _: KeyPath<ModelContext, Bool> = \ModelContext.hasChanges
    let _: KeyPath<ModelContext, [any PersistentModel]> = \ModelContext.insertedModelsArray
    let _: KeyPath<ModelContext, [any PersistentModel]> = \ModelContext.changedModelsArray
    let _: KeyPath<ModelContext, [any PersistentModel]> = \ModelContext.deletedModelsArray
    let _: (ModelContext) -> (Journey) -> Void = ModelContext.insert(_:)
    let _: (ModelContext) -> (Journey) -> Void = ModelContext.delete(_:)
    let _: (ModelContext) -> (Journey.Type, Predicate<Journey>?, Bool) throws -> Void =
      ModelContext.delete(model:where:includeSubclasses:)
    let _: (ModelContext) -> (PersistentIdentifier) -> any PersistentModel = ModelContext.model(for:)
    let _: (ModelContext) -> (PersistentIdentifier) -> Journey? = ModelContext.registeredModel(for:)
    let _: (ModelContext) -> () throws -> Void = ModelContext.save
    let _: (ModelContext) -> () -> Void = ModelContext.rollback
    let _: (ModelContext) -> () -> Void = ModelContext.processPendingChanges
    let _: (ModelContext) -> (() throws -> Void) throws -> Void = ModelContext.transaction(block:)
    let _: (ModelContext) -> (FetchDescriptor<Journey>) throws -> [Journey] = ModelContext.fetch(_:)
    let _: (ModelContext) -> (FetchDescriptor<Journey>, Int) throws -> FetchResultsCollection<Journey> =
      ModelContext.fetch(_:batchSize:)
    let _: (ModelContext) -> (FetchDescriptor<Journey>) throws -> Int = ModelContext.fetchCount(_:)
    let _: (ModelContext) -> (FetchDescriptor<Journey>) throws -> [PersistentIdentifier] =
      ModelContext.fetchIdentifiers(_:)
    let _:
      (ModelContext) -> (FetchDescriptor<Journey>, Int) throws -> FetchResultsCollection<PersistentIdentifier> =
        ModelContext.fetchIdentifiers(_:batchSize:)
    let _: (ModelContext) -> (FetchDescriptor<Journey>, Int, Bool, (Journey) throws -> Void) throws -> Void =
      ModelContext.enumerate(_:batchSize:allowEscapingMutations:block:)

    let context = ModelContext(try .inMemory(Journey.self))
    #expect(!context.autosaveEnabled && context.author == nil && context.undoManager == nil)
    #expect(context == context && context != ModelContext(context.container))
    context.author = "tests"
    #expect(context.editingState.author == "tests")
    let trip = Journey(name: "a")
    context.insert(trip)
    #expect(context.insertedModelsArray.first === trip && context.hasChanges)
    try context.save()
    trip.rating = 5
    #expect(context.changedModelsArray.first === trip)
    context.rollback()
    context.delete(trip)
    context.processPendingChanges()
    #expect(context.deletedModelsArray.first === trip && trip.isDeleted)
    context.rollback()
    let known: Journey? = context.registeredModel(for: trip.persistentModelID)
    #expect(known === trip && context.model(for: trip.persistentModelID) === trip)
    try context.transaction { context.insert(Journey(name: "b")) }
    #expect(!context.hasChanges)
  }

  @Test("Fetches, counts, identifiers, batches and enumerations answer the same question")
  func fetching() throws {
    let context = ModelContext(try .inMemory(Journey.self))
    for name in ["a", "b", "c"] { context.insert(Journey(name: name)) }
    try context.save()
    let wanted = FetchDescriptor<Journey>(
      predicate: #Predicate { $0.name != "b" }, sortBy: [SortDescriptor(\.name, order: .reverse)])
    #expect(try context.fetch(wanted).map(\.name) == ["c", "a"])
    #expect(try context.fetchCount(wanted) == 2)
    #expect(try context.fetch(wanted, batchSize: 1).map(\.name) == ["c", "a"])
    let ids = try context.fetchIdentifiers(wanted)
    #expect(try Array(context.fetchIdentifiers(wanted, batchSize: 1)) == ids && ids.count == 2)
    var seen: [String] = []
    try context.enumerate(wanted) { seen.append($0.name) }
    #expect(seen == ["c", "a"])
    try context.delete(model: Journey.self, where: #Predicate { $0.name == "a" })
    try context.delete(model: Journey.self, where: #Predicate { $0.name == "c" }, includeSubclasses: false)
    #expect(try context.fetch(FetchDescriptor<Journey>()).map(\.name) == ["b"])
    try context.delete(model: Journey.self)
    #expect(try context.fetchCount(FetchDescriptor<Journey>()) == 0)
  }

  @Test("A descriptor has SwiftData's options and their defaults")
  func descriptor() {
    isEquatable(FetchDescriptor<Journey>.self)
    isSendable(FetchDescriptor<Journey>.self)
    let _: (Predicate<Journey>?, [SortDescriptor<Journey>]) -> FetchDescriptor<Journey> =
      FetchDescriptor.init(predicate:sortBy:)
    let _: WritableKeyPath<FetchDescriptor<Journey>, Predicate<Journey>?> = \FetchDescriptor.predicate
    let _: WritableKeyPath<FetchDescriptor<Journey>, [SortDescriptor<Journey>]> = \FetchDescriptor.sortBy
    let _: WritableKeyPath<FetchDescriptor<Journey>, Int?> = \FetchDescriptor.fetchLimit
    let _: WritableKeyPath<FetchDescriptor<Journey>, Int?> = \FetchDescriptor.fetchOffset
    let _: WritableKeyPath<FetchDescriptor<Journey>, Bool> = \FetchDescriptor.includePendingChanges
    let _: KeyPath<FetchDescriptor<Journey>, [PartialKeyPath<Journey> & Sendable]> =
      \FetchDescriptor.propertiesToFetch
    let _: KeyPath<FetchDescriptor<Journey>, [PartialKeyPath<Journey> & Sendable]> =
      \FetchDescriptor.relationshipKeyPathsForPrefetching
    var descriptor = FetchDescriptor<Journey>()
    #expect(descriptor.predicate == nil && descriptor.sortBy.isEmpty && descriptor.includePendingChanges)
    #expect(descriptor.fetchLimit == nil && descriptor.fetchOffset == nil)
    descriptor.propertiesToFetch = [\.name, \.rating]
    descriptor.relationshipKeyPathsForPrefetching = [\.stops]
    #expect(descriptor != FetchDescriptor<Journey>())
  }

  @Test("The result of a fetch in batches is a collection with random access")
  func results() throws {
    isRandomAccess(FetchResultsCollection<Journey>.self, of: Journey.self)
    let _: KeyPath<FetchResultsCollection<Journey>, Int> = \FetchResultsCollection.startIndex
    let _: KeyPath<FetchResultsCollection<Journey>, Int> = \FetchResultsCollection.endIndex
    let context = ModelContext(try .inMemory(Journey.self))
    context.insert(Journey(name: "a"))
    try context.save()
    let results = try context.fetch(FetchDescriptor<Journey>(), batchSize: 10)
    #expect(results.count == 1 && results[results.startIndex].name == "a")
  }

  @Test("Saves are announced under SwiftData's names")
  func notifications() throws {
    let names: [Notification.Name] = [ModelContext.willSave, ModelContext.didSave]
    let keys: [ModelContext.NotificationKey] = [
      ModelContext.NotificationKey.queryGeneration,
      ModelContext.NotificationKey.invalidatedAllIdentifiers,
      ModelContext.NotificationKey.insertedIdentifiers,
      ModelContext.NotificationKey.updatedIdentifiers,
      ModelContext.NotificationKey.deletedIdentifiers,
    ]
    #expect(Set(names).count == 2 && Set(keys.map(\.rawValue)).count == 5)
    let context = ModelContext(try .inMemory(Journey.self))
    nonisolated(unsafe) var inserted: [PersistentIdentifier]?
    // Guard: notifications are posted on the thread of the save, which is that of the test.
    let token = NotificationCenter.default.addObserver(
      forName: ModelContext.didSave, object: context, queue: nil
    ) { note in
      inserted =
        note.userInfo?[ModelContext.NotificationKey.insertedIdentifiers.rawValue] as? [PersistentIdentifier]
    }
    defer { NotificationCenter.default.removeObserver(token) }
    let trip = Journey(name: "a")
    context.insert(trip)
    try context.save()
    #expect(inserted == [trip.persistentModelID])
  }
}
