import CDEModelRuntime
import Foundation
import Testing

@testable import CDESwiftData

@Suite("Migration plans", .onSQLite, .serialized)
struct MigrationPlanTests {
  @Test("A store of any older version gets all stages that it lacks, in order", arguments: 1...4)
  func stages(version: Int) throws {
    let url = try Garden.store(of: version)
    GardenLog.begin()
    let context = try Garden.open(GardenV4.self, url, GardenPlan.self)
    #expect(
      GardenLog.calls
        == [
          1: ["willMigrate 2", "didMigrate 2", "willMigrate 3", "didMigrate 3"],
          2: ["willMigrate 2", "didMigrate 2", "willMigrate 3", "didMigrate 3"],
          3: ["willMigrate 3", "didMigrate 3"], 4: [],
        ][version])
    if version == 4 { return }
    let plants = try context.fetch(FetchDescriptor<Plant>(sortBy: [SortDescriptor(\.size)]))
    #expect(plants.map(\.label) == ["Rosa alba", "Quercus robur"] && plants.map(\.size) == [80, 2_000])
    #expect(plants.map(\.genus) == ["Rosa", "Quercus"] && plants.map(\.species) == ["alba", "robur"])
    #expect(plants.map(\.kind) == ["unknown", "tree"])
    #expect(plants.allSatisfy { $0.bed?.title == "South" && $0.bed?.gardener?.name == "Ann" })
  }

  @Test("An opened store needs no stage again")
  func again() throws {
    let url = try Garden.store(of: 1)
    GardenLog.begin()
    _ = try Garden.open(GardenV4.self, url, GardenPlan.self)
    GardenLog.begin()
    let context = try Garden.open(GardenV4.self, url, GardenPlan.self)
    #expect(GardenLog.calls == [])
    #expect(try context.fetchCount(FetchDescriptor<Plant>()) == 2)
  }

  @Test("A plan leads to the container's version, not beyond")
  func middle() throws {
    let url = try Garden.store(of: 1)
    GardenLog.begin()
    let context = try Garden.open(GardenV3.self, url, GardenPlan.self)
    #expect(GardenLog.calls == ["willMigrate 2", "didMigrate 2"])
    #expect(try context.fetchCount(FetchDescriptor<GardenV3.Plant>()) == 2)
  }

  @Test(
    "If the code of a stage fails, the store stays as it is, and the error has the cause",
    arguments: ["willMigrate 2", "didMigrate 2", "willMigrate 3", "didMigrate 3"])
  func failing(place: String) throws {
    let url = try Garden.store(of: 1)
    let before = try Garden.contents(url)
    GardenLog.begin(failingAt: place)
    let error = try #require(throws: SwiftDataError.self) {
      try Garden.open(GardenV4.self, url, GardenPlan.self)
    }
    #expect(error.code == SwiftDataError.loadIssueModelContainer.code && GardenLog.calls.last == place)
    var cause = error.cause
    while let next = (cause as? ManagedObjectError)?.cause { cause = next }
    #expect(cause as? GardenLog.Failure == GardenLog.Failure(place: place))
    #expect(try Garden.contents(url) == before)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: url.deletingLastPathComponent().path)
        .filter { $0.contains("migrat") } == [])
    // The next attempt succeeds.
    GardenLog.begin()
    let context = try Garden.open(GardenV4.self, url, GardenPlan.self)
    #expect(try context.fetchCount(FetchDescriptor<Plant>()) == 2)
  }

  @Test("Values that have to be unique later are an error without code that removes duplicates")
  func duplicates() throws {
    let url = try Garden.store(of: 2)
    let before = try Garden.contents(url)
    let error = try #require(throws: SwiftDataError.self) { try Garden.open(GardenV3.self, url) }
    #expect(error.code == SwiftDataError.loadIssueModelContainer.code)
    #expect(error.message.contains("Plant") && error.message.contains("label"), "\(error.message)")
    #expect(try Garden.contents(url) == before)
  }

  @Test("A store of a later version than the container's is an error")
  func later() throws {
    let url = try Garden.store(of: 4)
    let before = try Garden.contents(url)
    let error = try #require(throws: SwiftDataError.self) {
      try Garden.open(GardenV2.self, url, GardenPlan.self)
    }
    #expect(error.code == SwiftDataError.backwardMigration.code)
    #expect(error.message.contains("GardenV4") && error.message.contains("GardenV2"), "\(error.message)")
    #expect(try Garden.contents(url) == before)
  }

  @Test("A store whose version the plan lacks is an error that names what differs")
  func unknown() throws {
    let url = try TemporaryStore().url
    let other = try Garden.open(GardenBranch.self, url)
    other.insert(GardenBranch.Plant(label: "Rosa"))
    try other.save()
    let before = try Garden.contents(url)
    let error = try #require(throws: SwiftDataError.self) {
      try Garden.open(GardenV4.self, url, GardenPlan.self)
    }
    #expect(error.code == SwiftDataError.unknownSchema.code)
    #expect(error.message.contains("Plant") && error.message.contains("1.0.5"), "\(error.message)")
    #expect(try Garden.contents(url) == before)
  }

  @Test("A container whose version the plan lacks is an error for a store of another version")
  func unknownContainer() throws {
    let url = try Garden.store(of: 1)
    #expect(throws: SwiftDataError.unknownSchema) {
      try Garden.open(GardenBranch.self, url, GardenPlan.self)
    }
    // A new store needs no plan.
    let context = try Garden.open(GardenBranch.self, TemporaryStore().url, GardenPlan.self)
    #expect(try context.fetchCount(FetchDescriptor<GardenBranch.Plant>()) == 0)
  }

  @Test("Versions that follow each other without a stage are inferred")
  func missingStage() throws {
    let url = try Garden.store(of: 1)
    GardenLog.begin()
    let context = try Garden.open(GardenV3.self, url, SparsePlan.self)
    #expect(GardenLog.calls == ["willMigrate 2", "didMigrate 2"])
    #expect(try context.fetchCount(FetchDescriptor<GardenV3.Plant>()) == 2)
  }

  @Test(
    "A stage with code between versions that stores can't tell apart is an error; a hash modifier tells them apart"
  )
  func sameEntities() throws {
    let url = try Garden.store(of: 2)
    let error = try #require(throws: SwiftDataError.self) {
      try Garden.open(SameGarden.self, url, SamePlan.self)
    }
    #expect(error.code == SwiftDataError.loadIssueModelContainer.code)
    #expect(
      error.message.contains("SameGarden") && error.message.contains("hashModifier"), "\(error.message)")
    GardenLog.begin()
    let context = try Garden.open(ModifiedGarden.self, url, ModifiedPlan.self)
    #expect(GardenLog.calls == ["modified"])
    #expect(try context.fetchCount(FetchDescriptor<ModifiedGarden.Plant>()) == 3)
  }

  @Test("A container made of classes is one of the plan's versions, too")
  func classes() throws {
    let url = try Garden.store(of: 1)
    GardenLog.begin()
    let container = try ModelContainer(
      for: Plant.self, Bed.self, Gardener.self, migrationPlan: GardenPlan.self,
      configurations: ModelConfiguration(url: url))
    #expect(
      try ModelContext(container).fetchCount(FetchDescriptor<Plant>()) == 2 && GardenLog.calls.count == 4)
  }

  @Test("Tokens of the history stay valid through stages of both kinds, and changes name what is left")
  func history() throws {
    let url = try Garden.store(of: 1)
    // Identifiers and transactions that a context gave keep its store open.
    func change() throws -> (DefaultHistoryToken, URL?) {
      let old = try Garden.open(GardenV1.self, url)
      let history = try old.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
      let plant = try #require(try old.fetch(FetchDescriptor<GardenV1.Plant>()).first)
      plant.height += 1
      try old.save()
      return (try #require(history.last).token, plant.persistentModelID.uri)
    }
    let (token, id) = try change()
    GardenLog.begin()
    let context = try Garden.open(GardenV4.self, url, GardenPlan.self)
    let later = try context.fetchHistory(
      HistoryDescriptor(predicate: #Predicate<DefaultHistoryTransaction> { $0.token > token }))
    #expect(later.first?.changes.map(\.changedPersistentIdentifier.uri) == [id])
    #expect(try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).count >= 2)
  }

  @Test("New models of a class take the container's schema after a migration")
  func newModels() throws {
    let url = try Garden.store(of: 1)
    GardenLog.begin()
    let context = try Garden.open(GardenV4.self, url, GardenPlan.self)
    let plant = Plant(label: "Tilia cordata", size: 900)
    plant.bed = try context.fetch(FetchDescriptor<Bed>()).first
    context.insert(plant)
    try context.save()
    #expect(plant.bed?.plants.count == 3)
  }
}

/// A version that is none of the plan's.
enum GardenBranch: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 5)
  static var models: [any PersistentModel.Type] { [Plant.self] }

  @Model
  final class Plant {
    var label: String
    var colour: String?
    init(label: String) { self.label = label }
  }
}

