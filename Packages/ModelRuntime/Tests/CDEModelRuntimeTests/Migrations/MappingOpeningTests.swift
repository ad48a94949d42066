import CDEManagedModel
import CDEModelFiles
@_spi(CDE) import CDEModelRuntime
@_spi(CDE) import CDESQLiteFaults
import CDEStore
import Foundation
import Testing

/// A policy that fails, or has the process killed, in one of its methods.
final class FailingPolicy: NSEntityMigrationPolicy {
  struct Failure: Error {}
  static let places = ["begin", "create", "relate", "end"]
  nonisolated(unsafe) static var killed: String?
  // Guard: set before the only migration of an exit test.

  private func pass(_ place: String, _ manager: NSMigrationManager) throws {
    if Self.killed == place { kill(getpid(), SIGKILL) }
    if Self.killed == nil, place == "end" { throw Failure() }
  }

  override func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {
    try pass("begin", manager)
  }

  override func createDestinationInstances(
    forSource source: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
    try pass("create", manager)
  }

  override func createRelationships(
    forDestination made: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.createRelationships(forDestination: made, in: mapping, manager: manager)
    try pass("relate", manager)
  }

  override func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {
    try pass("end", manager)
  }

  override func value(ofFunction selector: String, arguments: [Any?]) throws -> Any? {
    (arguments[0] as? String).flatMap { Int($0) }
  }
}

@Suite("Opening a store with a mapping model")
struct MappingOpeningTests {
  private func store(cover: Int = 0) throws -> OldStore {
    try OldStore(Library.old()) { try Library.fill($0, cover: cover) }
  }

  private static func open(
    _ file: URL, _ mapping: NSMappingModel?, _ configure: (NSPersistentStoreDescription) -> Void = { _ in }
  ) throws -> NSPersistentContainer {
    let container = NSPersistentContainer(name: "Test", managedObjectModel: Library.new())
    let description = NSPersistentStoreDescription(url: file)
    description.migrationMappingModels = mapping.map { [$0] } ?? []
    configure(description)
    container.persistentStoreDescriptions = [description]
    var failure: (any Error)?
    container.loadPersistentStores { failure = $1 }
    if let failure { throw failure }
    return container
  }

  /// The files of a store besides its external values.
  private func names(_ store: OldStore) throws -> [String] {
    let name = store.file.deletingPathExtension().lastPathComponent
    return try FileManager.default.contentsOfDirectory(atPath: store.file.deletingLastPathComponent().path)
      .filter { $0.contains(name) && !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }.sorted()
  }

  @Test(
    "A mapping model is used when nothing may be inferred, and when it can't be", arguments: [true, false])
  func opening(infers: Bool) throws {
    let store = try store(cover: 300_000)
    let facts = try store.facts(Library.old())
    let first = try store.opened(Library.old())
    let old = first.persistentStoreCoordinator.persistentStores[0]
    first.persistentStoreCoordinator.setMetadata(["lastSync": "today"], for: old)
    try first.close()
    let container = try Self.open(store.file, Library.mapping()) {
      $0.shouldInferMappingModelAutomatically = infers
    }
    #expect(try container.work { try Library.facts($0) } == facts)
    let new = container.persistentStoreCoordinator.persistentStores[0]
    #expect(container.persistentStoreCoordinator.metadata(for: new)["lastSync"] as? String == "today")
    // The keys of objects are others, so old IDs must not lead to objects.
    #expect(new.identifier != old.identifier)
    try container.close()
    #expect(try store.facts(Library.new()) == facts)
    guard StoresUnderTest.areSQLite else { return }
    let name = store.file.deletingPathExtension().lastPathComponent
    #expect(try names(store) == [".\(name)_SUPPORT", "\(name).sqlite"])
    let values = store.file.deletingLastPathComponent().appendingPathComponent(
      ".\(name)_SUPPORT/_EXTERNAL_DATA")
    #expect(try FileManager.default.contentsOfDirectory(atPath: values.path).count == 3)
    #expect(try store.sql("PRAGMA integrity_check") == [["ok"]])
  }

