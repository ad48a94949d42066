import CDEManagedModel
@_spi(CDE) import CDEModelFiles
@_spi(CDE) import CDEModelRuntime
@_spi(CDE) import CDESQLiteFaults
import CDEStore
import Foundation
import Testing

@Suite("Migration of stores")
struct StoreMigrationTests {
  fileprivate func note(_ version: Int) -> NSManagedObjectModel {
    let note = entity("Note", nil, [attribute("title", .stringAttributeType)])
    let tag = entity("Tag", nil, [attribute("name", .stringAttributeType)])
    connect(.many(note, "tags"), .many(tag, "notes"))
    if version > 1 { note.properties.append(attribute("stars", .integer16AttributeType, default: version)) }
    return model(note, tag)
  }

  fileprivate func store(_ count: Int = 3) throws -> OldStore {
    try OldStore(note(1)) { context in
      for index in 0..<count {
        let tag = context.make("Tag", ["name": "t\(index)"])
        context.make("Note", ["title": "n\(index)", "tags": NSSet(object: tag)])
      }
    }
  }

  @Test("A new store keeps a copy of its model, in the form of Core Data", .onSQLite)
  func modelCache() throws {
    let store = try store()
    #expect(
      try store.sql("SELECT sql FROM sqlite_master WHERE name = 'Z_MODELCACHE'")
        == [["CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)"]])
    #expect(try store.sql("SELECT COUNT(*), typeof(Z_CONTENT) FROM Z_MODELCACHE") == [["1", "blob"]])
    #expect(try store.plan(note(2)).modelSource == .store)
    try store.opened(note(2)).close()
    // The copy is that of the new model now.
    #expect(try store.plan(note(3)).changes.isEmpty)
    #expect(try store.plan(note(1)).changes.map { "\($0)" } == ["Note.stars: is removed with its values"])
  }

  @Test("Metadata are those of the new model, and the application's own stay")
  func metadata() throws {
    let store = try store()
    let first = try store.opened(note(1))
    let coordinator = first.persistentStoreCoordinator
    let identifier = coordinator.persistentStores[0].identifier
    coordinator.setMetadata(["lastSync": "today"], for: coordinator.persistentStores[0])
    try first.close()
    let second = try store.opened(note(2))
    #expect(second.persistentStoreCoordinator.persistentStores[0].identifier == identifier)
    try second.close()
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      ofType: NSSQLiteStoreType, at: store.file)
    #expect(metadata["lastSync"] as? String == "today")
    #expect(note(2).isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    #expect(metadata["NSStoreModelVersionChecksumKey"] as? String == note(2).versionChecksum)
  }

  @Test("A coordinator migrates only if both options say so; a description does by default")
  func options() throws {
    let store = try store()
    func open(_ options: [AnyHashable: Any]?) throws {
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: note(2))
      let store = try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: store.file, options: options)
      try coordinator.remove(store)
    }
    func code(_ options: [AnyHashable: Any]?) -> Int? {
      do { try open(options) } catch { return (error as NSError).code }
      return nil
    }
    let before = try store.contents()
    #expect(code(nil) == NSPersistentStoreIncompatibleVersionHashError)
    #expect(code([NSInferMappingModelAutomaticallyOption: true]) == 134100)
    #expect(code([NSMigratePersistentStoresAutomaticallyOption: true]) == NSMigrationMissingMappingModelError)
    #expect(try store.contents() == before)
    let both = [
      NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
    ]
    #expect(code([NSReadOnlyPersistentStoreOption: true].merging(both) { $1 }) == 134100)
    #expect(try store.contents() == before)
    #expect(code(both) == nil)
  }

  @Test(
    "A container of this process with the old model does not stop a migration, and is told of it", .onSQLite)
  func olderContainer() throws {
    let store = try store()
    let older = try store.opened(note(1))
    let context = older.newBackgroundContext()
    #expect(
      try context.performAndWait {
        try context.all("Note").forEach { $0.setValue("unsaved", forKey: "title") }
        return context.updatedObjects.count
      } == 3)
    let newer = try store.opened(note(2))
    let reader = newer.newBackgroundContext()
    #expect(try reader.performAndWait { try reader.all("Note").count } == 3)
    for use in [{ _ = try context.all("Note") }, { try context.save() }] as [() throws -> Void] {
      let error = #expect(throws: ManagedObjectError.self) { try context.performAndWait(use) }
      #expect((error?.cause as? StoreError)?.code == .closed)
    }
    #expect(context.performAndWait { context.updatedObjects.count } == 3)
    try newer.close()
  }

  @Test("The old model comes from the description if the store has no copy of it")
  func givenModel() throws {
    let store = try store()
    _ = try store.sql(StoresUnderTest.areSQLite ? "DROP TABLE Z_MODELCACHE" : "DELETE FROM Z_MODELCACHE")
    try store.expectRefusal(note(2), .migrationLacksSourceModel, 134130, "migrationSourceModels")
    let container = NSPersistentContainer(name: "Test", managedObjectModel: note(2))
    let description = NSPersistentStoreDescription(url: store.file)
    description.migrationSourceModels = [note(3), note(1)]
    #expect(
      try container.persistentStoreCoordinator.migrationPlan(for: description).modelSource == .description)
    container.persistentStoreDescriptions = [description]
    var failure: (any Error)?
    container.loadPersistentStores { failure = $1 }
    #expect(failure == nil)
    try container.close()
    #expect(try store.sql("SELECT COUNT(*) FROM Z_MODELCACHE") == [["1"]])
  }

  @Test("The old model is found among the versions of a compiled model")
  func versions() throws {
    let folder = ProcessFolder.newURL("models")
    let versions = folder.appendingPathComponent("Notes.momd")
    try FileManager.default.createDirectory(at: versions, withIntermediateDirectories: true)
    for version in 1...3 {
      try ModelCompiler.data(of: note(version)).write(
        to: versions.appendingPathComponent("Notes \(version).mom"))
    }
    let found = ModelVersions.model(withHashes: note(1).entityVersionHashesByName, in: [folder])
    #expect(found?.entitiesByName["Note"]?.attributesByName["stars"] == nil)
    let second = ModelVersions.model(withHashes: note(2).entityVersionHashesByName, in: [folder])
    #expect(second?.entitiesByName["Note"]?.attributesByName["stars"] != nil)
    #expect(ModelVersions.model(withHashes: ["Other": Data([1])], in: [folder]) == nil)
    let inferred = try NSMappingModel.inferredMappingModel(
      forSourceModel: try #require(found), destinationModel: note(2))
    let mapping = try #require(inferred.entityMappingsByName["NoteToNote"])
    #expect(mapping.mappingType == .transformEntityMappingType)
    #expect(mapping.attributeMappings?.map { $0.name ?? "" } == ["stars", "title"])
    #expect(mapping.attributeMappings?.map { $0.valueExpression != nil } == [false, true])
    #expect(inferred.entityMappingsByName["TagToTag"]?.mappingType == .copyEntityMappingType)
    #expect(throws: Never.self) { try ModelCompiler.data(of: inferred) }
  }

  @Test("A store that another container uses is not migrated, and the error says so")
  func storeInUse() throws {
    let store = try store()
    let open = try store.opened(note(1))
    let container = NSPersistentContainer(name: "Test", managedObjectModel: note(2))
    let description = NSPersistentStoreDescription(url: store.file)
    description.timeout = 0.3
    container.persistentStoreDescriptions = [description]
    func load() -> ManagedObjectError? {
      var failure: (any Error)?
      container.loadPersistentStores { failure = $1 }
      return failure as? ManagedObjectError
    }
    let error = try #require(load())
    #expect(error.message.contains("in use"))
    #expect(error.errorCode == NSPersistentStoreTimeoutError)
    #expect(try open.work { try $0.all("Note").count } == 3)
    try open.close()
    #expect(load() == nil)
    try container.close()
  }

  /// In a process of its own: the handler of notes is the process's.
  @Test("A migration that waits for another container tells it once, and goes on when that is closed")
  func longWait() async {
    await #expect(processExitsWith: .success) {
      let store = try StoreMigrationTests().store()
      let user = Unchecked(try store.opened(StoreMigrationTests().note(1)))
      let notes = Unchecked(NSMutableArray())
      Diagnostics.handler = { note in
        notes.value.add(note)
        try? user.value.close()
      }
      try store.opened(StoreMigrationTests().note(2)).close()
      let told = notes.value.compactMap { $0 as? String }
      exit(told.count == 1 && told[0].contains("has to be migrated") ? 0 : 1)
    }
  }

  @Test("Several containers that open a store at once have one migration, and all are open")
  func race() async throws {
    let store = try store(200)
    let model = note(2)
    try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<4 {
        group.addTask {
          let container = try store.opened(model)
          defer { try? container.close() }
          return try container.work { try $0.all("Note", NSPredicate(format: "stars == 2")).count }
        }
      }
      for try await count in group { #expect(count == 200) }
    }
    #expect(try store.sql("PRAGMA integrity_check") == [["ok"]])
  }

  @Test(
    "A process that dies at any step of a migration leaves the old store or the new one", .onSQLite,
    arguments: ["WAL", "DELETE"])
  func death(_ mode: String) throws {
    let template = try store()
    let old = try template.contents()
    let done = try copy(template)
    try done.opened(note(2)).close()
    let new = try done.contents()

    func open(_ store: OldStore, _ faults: StoreFaults) throws {
      try store.open(note(2), with: faults, journal: mode)
    }

    let counting = StoreFaults()
    let scratch = try copy(template)
    if mode == "DELETE" { _ = try scratch.sql("PRAGMA journal_mode = DELETE") }
    counting.begin()
    try open(scratch, counting)
    let steps = counting.end().filter { [.write, .sync, .delete].contains($0.operation) }.drawn(oneOf: 6)
    var states: Set<Bool> = []
    for step in steps {
      for fault in [StoreFault.crash, .ioError, .diskFull] where fault.concerns(step.operation) {
        let store = try copy(template)
        if mode == "DELETE" { _ = try store.sql("PRAGMA journal_mode = DELETE") }
        let faults = StoreFaults()
        faults.begin(.at(step.number, fault))
        _ = try? open(store, faults)
        faults.end()
        let isOld = try store.contents() == old
        if !isOld { #expect(try store.contents() == new, "\(fault) at \(step)") }
        states.insert(isOld)
        #expect(try store.sql("PRAGMA integrity_check") == [["ok"]], "\(fault) at \(step)")
        try store.opened(note(2)).close()
        #expect(try store.contents() == new, "\(fault) at \(step)")
      }
    }
    #expect(states == [true, false])
  }

  private func copy(_ store: OldStore) throws -> OldStore {
    let file = ProcessFolder.newURL().appendingPathExtension("sqlite")
    try NSPersistentStoreCoordinator(managedObjectModel: note(1)).replacePersistentStore(
      at: file, withPersistentStoreFrom: store.file, ofType: NSSQLiteStoreType)
    return OldStore(at: file)
  }

  @Test("Triggers and tables of other programs: the first forbid a migration, the second stay", .onSQLite)
  func otherPrograms() throws {
    let store = try store()
    _ = try store.sql("CREATE TABLE LOGBOOK (LINE VARCHAR)")
    _ = try store.sql("INSERT INTO LOGBOOK VALUES ('one')")
    _ = try store.sql(
      "CREATE TRIGGER WATCH AFTER UPDATE ON ZNOTE BEGIN INSERT INTO LOGBOOK VALUES ('two'); END")
    try store.expectRefusal(
      note(2), .store, 642, "The table ZNOTE has a trigger WATCH that is not Core Data's")
    _ = try store.sql("DROP TRIGGER WATCH")
    try store.opened(note(2)).close()
    #expect(try store.sql("SELECT LINE FROM LOGBOOK") == [["one"]])
  }

  @Test("The changes of a history name entities and properties by the numbers of the new model", .onSQLite)
  func history() throws {
    let store = try store()
    _ = try store.sql(
      """
      CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER,
      ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB)
      """)
    // Titles of a note, a removed tag, and bits that the old model does not explain.
    for (key, number, bits) in [(1, 1, "80"), (2, 2, "40"), (3, 1, "8000")] {
      _ = try store.sql("INSERT INTO ACHANGE VALUES (\(key), 16001, NULL, 1, \(number), 3, 1, X'\(bits)')")
    }
    _ = try store.sql("INSERT INTO Z_PRIMARYKEY VALUES (16001, 'CHANGE', 0, 2)")
    let note = entity(
      "Note", nil, ["added", "also", "title"].map { attribute($0, .stringAttributeType) })
    try store.opened(model(entity("Album", nil, [attribute("name", .stringAttributeType)]), note)).close()
    #expect(
      try store.sql("SELECT ZENTITY, ZENTITYPK, hex(ZCOLUMNS) FROM ACHANGE ORDER BY Z_PK")
        == [["2", "3", "20"], ["0", "3", ""], ["2", "3", "E0"]])
    #expect(
      try store.sql("SELECT Z_ENT, Z_NAME FROM Z_PRIMARYKEY ORDER BY 1")
        == [["1", "Album"], ["2", "Note"], ["16001", "CHANGE"]])
  }

  @Test("A store that does not exist needs no migration")
  func missingStore() throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: note(1))
    let description = NSPersistentStoreDescription(url: ProcessFolder.newURL())
    #expect(try coordinator.migrationPlan(for: description).isNeeded == false)
    #expect(try coordinator.migrationPlan(for: description, to: note(2)).changes.isEmpty)
  }

  @Test("A store of one configuration is migrated with the entities of that configuration")
  func configuration() throws {
    func model(_ version: Int) -> NSManagedObjectModel {
      let result = note(version)
      let other = entity("Other", nil, [attribute("name", .stringAttributeType)])
      result.entities.append(other)
      result.setEntities(result.entities.filter { $0 !== other }, forConfigurationName: "Notes")
      return result
    }
    let file = ProcessFolder.newURL().appendingPathExtension("sqlite")
    func count(_ version: Int, _ fill: (NSManagedObjectContext) throws -> Void) throws -> Int {
      let container = NSPersistentContainer(name: "Test", managedObjectModel: model(version))
      let description = NSPersistentStoreDescription(url: file)
      description.configuration = "Notes"
      container.persistentStoreDescriptions = [description]
      var failure: (any Error)?
      container.loadPersistentStores { failure = $1 }
      if let failure { throw failure }
      defer { try? container.close() }
      return try container.work { context in
        try fill(context)
        try context.save()
        return try context.all("Note").count
      }
    }
    #expect(try count(1) { $0.make("Note") } == 1)
    #expect(try count(2) { $0.make("Note", ["stars": 2]) } == 2)
    let store = OldStore(at: file)
    // An engine may have the tables of all entities.
    let names = try store.sql("SELECT Z_NAME FROM Z_PRIMARYKEY ORDER BY Z_ENT").map { $0[0] }
    #expect(names == (StoresUnderTest.areSQLite ? ["Note", "Tag"] : ["Note", "Other", "Tag"]))
  }

  @Test("A hundred thousand objects are migrated")
  func large() throws {
    let store = try store(1)
    _ = try store.sql(
      """
      WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
      INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTITLE) SELECT i, 1, 1, 'n' || i FROM n
      """)
    _ = try store.sql("UPDATE Z_PRIMARYKEY SET Z_MAX = 100000 WHERE Z_NAME = 'Note'")
    #expect(try store.plan(note(2)).rows["Note"] == 100_000)
    try store.opened(note(2)).close()
    #expect(
      try store.sql(
        "SELECT COUNT(*), SUM(ZSTARS), MAX(Z_PK) FROM ZNOTE WHERE Z_PK = 1 OR ZTITLE = 'n' || Z_PK")
        == [["100000", "200000", "100000"]])
  }
}