/// The second version again, with another number.
enum SameGarden: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 2, 0)
  static var models: [any PersistentModel.Type] { GardenV2.models }
}

enum SamePlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [GardenV2.self, SameGarden.self] }
  static var stages: [MigrationStage] {
    [.custom(fromVersion: GardenV2.self, toVersion: SameGarden.self, willMigrate: nil, didMigrate: { _ in })]
  }
}

/// The second version with an attribute of another meaning.
enum ModifiedGarden: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 2, 0)
  static var models: [any PersistentModel.Type] { [Plant.self, Bed.self] }

  @Model
  final class Plant {
    var label: String
    @Attribute(hashModifier: "millimetres") var size: Int
    var kind: String = "unknown"
    var bed: Bed?
    init(label: String, size: Int) {
      self.label = label
      self.size = size
    }
  }

  @Model
  final class Bed {
    var title: String
    @Relationship(inverse: \Plant.bed) var plants: [Plant] = []
    init(title: String) { self.title = title }
  }
}

enum ModifiedPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [GardenV2.self, ModifiedGarden.self] }
  static var stages: [MigrationStage] {
    [
      .custom(
        fromVersion: GardenV2.self, toVersion: ModifiedGarden.self, willMigrate: nil,
        didMigrate: { context in
          GardenLog.add("modified")
          for plant in try context.fetch(FetchDescriptor<ModifiedGarden.Plant>()) { plant.size *= 10 }
        })
    ]
  }
}

enum SparsePlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [GardenV1.self, GardenV2.self, GardenV3.self] }
  static var stages: [MigrationStage] { [GardenPlan.deduplicate] }
}
