import CDESwiftData
@_spi(CDE) import CDESQLiteFaults
import Foundation
import Synchronization

// Four versions of a garden's models: a property is renamed, values become unique and required, a text is divided.

enum GardenV1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Plant.self, Bed.self] }

  @Model
  final class Plant {
    var label: String
    var height: Int
    var bed: Bed?
    init(label: String, height: Int) {
      self.label = label
      self.height = height
    }
  }

  @Model
  final class Bed {
    var title: String
    @Relationship(inverse: \Plant.bed) var plants: [Plant] = []
    init(title: String) { self.title = title }
  }
}

enum GardenV2: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 1, 0)
  static var models: [any PersistentModel.Type] { [Plant.self, Bed.self] }

  @Model
  final class Plant {
    var label: String
    @Attribute(originalName: "height") var size: Int
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

enum GardenV3: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Plant.self, Bed.self] }

  @Model
  final class Plant {
    @Attribute(.unique) var label: String
    var size: Int
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

enum GardenV4: VersionedSchema {
  static let versionIdentifier = Schema.Version(3, 0, 0)
  static var models: [any PersistentModel.Type] { [Plant.self, Bed.self, Gardener.self] }

  @Model
  final class Plant {
    @Attribute(.unique) var label: String
    var genus: String = ""
    var species: String = ""
    var size: Int
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
    var gardener: Gardener?
    @Relationship(inverse: \Plant.bed) var plants: [Plant] = []
    init(title: String) { self.title = title }
  }

  @Model
  final class Gardener {
    var name: String
    @Relationship(inverse: \Bed.gardener) var beds: [Bed] = []
    init(name: String) { self.name = name }
  }
}

// What an app's other files write.
typealias Plant = GardenV4.Plant
typealias Bed = GardenV4.Bed
typealias Gardener = GardenV4.Gardener

enum GardenPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] {
    [GardenV1.self, GardenV2.self, GardenV3.self, GardenV4.self]
  }

  static var stages: [MigrationStage] { [rename, deduplicate, divide] }

  static var rename: MigrationStage { .lightweight(fromVersion: GardenV1.self, toVersion: GardenV2.self) }

  static var deduplicate: MigrationStage {
    .custom(
      fromVersion: GardenV2.self, toVersion: GardenV3.self,
      willMigrate: { context in
        GardenLog.add("willMigrate 2")
        var known: Set<String> = []
        for plant in try context.fetch(FetchDescriptor<GardenV2.Plant>(sortBy: [SortDescriptor(\.size)]))
        where !known.insert(plant.label).inserted { context.delete(plant) }
        try context.save()
        try GardenLog.fail("willMigrate 2")
      },
      didMigrate: { context in
        GardenLog.add("didMigrate 2")
        for plant in try context.fetch(FetchDescriptor<GardenV3.Plant>()) where plant.size > 100 {
          plant.kind = "tree"
        }
        try GardenLog.fail("didMigrate 2")
      })
  }

  static var divide: MigrationStage {
    .custom(
      fromVersion: GardenV3.self, toVersion: GardenV4.self,
      willMigrate: { _ in
        GardenLog.add("willMigrate 3")
        try GardenLog.fail("willMigrate 3")
      },
      didMigrate: { context in
        GardenLog.add("didMigrate 3")
        let gardener = GardenV4.Gardener(name: "Ann")
        context.insert(gardener)
        gardener.beds = try context.fetch(FetchDescriptor<GardenV4.Bed>())
        for plant in try context.fetch(FetchDescriptor<GardenV4.Plant>()) {
          let words = plant.label.split(separator: " ")
          plant.genus = words.first.map(String.init) ?? ""
          plant.species = words.dropFirst().joined(separator: " ")
        }
        try context.save()
        try GardenLog.fail("didMigrate 3")
      })
  }
}

/// What the code of the plan did, and where it has to fail. The tests that use it run one after the other.
enum GardenLog {
  struct Failure: Error, Equatable { let place: String }

  private struct State {
    var calls: [String] = []
    var failing: String?
  }

  private static let state = Mutex(State())

  static func add(_ call: String) { state.withLock { $0.calls.append(call) } }

  static func fail(_ place: String) throws {
    if state.withLock({ $0.failing == place }) { throw Failure(place: place) }
  }

  static func begin(failingAt place: String? = nil) { state.withLock { $0 = State(failing: place) } }

  static var calls: [String] { state.withLock { $0.calls } }
}

/// Files of the versions.
enum Garden {
  static func open<Version: VersionedSchema>(
    _ version: Version.Type, _ url: URL, _ plan: (any SchemaMigrationPlan.Type)? = nil
  ) throws -> ModelContext {
    ModelContext(
      try ModelContainer(
        for: Schema(versionedSchema: version), migrationPlan: plan,
        configurations: ModelConfiguration(url: url)))
  }

  /// A store of a version with three plants, two of which have the same label before labels are unique.
  static func store(of number: Int) throws -> URL {
    let url = try TemporaryStore().url
    switch number {
    case 1:
      let context = try open(GardenV1.self, url)
      let bed = GardenV1.Bed(title: "South")
      bed.plants = [
        GardenV1.Plant(label: "Rosa alba", height: 90), GardenV1.Plant(label: "Quercus robur", height: 2_000),
        GardenV1.Plant(label: "Rosa alba", height: 80),
      ]
      context.insert(bed)
      try context.save()
    case 2:
      let context = try open(GardenV2.self, url)
      let bed = GardenV2.Bed(title: "South")
      bed.plants = [
        GardenV2.Plant(label: "Rosa alba", size: 90), GardenV2.Plant(label: "Quercus robur", size: 2_000),
        GardenV2.Plant(label: "Rosa alba", size: 80),
      ]
      context.insert(bed)
      try context.save()
    case 3:
      let context = try open(GardenV3.self, url)
      let bed = GardenV3.Bed(title: "South")
      bed.plants = [
        GardenV3.Plant(label: "Rosa alba", size: 80), GardenV3.Plant(label: "Quercus robur", size: 2_000),
      ]
      bed.plants[1].kind = "tree"
      context.insert(bed)
      try context.save()
    default:
      let context = try open(GardenV4.self, url)
      context.insert(Bed(title: "South"))
      try context.save()
    }
    return url
  }

  /// All definitions and all rows of a store's file.
  static func contents(_ url: URL) throws -> [String: [[String]]] {
    let file = StoreFile(url: url)
    var result = ["": try file.rows("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY 1, 2")]
    for table in try file.rows("SELECT name FROM sqlite_master WHERE type = 'table'").map({ $0[0] }) {
      let columns = try file.rows("SELECT name FROM pragma_table_info('\(table)')").map {
        "quote(\"\($0[0])\")"
      }
      result[table] = try file.rows("SELECT \(columns.joined(separator: ", ")) FROM \"\(table)\"").sorted {
        $0.lexicographicallyPrecedes($1)
      }
    }
    return result
  }
}
