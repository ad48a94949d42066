import CDEManagedModel
import CDEModelFiles
import CDEModelRuntime
@_spi(CDE) import CDESQLiteFaults
import CDEStore
import Foundation
import Testing

@Suite("Staged migrations")
struct StagedMigrationTests {
  /// Versions in which people have a name, two names besides, a year as text, and only the two names.
  private static func version(_ number: Int) -> NSManagedObjectModel {
    var attributes = [attribute("name", .stringAttributeType)]
    if number > 1 { attributes += ["first", "last"].map { attribute($0, .stringAttributeType) } }
    if number > 2 { attributes.append(attribute("year", .integer16AttributeType, default: 2000)) }
    if number > 3 { attributes.removeFirst() }
    return model(entity("Person", nil, attributes))
  }

  private static func reference(_ number: Int) -> NSManagedObjectModelReference {
    let model = version(number)
    return NSManagedObjectModelReference(model: model, versionChecksum: model.versionChecksum)
  }

  private func store(_ version: Int = 1) throws -> OldStore {
    try OldStore(Self.version(version)) { context in
      for name in ["Ada Lovelace", "Alan Turing"] { context.make("Person", ["name": name]) }
    }
  }

  private func open(_ store: OldStore, _ version: Int, _ manager: Any) throws -> NSPersistentContainer {
    let container = NSPersistentContainer(name: "Test", managedObjectModel: Self.version(version))
    let description = NSPersistentStoreDescription(url: store.file)
    description.setOption(manager, forKey: NSPersistentStoreStagedMigrationManagerOptionKey)
    container.persistentStoreDescriptions = [description]
    var failure: (any Error)?
    container.loadPersistentStores { failure = $1 }
    if let failure { throw failure }
    return container
  }

  private final class Calls {
    var list: [String] = []
  }

  /// Stages over all versions, of which the second splits the names.
  private func stages(_ calls: Calls, failing: String? = nil) -> [NSMigrationStage] {
    struct Failure: Error {}
    func note(_ manager: NSStagedMigrationManager, _ name: String) throws {
      let stores = manager.container?.persistentStoreCoordinator.persistentStores ?? []
      #expect(stores.count == 1)
      let names =
        manager.container?.managedObjectModel.entitiesByName["Person"]?.attributesByName.keys.sorted() ?? []
      calls.list.append("\(name) \(names.joined(separator: " "))")
      #expect(stores.first?.url?.lastPathComponent != "Test.sqlite")
      if failing == name { throw Failure() }
    }
    let split = NSCustomMigrationStage(migratingFrom: Self.reference(2), to: Self.reference(3))
    split.label = "split"
    split.willMigrateHandler = { manager, stage in
      #expect(stage.label == "split")
      try note(manager, "will")
      try manager.container?.work { context in
        for person in try context.all("Person") {
          let parts = (person.value(forKey: "name") as? String ?? "").split(separator: " ").map(String.init)
          person.setValue(parts.first, forKey: "first")
          person.setValue(parts.last, forKey: "last")
        }
        try context.save()
      }
    }
    split.didMigrateHandler = { manager, _ in
      try note(manager, "did")
      try manager.container?.work { context in
        for person in try context.all("Person") where person.value(forKey: "first") as? String == "Ada" {
          person.setValue(1815, forKey: "year")
        }
        try context.save()
      }
    }
    return [
      NSLightweightMigrationStage([Self.version(1).versionChecksum, Self.version(2).versionChecksum]), split,
      NSLightweightMigrationStage([Self.version(3).versionChecksum, Self.version(4).versionChecksum]),
    ]
  }

  private static let rows = [["Ada", "Lovelace", "1815"], ["Alan", "Turing", "2000"]]

  @Test(
    "A store goes through all stages, with the handlers between their versions, and objects keep their IDs",
    arguments: [1, 2])
  func stages(from version: Int) throws {
    let store = try store(version)
    let before = try store.sql("SELECT Z_UUID FROM Z_METADATA")
    let calls = Calls()
    let manager = NSStagedMigrationManager(stages(calls))
    try open(store, 4, manager).close()
    #expect(calls.list == ["will first last name", "did first last name year"])
    #expect(try store.sql("SELECT ZFIRST, ZLAST, ZYEAR FROM ZPERSON ORDER BY Z_PK") == Self.rows)
    #expect(try store.sql("SELECT Z_UUID FROM Z_METADATA") == before)
    #expect(manager.container == nil)
    // A store of the new version is opened without any stage.
    try open(store, 4, manager).close()
    #expect(calls.list.count == 2)
    let files = try FileManager.default.contentsOfDirectory(
      atPath: store.file.deletingLastPathComponent().path)
    #expect(!files.contains { $0.hasSuffix(".migration") })
  }

