import CDEModelRuntime
import CDESwiftData
import Foundation
import Testing

@Suite("Planning, watching and cancelling migrations", .onSQLite, .serialized)
struct MigrationProgressTests {
  private let configuration: ModelConfiguration
  private let url: URL

  init() throws {
    url = try Garden.store(of: 1)
    configuration = ModelConfiguration(url: url)
    GardenLog.begin()
  }

  private func open() throws -> ModelContainer {
    try ModelContainer(
      for: Schema(versionedSchema: GardenV4.self), migrationPlan: GardenPlan.self,
      configurations: configuration)
  }

  @Test("A plan says what a migration would do, and does nothing")
  func planning() throws {
    let before = try Garden.contents(url)
    let migrations = try ModelContainer.migrations(
      for: Schema(versionedSchema: GardenV4.self), migrationPlan: GardenPlan.self,
      configurations: [configuration])
    #expect(migrations.count == 1 && migrations[0].rows["Plant"] == 3)
    #expect(migrations[0].steps.contains { $0.runsCode })
    #expect(GardenLog.calls == [])
    #expect(try Garden.contents(url) == before)
    let inferred = try ModelContainer.migrations(
      for: Schema(versionedSchema: GardenV2.self), configurations: [configuration])
    #expect(inferred[0].description.contains("was named height"), "\(inferred[0])")
    _ = try open()
    #expect(
      try ModelContainer.migrations(
        for: Schema(versionedSchema: GardenV4.self), migrationPlan: GardenPlan.self,
        configurations: [configuration]
      ).isEmpty)
  }

  @Test("A planned migration that can't be made is the error of the container")
  func refusedPlan() throws {
    _ = try open()
    #expect(throws: SwiftDataError.backwardMigration) {
      try ModelContainer.migrations(
        for: Schema(versionedSchema: GardenV2.self), migrationPlan: GardenPlan.self,
        configurations: [configuration])
    }
  }

  @Test("A migration is a part of the current progress")
  func progress() throws {
    let progress = Progress(totalUnitCount: 4)
    progress.becomeCurrent(withPendingUnitCount: 3)
    let container = Result { try open() }
    progress.resignCurrent()
    #expect(try ModelContext(container.get()).fetchCount(FetchDescriptor<Plant>()) == 2)
    #expect(progress.fractionCompleted == 0.75)
    // What needs no migration is done, too.
    progress.becomeCurrent(withPendingUnitCount: 1)
    _ = try open()
    progress.resignCurrent()
    #expect(progress.isFinished)
  }

  @Test("Cancelling the current progress cancels the migration, and the store stays as it is")
  func cancelling() throws {
    let before = try Garden.contents(url)
    let progress = Progress(totalUnitCount: 1)
    progress.cancel()
    progress.becomeCurrent(withPendingUnitCount: 1)
    let container = Result { try open() }
    progress.resignCurrent()
    let error = try #require(throws: SwiftDataError.self) { try container.get() }
    #expect(error.code == SwiftDataError.loadIssueModelContainer.code)
    #expect((error.cause as? ManagedObjectError)?.code == .migrationCancelled)
    #expect(try Garden.contents(url) == before)
    #expect(GardenLog.calls.count < 4)
  }
}
