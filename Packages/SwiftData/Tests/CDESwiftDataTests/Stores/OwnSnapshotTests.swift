import CDESwiftData
import Foundation
import Testing

/// A snapshot with the application's own form of a model.
struct CargoSnapshot: DataStoreSnapshot {
  var persistentIdentifier: PersistentIdentifier
  var label: String
  var amount: Int
  var owner: PersistentIdentifier?
  var ownerName: String?

  init(
    from backingData: any BackingData, relatedBackingDatas: inout [PersistentIdentifier: any BackingData]
  ) {
    persistentIdentifier = backingData.persistentModelID
    if let pallet = backingData as? any BackingData<Pallet> {
      label = pallet.getValue(forKey: \.label)
      amount = pallet.getValue(forKey: \.amount)
      let found: Quay? = pallet.getValue(forKey: \.owner)
      owner = found?.persistentModelID
      ownerName =
        owner.flatMap { relatedBackingDatas[$0] as? any BackingData<Quay> }?.getValue(forKey: \.label)
    } else if let quay = backingData as? any BackingData<Quay> {
      label = quay.getValue(forKey: \.label)
      amount = 0
    } else {
      label = ""
      amount = 0
    }
  }

  func copy(
    persistentIdentifier: PersistentIdentifier,
    remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]?
  ) -> CargoSnapshot {
    var copy = self
    copy.persistentIdentifier = persistentIdentifier
    copy.owner = owner.map { remappedIdentifiers?[$0] ?? $0 }
    return copy
  }
}

@Model
final class Pallet {
  var label: String
  var amount: Int
  var owner: Quay?
  init(_ label: String, amount: Int) { (self.label, self.amount) = (label, amount) }
}

@Model
final class Quay {
  var label: String
  @Relationship(inverse: \Pallet.owner) var pallets: [Pallet] = []
  init(_ label: String) { self.label = label }
}

struct OwnSnapshotConfiguration: DataStoreConfiguration {
  typealias Store = OwnSnapshotStore
  var name = "own"
  var schema: Schema?
  let contents: Contents

  final class Contents {
    var snapshots: [PersistentIdentifier: CargoSnapshot] = [:]
    var forgetsIdentifiers = false
    /// Snapshots that the store changes itself.
    var correct: (CargoSnapshot) -> CargoSnapshot? = { _ in nil }
  }

  static func == (one: Self, other: Self) -> Bool { one.contents === other.contents }
  func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

final class OwnSnapshotStore: DataStore {
  let configuration: OwnSnapshotConfiguration
  let identifier = "own"
  let schema: Schema
  private let contents: OwnSnapshotConfiguration.Contents

  init(_ configuration: OwnSnapshotConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
    self.configuration = configuration
    schema = configuration.schema!
    contents = configuration.contents
  }

  func fetch<T: PersistentModel>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> DataStoreFetchResult<T, CargoSnapshot> {
    if request.descriptor.predicate != nil { throw DataStoreError.preferInMemoryFilter }
    if !request.descriptor.sortBy.isEmpty { throw DataStoreError.preferInMemorySort }
    let name = Schema.entityName(for: T.self)
    return DataStoreFetchResult(
      descriptor: request.descriptor,
      fetchedSnapshots: contents.snapshots.values.filter { $0.persistentIdentifier.entityName == name })
  }

  func save(
    _ request: DataStoreSaveChangesRequest<CargoSnapshot>
  ) throws -> DataStoreSaveChangesResult<CargoSnapshot> {
    var identifiers: [PersistentIdentifier: PersistentIdentifier] = [:]
    for snapshot in request.inserted where !contents.forgetsIdentifiers {
      identifiers[snapshot.persistentIdentifier] = try .identifier(
        for: identifier, entityName: snapshot.persistentIdentifier.entityName, primaryKey: UUID())
    }
    var corrected: [PersistentIdentifier: CargoSnapshot] = [:]
    for snapshot in request.inserted + request.updated {
      let id = identifiers[snapshot.persistentIdentifier] ?? snapshot.persistentIdentifier
      var kept = snapshot.copy(persistentIdentifier: id, remappedIdentifiers: identifiers)
      if let other = contents.correct(kept) {
        kept = other
        corrected[id] = other
      }
      contents.snapshots[id] = kept
    }
    for snapshot in request.deleted { contents.snapshots[snapshot.persistentIdentifier] = nil }
    return DataStoreSaveChangesResult(
      for: identifier, remappedIdentifiers: identifiers, snapshotsToReregister: corrected)
  }
}

@Suite("Snapshots of an application's own type, and results of saves")
struct OwnSnapshotTests {
  private func open(_ contents: OwnSnapshotConfiguration.Contents) throws -> ModelContainer {
    try ModelContainer(
      for: Pallet.self, Quay.self, configurations: OwnSnapshotConfiguration(contents: contents))
  }