  @Test("Stages before the store's version and behind the model's are left out")
  func someStages() throws {
    let calls = Calls()
    let early = try store(1)
    try open(early, 2, NSStagedMigrationManager(stages(calls))).close()
    #expect(calls.list.isEmpty)
    let late = try store(3)
    try open(late, 4, NSStagedMigrationManager(stages(calls))).close()
    #expect(calls.list.isEmpty)
    let exact = try store(2)
    try open(exact, 3, NSStagedMigrationManager(stages(calls))).close()
    #expect(calls.list.count == 2)
    #expect(try exact.sql("SELECT ZFIRST FROM ZPERSON ORDER BY 1") == [["Ada"], ["Alan"]])
  }

  @Test(
    "A handler that fails leaves the store as it is, whichever stages have ended", arguments: ["will", "did"])
  func failure(_ name: String) throws {
    let store = try store()
    try store.expectFailure(.migration, "\(name)MigrateHandler of the stage split") {
      _ = try open(store, 4, NSStagedMigrationManager(stages(Calls(), failing: name)))
    }
  }

  @Test("Versions that the stages lack, contradict or turn around are typed errors with Core Data's numbers")
  func versions() throws {
    let store = try store()
    func check(
      _ code: ManagedObjectError.Code, _ number: Int, _ part: String, _ stages: [NSMigrationStage],
      to version: Int = 4
    ) throws {
      try store.expectFailure(code, part) {
        do { _ = try open(store, version, NSStagedMigrationManager(stages)) } catch {
          #expect((error as NSError).code == number, "\(error)")
          throw error
        }
      }
    }
    let sums = (1...4).map { Self.version($0).versionChecksum }
    func light(_ numbers: Int...) -> NSMigrationStage {
      NSLightweightMigrationStage(numbers.map { sums[$0 - 1] })
    }
    try check(.stagedMigrationVersion, 134504, "the store", [light(2, 3, 4)])
    try check(.stagedMigrationVersion, 134504, "the store", [])
    try check(.stagedMigrationVersion, 134504, "coordinator's model", [light(1, 2)])
    try check(.stagedMigrationVersion, 134504, "two places", [light(1, 2), light(1, 4)])
    try check(.stagedMigrationBackward, 134505, "later version", [light(4, 3, 2, 1)])
    let wrong = NSCustomMigrationStage(
      migratingFrom: Self.reference(1),
      to: NSManagedObjectModelReference(model: Self.version(3), versionChecksum: sums[3]))
    try check(.stagedMigrationVersion, 134504, "the checksum", [wrong])
    let missing = NSCustomMigrationStage(
      migratingFrom: NSManagedObjectModelReference(name: "Nowhere", in: nil, versionChecksum: sums[0]),
      to: Self.reference(4))
    try check(.migrationLacksSourceModel, 134130, "Nowhere", [missing])
    try store.expectFailure(.stagedMigrationVersion, "NSStagedMigrationManager") {
      _ = try open(store, 4, "x")
    }
  }

  @Test("References find a model in memory, in a file, by name and by hashes, and check its version")
  func references() throws {
    let folder = ProcessFolder.newURL("models")
    let versions = folder.appendingPathComponent("People.momd")
    try FileManager.default.createDirectory(at: versions, withIntermediateDirectories: true)
    for number in 1...2 {
      try ModelCompiler.data(of: Self.version(number)).write(
        to: versions.appendingPathComponent("People \(number).mom"))
    }
    let sum = Self.version(2).versionChecksum
    let bundle = try #require(Bundle(path: folder.path))
    let file = versions.appendingPathComponent("People 2.mom")
    let found = [
      Self.reference(2), NSManagedObjectModelReference(fileURL: file, versionChecksum: sum),
      NSManagedObjectModelReference(name: "People 2", in: bundle, versionChecksum: sum),
      NSManagedObjectModelReference(
        entityVersionHashes: Self.version(2).entityVersionHashesByName, in: bundle, versionChecksum: sum),
    ]
    for reference in found {
      #expect(reference.resolvedModel.entitiesByName["Person"]?.attributesByName.count == 3)
      #expect(reference.versionChecksum == sum)
    }
    let lost = [
      NSManagedObjectModelReference(fileURL: file, versionChecksum: "other"),
      NSManagedObjectModelReference(fileURL: folder.appendingPathComponent("no.mom"), versionChecksum: sum),
      NSManagedObjectModelReference(name: "No", in: bundle, versionChecksum: sum),
      NSManagedObjectModelReference(
        entityVersionHashes: ["Person": 5, 3: "x"], in: bundle, versionChecksum: sum),
    ]
    for reference in lost { #expect(reference.resolvedModel.entities.isEmpty) }
  }
}