  @Test("What can be inferred is inferred, although there is a mapping model")
  func inferred() throws {
    let mapping = NSMappingModel()
    mapping.entityMappings = [Library.entityMapping("A", "A", "A", .copyEntityMappingType)]
    mapping.entityMappings[0].attributeMappings = [Library.property("x", "7")]
    let new = model(entity("A", nil, [attribute("x", .integer32AttributeType)]))
    for (infers, value) in [(true, 1), (false, 7)] {
      let store = try OldStore(model(entity("A", nil, [attribute("x", .integer16AttributeType)]))) {
        $0.make("A", ["x": 1])
      }
      let description = NSPersistentStoreDescription(url: store.file)
      description.migrationMappingModels = [mapping]
      description.shouldInferMappingModelAutomatically = infers
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: new)
      coordinator.addPersistentStore(with: description) { #expect($1 == nil) }
      try coordinator.remove(try #require(coordinator.persistentStores.first))
      #expect(try store.sql("SELECT ZX FROM ZA") == [["\(value)"]])
    }
  }

  @Test("A compiled mapping model among the program's resources is found when a store is opened")
  func resources() throws {
    // Versions of their own, which no other test opens at the same time, also not another process with the same resources.
    func version(_ model: NSManagedObjectModel) -> NSManagedObjectModel {
      for entity in model.entities { entity.versionHashModifier = "resources \(getpid())" }
      return model
    }
    let (old, new) = (version(Library.old()), version(Library.new()))
    let store = try OldStore(old) { try Library.fill($0) }
    let facts = try store.facts(version(Library.old()))
    func open() throws {
      let container = NSPersistentContainer(name: "Test", managedObjectModel: version(Library.new()))
      container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: store.file)]
      var failure: (any Error)?
      container.loadPersistentStores { failure = $1 }
      if let failure { throw failure }
      try container.close()
    }
    #expect(throws: ManagedObjectError.self) { try open() }
    let folder = try #require(Bundle.main.executableURL).deletingLastPathComponent()
      .appendingPathComponent("Mappings\(getpid())_Test.resources", isDirectory: true)
    let files = FileManager.default
    try files.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? files.removeItem(at: folder) }
    try Data("no archive".utf8).write(to: folder.appendingPathComponent("A.cdm"))
    // With the versions of both models, as Xcode's compiler writes them.
    let mapping = Library.mapping()
    for entity in mapping.entityMappings {
      entity.sourceEntityVersionHash = entity.sourceEntityName.flatMap { old.entitiesByName[$0]?.versionHash }
      entity.destinationEntityVersionHash = entity.destinationEntityName.flatMap {
        new.entitiesByName[$0]?.versionHash
      }
    }
    try ModelCompiler.data(of: mapping).write(to: folder.appendingPathComponent("B.cdm"))
    try open()
    #expect(try store.facts(version(Library.new())) == facts)
  }

  @Test("Without a mapping model for both versions the error is that of before")
  func missing() throws {
    let store = try store()
    try store.expectFailure(.inferredMapping, "pages") { _ = try Self.open(store.file, nil) }
    try store.expectFailure(.migrationLacksMappingModel, "migrationMappingModels") {
      _ = try Self.open(store.file, nil) { $0.shouldInferMappingModelAutomatically = false }
    }
    let other = Library.mapping()
    other.entityMappings[0].sourceEntityVersionHash = Data([1])
    try store.expectFailure(.inferredMapping, "pages") { _ = try Self.open(store.file, other) }
  }

  @Test("A policy that fails leaves the store as it is, without other files")
  func failure() throws {
    let store = try store(cover: 300_000)
    let before = try names(store)
    try store.expectFailure(.migrationPolicy, "end of the policy FailingPolicy") {
      _ = try Self.open(store.file, Library.mapping(FailingPolicy.self))
    }
    #expect(try names(store) == before)
    #expect(try store.facts(Library.old()).count == 5)
  }

  @Test("A process that is killed in a policy leaves the old store, and the next opening migrates it")
  func killed() async throws {
    for place in FailingPolicy.places {
      let store = try store(cover: 200_000)
      let before = try (store.contents(), store.facts(Library.old()))
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [path = store.file.path as String, place = place as String] in
        FailingPolicy.killed = place
        _ = try MappingOpeningTests.open(URL(fileURLWithPath: path), Library.mapping(FailingPolicy.self))
      }
      #expect(try store.contents() == before.0, "\(place)")
      // The copy of a store on a server is in the temporary folder.
      #expect(
        try names(store).contains { $0.hasSuffix(".migration") } == StoresUnderTest.areSQLite, "\(place)")
      try Self.open(store.file, Library.mapping()).close()
      #expect(try store.facts(Library.new()) == before.1, "\(place)")
      #expect(try !names(store).contains { $0.hasSuffix(".migration") }, "\(place)")
    }
  }

  @Test("What a killed migration left is removed when the store is opened with its own model")
  func leftovers() throws {
    let store = try store()
    let folder = store.file.deletingLastPathComponent().appendingPathComponent(
      ".\(store.file.lastPathComponent).migration")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data([1]).write(to: folder.appendingPathComponent("1.sqlite"))
    try store.opened(Library.old()).close()
    #expect(!FileManager.default.fileExists(atPath: folder.path))
  }

  @Test("A trigger of another program forbids a migration, because it would be lost", .onSQLite)
  func triggers() throws {
    let store = try store()
    _ = try store.sql("CREATE TRIGGER WATCH AFTER UPDATE ON ZBOOK BEGIN SELECT 1; END")
    try store.expectFailure(.store, "WATCH") { _ = try Self.open(store.file, Library.mapping()) }
    _ = try store.sql("DROP TRIGGER WATCH")
    try Self.open(store.file, Library.mapping()).close()
  }

  @Test("While policies run, no other container can open the store, and the copy alone changes", .onSQLite)
  func lock() throws {
    final class Probe: NSEntityMigrationPolicy {
      nonisolated(unsafe) static var file = URL(fileURLWithPath: "/")
      // Guard: this test sets it before its only migration.
      nonisolated(unsafe) static var refusals = 0
      // Guard: the thread of the migration.
      override func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        let description = NSPersistentStoreDescription(url: Self.file)
        description.timeout = 0.1
        NSPersistentStoreCoordinator(managedObjectModel: Library.old()).addPersistentStore(with: description)
        {
          if ($1 as? ManagedObjectError)?.message.contains("locked") == true { Self.refusals += 1 }
        }
      }
      override func value(ofFunction selector: String, arguments: [Any?]) throws -> Any? { nil }
    }
    for mode in ["WAL", "DELETE"] {
      let store = try store()
      _ = try store.sql("PRAGMA journal_mode = \(mode)")
      (Probe.file, Probe.refusals) = (store.file, 0)
      try Self.open(store.file, Library.mapping(Probe.self)).close()
      #expect(Probe.refusals == 1, "\(mode)")
    }
  }

  @Test("A store in use is not migrated, and several containers that open one at once have one migration")
  func concurrency() async throws {
    let store = try store()
    let facts = try store.facts(Library.old())
    let open = try store.opened(Library.old())
    try store.expectFailure(.store, "in use") {
      _ = try Self.open(store.file, Library.mapping()) { $0.timeout = 0.3 }
    }
    try open.close()
    try await withThrowingTaskGroup(of: [String].self) { group in
      for _ in 0..<4 {
        group.addTask {
          let container = try Self.open(store.file, Library.mapping())
          defer { try? container.close() }
          return try container.work { try Library.facts($0) }
        }
      }
      for try await found in group { #expect(found == facts) }
    }
  }

  @Test(
    "A process that dies at any step in the store's files leaves the old store or the new one", .onSQLite,
    arguments: ["WAL", "DELETE"])
  func death(_ mode: String) throws {
    let template = try OldStore(Library.old()) { try Library.fill($0, books: 2, cover: 0) }
    let facts = try template.facts(Library.old())
    func copy() throws -> OldStore {
      let file = Library.place()
      try NSPersistentStoreCoordinator(managedObjectModel: Library.old()).replacePersistentStore(
        at: file, withPersistentStoreFrom: template.file, ofType: NSSQLiteStoreType)
      if mode == "DELETE" { _ = try OldStore(at: file).sql("PRAGMA journal_mode = DELETE") }
      return OldStore(at: file)
    }
    let old = try copy().contents()
    func open(_ store: OldStore, _ faults: StoreFaults) throws {
      try Self.open(store.file, Library.mapping()) {
        $0.setOption(faults.vfs, forKey: CDESQLiteVFSOption)
        $0.setValue(mode, forPragmaNamed: "journal_mode")
        $0.timeout = 0.2
      }.close()
    }
    let counting = StoreFaults()
    let scratch = try copy()
    counting.begin()
    try open(scratch, counting)
    let steps = counting.end().filter { [.write, .sync, .delete, .truncate].contains($0.operation) }
    var states: Set<Bool> = []
    // Most steps are at the end, where the store is replaced. Those before are on other files.
    let last = Array(steps.suffix(23))
    for step in Array(steps.dropLast(23)).drawn(oneOf: 100) + last.drawn(oneOf: 4) {
      let faults = [StoreFault.crash, .ioError, .diskFull].filter { $0.concerns(step.operation) }
      for fault in DrawnSteps.takesAll ? faults : Array(faults.shuffled().prefix(1)) {
        let store = try copy()
        let faults = StoreFaults()
        faults.begin(.at(step.number, fault))
        _ = try? open(store, faults)
        faults.end()
        let isOld = try store.sql("SELECT COUNT(*) FROM sqlite_master WHERE name = 'ZGONE'") == [["1"]]
        if isOld { #expect(try store.contents() == old, "\(fault) at \(step)") }
        states.insert(isOld)
        #expect(try store.sql("PRAGMA integrity_check") == [["ok"]], "\(fault) at \(step)")
        try Self.open(store.file, Library.mapping()).close()
        #expect(try store.facts(Library.new()) == facts, "\(fault) at \(step)")
      }
    }
    #expect(states == [true, false])
  }
}