  @Test("A snapshot is made of a model's values, of those that it leads to, and read by its coding")
  func ownType() throws {
    let contents = OwnSnapshotConfiguration.Contents()
    let context = ModelContext(try open(contents))
    let quay = Quay("north")
    quay.pallets = [Pallet("a", amount: 1), Pallet("b", amount: 2)]
    context.insert(quay)
    try context.save()
    let pallets = contents.snapshots.values.filter { $0.persistentIdentifier.entityName == "Pallet" }
    #expect(pallets.map(\.label).sorted() == ["a", "b"])
    #expect(pallets.allSatisfy { $0.ownerName == "north" && $0.owner == quay.persistentModelID })
    let other = ModelContext(try open(contents))
    let read = try #require(try other.fetch(FetchDescriptor<Pallet>(sortBy: [SortDescriptor(\.label)])).last)
    #expect(read.amount == 2 && read.owner?.label == "north")
    // The snapshots of quays have no pallets; each pallet knows its quay.
    #expect(read.owner?.pallets.count == 2)
    read.amount = 5
    read.owner = nil
    try other.save()
    #expect(contents.snapshots[read.persistentModelID]?.amount == 5)
    other.delete(read)
    try other.save()
    #expect(contents.snapshots.count == 2)
    // The snapshots of quays have no pallets, so they are looked for.
    let alone = ModelContext(try open(contents))
    #expect(try alone.fetch(FetchDescriptor<Quay>()).first?.pallets.map(\.label) == ["a"])
  }

  @Test("What the store has changed while it saved is in the contexts after it")
  func corrected() throws {
    let contents = OwnSnapshotConfiguration.Contents()
    contents.correct = { snapshot in
      guard snapshot.amount < 0 else { return nil }
      var changed = snapshot
      changed.amount = 0
      return changed
    }
    let container = try open(contents)
    let (context, other) = (ModelContext(container), ModelContext(container))
    let pallet = Pallet("a", amount: 3)
    context.insert(pallet)
    try context.save()
    let theirs = try #require(try other.fetch(FetchDescriptor<Pallet>()).first)
    pallet.amount = -7
    try context.save()
    _ = try context.fetchCount(FetchDescriptor<Quay>())
    _ = try other.fetchCount(FetchDescriptor<Quay>())
    #expect(pallet.amount == 0 && theirs.amount == 0 && !context.hasChanges)
  }

  @Test("A store that gives no permanent identifier is told, and the changes stay unsaved")
  func missingIdentifiers() throws {
    let contents = OwnSnapshotConfiguration.Contents()
    contents.forgetsIdentifiers = true
    let context = ModelContext(try open(contents))
    context.insert(Pallet("a", amount: 1))
    let error = #expect(throws: SwiftDataError.self) { try context.save() }
    #expect(error?.code == .incompleteSaveResult && context.hasChanges)
    contents.forgetsIdentifiers = false
    try context.save()
    #expect(!context.hasChanges)
  }

  @Test("A snapshot is decoded by the classes of the last container, and its properties have defaults")
  func decoding() throws {
    let contents = OwnSnapshotConfiguration.Contents()
    let container = try open(contents)
    let context = ModelContext(container)
    let pallet = Pallet("a", amount: 1)
    context.insert(pallet)
    try context.save()
    var related: [PersistentIdentifier: any BackingData] = [:]
    let snapshot = DefaultSnapshot(from: pallet.persistentBackingData, relatedBackingDatas: &related)
    #expect(snapshot.persistentIdentifier == pallet.persistentModelID && related.isEmpty)
    let data = try JSONEncoder().encode(snapshot)
    var json = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    #expect(json["label"] as? String == "a" && json["amount"] as? Int == 1)
    let id = try PersistentIdentifier.identifier(for: "own", entityName: "Pallet", primaryKey: "k")
    let copy = try JSONDecoder().decode(DefaultSnapshot.self, from: data).copy(persistentIdentifier: id)
    #expect(copy.persistentIdentifier == id)
    json["label"] = nil
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(
        DefaultSnapshot.self, from: JSONSerialization.data(withJSONObject: json))
    }
    let unknown = try JSONEncoder().encode(
      [
        "persistentIdentifier": PersistentIdentifier.identifier(
          for: "own", entityName: "Zeppelin", primaryKey: 1)
      ])
    #expect(throws: DecodingError.self) { try JSONDecoder().decode(DefaultSnapshot.self, from: unknown) }
    withExtendedLifetime(container) {}
  }

  @Test("A container names what its stores can't have")
  func wrongConfigurations() throws {
    let contents = OwnSnapshotConfiguration.Contents()
    let twice = OwnSnapshotConfiguration(contents: contents)
    #expect(throws: SwiftDataError.duplicateConfiguration) {
      try ModelContainer(for: Pallet.self, Quay.self, configurations: twice, twice)
    }
    #expect(throws: SwiftDataError.configurationSchemaNotFoundInContainerSchema) {
      try ModelContainer(
        for: Schema([Writer.self]),
        configurations: OwnSnapshotConfiguration(schema: Schema([Pallet.self]), contents: contents))
    }
    #expect(throws: SwiftDataError.configurationSchemaNotFoundInContainerSchema) {
      try DefaultStore(ModelConfiguration(isStoredInMemoryOnly: true), migrationPlan: nil)
    }
  }
}
