@_spi(CDE) import CDESQLiteFaults
import CDEManagedModel
import CDEModelRuntime
import CDEStore
import Foundation
import Testing

/// Notes what it is set to, and is cancelled after a number of settings.
private final class NotingProgress: Progress, @unchecked Sendable {
  // Guard: a test has one thread, which opens the store.
  var units: [Int64] = []
  var cancelsAt = Int.max
  var look: () -> Void = {}

  override var completedUnitCount: Int64 {
    didSet {
      units.append(completedUnitCount)
      look()
      if units.count >= cancelsAt { cancel() }
    }
  }
}

@Suite("The progress of a migration")
struct MigrationProgressTests {
  /// What migrates the store.
  enum Way: CaseIterable { case inferred, step, stage, mappingModel }

  private static func reference(_ model: NSManagedObjectModel) -> NSManagedObjectModelReference {
    NSManagedObjectModelReference(model: model, versionChecksum: model.versionChecksum)
  }

  private static func notes(_ version: Int) -> NSManagedObjectModel {
    let note = entity("Note", nil, [attribute("title", .stringAttributeType)])
    let tag = entity("Tag", nil, [attribute("name", .stringAttributeType)])
    connect(.many(note, "tags"), .many(tag, "notes"))
    if version > 1 { note.properties.append(attribute("stars", .integer16AttributeType, default: 1)) }
    return model(note, tag)
  }

  private func store(_ way: Way) throws -> OldStore {
    if way == .step || way == .mappingModel {
      return try OldStore(Library.old()) { try Library.fill($0, books: 200, cover: 200) }
    }
    return try OldStore(Self.notes(1)) { context in
      for index in 0..<2_000 { context.make("Note", ["title": String(repeating: "n\(index)", count: 20)]) }
    }
  }

  private func newModel(_ way: Way) -> NSManagedObjectModel {
    way == .step || way == .mappingModel ? Library.new() : Self.notes(2)
  }

  private func description(_ store: OldStore, _ way: Way) -> NSPersistentStoreDescription {
    let description = NSPersistentStoreDescription(url: store.file)
    switch way {
    case .inferred: break
    case .step:
      description.migrationSteps = [
        MigrationStep(from: Library.old(), to: Library.new()) { old, new in
          for book in try old.snapshots(of: "Book") {
            let title: String = try book["title"]
            try new.object(for: book)?.set("name", to: title)
          }
        }
      ]
    case .stage:
      let stage = NSCustomMigrationStage(
        migratingFrom: Self.reference(Self.notes(1)), to: Self.reference(Self.notes(2)))
      stage.label = "Stars"
      description.setOption(
        NSStagedMigrationManager([stage]), forKey: NSPersistentStoreStagedMigrationManagerOptionKey)
    case .mappingModel:
      description.migrationMappingModels = [Library.mapping()]
      description.shouldInferMappingModelAutomatically = false
    }
    return description
  }

  private func open(_ description: NSPersistentStoreDescription, _ way: Way) throws {
    let container = NSPersistentContainer(name: "Test", managedObjectModel: newModel(way))
    container.persistentStoreDescriptions = [description]
    var failure: (any Error)?
    container.loadPersistentStores { failure = $1 }
    try container.close()
    if let failure { throw failure }
  }

  @Test("A migration reports its progress from the beginning to the end", arguments: Way.allCases)
  func progress(way: Way) throws {
    let store = try store(way)
    let description = description(store, way)
    #expect(description.migrationProgress.isIndeterminate)
    let progress = NotingProgress(parent: nil, userInfo: nil)
    description.migrationProgress = progress
    let whole = Progress.discreteProgress(totalUnitCount: 2)
    whole.addChild(progress, withPendingUnitCount: 1)
    try open(description, way)
    #expect(progress.isFinished && progress.fractionCompleted == 1)
    #expect(whole.fractionCompleted == 0.5)
    #expect(progress.units == progress.units.sorted())
    #expect(progress.units.count > 3)
    // Opening a store that needs no migration is no progress of one.
    let units = progress.units
    try open(description, way)
    #expect(progress.units == units)
  }

  @Test(
    "A migration is cancelled at any part, and the store stays as it is until it is opened again",
    arguments: Way.allCases)
  func cancelling(way: Way) throws {
    let store = try store(way)
    let old = try store.contents()
    var refusals = 0
    // Equal steps: the first ones, and some of the others.
    for number in 1...1_000 where number <= 3 || DrawnSteps.takesAll || number.isMultiple(of: 4) {
      let description = description(store, way)
      let progress = NotingProgress(parent: nil, userInfo: nil)
      progress.cancelsAt = number
      description.migrationProgress = progress
      do { try open(description, way) } catch let error as ManagedObjectError {
        #expect(error.code == .migrationCancelled)
        #expect((error as NSError).code == NSMigrationCancelledError)
        #expect(try store.contents() == old)
        refusals += 1
        continue
      }
      // The last unit is reported after the commit.
      #expect(number >= progress.units.count)
      break
    }
    #expect(refusals > 2)
    #expect(try store.sql("PRAGMA integrity_check") == [["ok"]])
    let plan = try NSPersistentStoreCoordinator(managedObjectModel: newModel(way)).migrationPlan(
      for: description(store, way))
    #expect(!plan.isNeeded)
  }

  @Test("A cancelled migration does not wait for a store in use")
  func waiting() throws {
    let store = try store(.inferred)
    let user = try store.opened(Self.notes(1))
    let description = description(store, .inferred)
    description.migrationProgress.cancel()
    #expect(throws: ManagedObjectError.self) { try open(description, .inferred) }
    try user.close()
    #expect(throws: ManagedObjectError.self) { try open(description, .inferred) }
    description.migrationProgress = Progress.discreteProgress(totalUnitCount: 0)
    try open(description, .inferred)
  }

  @Test("The plan names the parts that run code, and what they may keep", arguments: Way.allCases)
  func plan(way: Way) throws {
    let store = try store(way)
    let before = try store.contents()
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: newModel(way))
    let plan = try coordinator.migrationPlan(for: description(store, way))
    #expect(try store.contents() == before)
    #expect(plan.isNeeded && plan.obstacles.isEmpty)
    #expect(plan.steps.count == 1)
    let text = plan.description
    switch way {
    case .inferred:
      #expect(plan.steps[0].kind == .inferred && plan.losses.isEmpty)
      #expect(plan.rewrittenTables == ["ZNOTE"])
      #expect(plan.rows == ["Note": 2_000, "Tag": 0])
    case .step:
      #expect(plan.steps[0].kind == .step)
      #expect(plan.rows["Book"] == 200)
      #expect(text.contains("1. By a step:\n"))
      #expect(text.contains("Values are lost unless the code keeps them:"))
      #expect(text.contains("Book.title: is removed with its values (200 objects)"))
    case .stage:
      #expect(plan.steps[0].kind == .stage && plan.steps[0].label == "Stars")
      #expect(text.contains("1. By the stage “Stars”:\n  Note.stars: a new attribute"))
      #expect(text.contains("The store is written anew; it has 2000 objects."))
    case .mappingModel:
      #expect(plan.steps[0].kind == .mappingModel)
      #expect(text.contains("1. By a mapping model:\n"))
    }
    #expect(plan.neededSpace > 0 && plan.expectedDuration > .zero)
    #expect(text.contains("It needs about"))
  }

  @Test("Versions between the stages are inferred, and mistakes of stages are found before anything is done")
  func stages() throws {
    func version(_ number: Int) -> NSManagedObjectModel {
      model(entity("N", nil, (1...number).map { attribute("a\($0)", .integer64AttributeType) }))
    }
    let store = try OldStore(version(1)) { $0.make("N", ["a1": 1]) }
    let stage = NSCustomMigrationStage(
      migratingFrom: Self.reference(version(2)), to: Self.reference(version(3)))
    stage.willMigrateHandler = { _, _ in Issue.record("A plan runs no code.") }
    let first = NSLightweightMigrationStage([version(1), version(2)].map(\.versionChecksum))
    let last = NSLightweightMigrationStage([version(3), version(4)].map(\.versionChecksum))
    func plan(of stages: [NSMigrationStage]) throws -> StoreMigrationPlan {
      let description = NSPersistentStoreDescription(url: store.file)
      description.setOption(
        NSStagedMigrationManager(stages), forKey: NSPersistentStoreStagedMigrationManagerOptionKey)
      return try NSPersistentStoreCoordinator(managedObjectModel: version(4)).migrationPlan(for: description)
    }
    let found = try plan(of: [first, stage, last])
    #expect(found.steps.map(\.kind) == [.inferred, .stage, .inferred])
    #expect(found.changes.map(\.property) == ["a2", "a3", "a4"])
    #expect(throws: ManagedObjectError.self) { _ = try plan(of: [stage]) }
  }

  @Test("The space on the disk is about what the plan says", .onSQLite, arguments: ["WAL", "DELETE"])
  func space(journal: String) throws {
    let store = try OldStore(Self.notes(1)) { context in
      for index in 0..<20_000 { context.make("Note", ["title": String(repeating: "n\(index)", count: 20)]) }
    }
    let description = description(store, .inferred)
    description.setValue(journal, forPragmaNamed: "journal_mode")
    let plan = try NSPersistentStoreCoordinator(managedObjectModel: Self.notes(2)).migrationPlan(
      for: description)
    func size() throws -> Int {
      let folder = store.file.deletingLastPathComponent()
      let name = store.file.lastPathComponent
      return try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix(name) }
        .reduce(0) { sum, file in
          let path = folder.appendingPathComponent(file).path
          return sum + ((try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0)
        }
    }
    let before = try size()
    let progress = NotingProgress(parent: nil, userInfo: nil)
    var most = 0
    progress.look = { most = max(most, (try? size()) ?? 0) }
    description.migrationProgress = progress
    try open(description, .inferred)
    most = max(most, try size())
    #expect(most - before <= plan.neededSpace)
    #expect(most - before >= plan.neededSpace / 4)
  }
}
