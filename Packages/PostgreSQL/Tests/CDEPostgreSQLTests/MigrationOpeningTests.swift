#if PostgreSQL
  import CDEManagedModel
  import CDEModelFiles
  import CDEModelRuntime
  import CDEPostgreSQL
  import CDEStore
  import Foundation
  import Synchronization
  import Testing

  /// Containers whose store has another version of the model.
  @Suite(
    .enabled(if: TestPlace.url != nil, "CDE_POSTGRESQL_URL names no server"), .timeLimit(.minutes(5)),
    .ownThreads)
  struct MigrationOpeningTests {
    private let place = TestPlace()

    /// A model with one entity.
    private static func model(
      _ name: String, from former: String? = nil, unique: [[String]] = [],
      _ attributes: NSAttributeDescription...
    ) -> NSManagedObjectModel {
      let entity = NSEntityDescription()
      entity.name = name
      entity.renamingIdentifier = former
      entity.properties = attributes
      entity.uniquenessConstraints = unique
      let model = NSManagedObjectModel()
      model.entities = [entity]
      return model
    }

    private static func first() -> NSManagedObjectModel {
      model("Book", attribute("title", .stringAttributeType), attribute("pages", .integer32AttributeType))
    }

    private static func second() -> NSManagedObjectModel {
      let name = attribute("name", .stringAttributeType)
      name.renamingIdentifier = "title"
      return model(
        "Tome", from: "Book", name, attribute("pages", .integer64AttributeType),
        attribute("stars", .integer16AttributeType, optional: false, default: 3 as NSNumber))
    }

    @discardableResult
    private func open(
      _ model: NSManagedObjectModel, _ change: (NSPersistentStoreDescription) -> Void = { _ in }
    ) throws -> NSPersistentContainer {
      let container = NSPersistentContainer(name: "Test", managedObjectModel: model)
      let description = place.description()
      change(description)
      container.persistentStoreDescriptions = [description]
      var failure: (any Error)?
      container.loadPersistentStores { failure = $1 }
      if let failure { throw failure }
      return container
    }

    private func close(_ container: NSPersistentContainer) throws {
      for store in container.persistentStoreCoordinator.persistentStores {
        try container.persistentStoreCoordinator.remove(store)
      }
    }

    /// A store of the first version with two books, closed.
    private func fill(titles: [String] = ["Iris", "Rose"]) throws {
      let container = try open(Self.first())
      let context = container.newBackgroundContext()
      try context.performAndWait {
        for (number, title) in titles.enumerated() {
          context.make("Book", ["title": title, "pages": 10 * number])
        }
        try context.save()
      }
      try close(container)
    }

    private func expectFirstVersion(_ source: SourceLocation = #_sourceLocation) throws {
      let container = try open(Self.first()) { $0.shouldMigrateStoreAutomatically = false }
      let context = container.newBackgroundContext()
      let titles = try context.performAndWait {
        try context.all("Book").compactMap { $0.value(forKey: "title") as? String }
      }
      #expect(titles.sorted() == ["Iris", "Rose"], sourceLocation: source)
      try close(container)
    }

    private func refusal(
      _ model: NSManagedObjectModel, _ change: (NSPersistentStoreDescription) -> Void = { _ in }
    ) throws -> ManagedObjectError {
      let error = #expect(throws: ManagedObjectError.self) { try open(model, change) }
      return try #require(error)
    }

    // MARK: Inferred

    @Test func `A container migrates its store by itself, and reports how far it is`() throws {
      try fill()
      let progress = Mutex<Progress?>(nil)
      let container = try open(Self.second()) { description in
        progress.withLock { $0 = description.migrationProgress }
      }
      #expect(progress.withLock { $0?.isFinished } == true)
      let context = container.newBackgroundContext()
      try context.performAndWait {
        let tomes = try context.all("Tome")
        #expect(Set(tomes.map { $0.value(forKey: "name") as? String }) == ["Iris", "Rose"])
        #expect(tomes.allSatisfy { $0.value(forKey: "stars") as? Int == 3 })
        context.make("Tome", ["name": "Lily"])
        try context.save()
        #expect(try context.all("Tome").count == 3)
      }
    }

    @Test func `A plan tells the differences, and nothing is touched`() throws {
      try fill()
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.second())
      let plan = try coordinator.migrationPlan(for: place.description())
      #expect(plan.isNeeded && plan.modelSource == .store && plan.rows == ["Book": 2])
      #expect(plan.rewrittenTables == ["ZTOME"] && plan.obstacles.isEmpty)
      #expect(plan.description.contains("postgresql://") && plan.changes.count >= 3)
      try expectFirstVersion()
      let empty = TestPlace().description()
      #expect(try !coordinator.migrationPlan(for: empty).isNeeded)
    }

    @Test func `A description that forbids it, or is for reading only, refuses another version`() throws {
      try fill()
      let forbidden = try refusal(Self.second()) { $0.shouldMigrateStoreAutomatically = false }
      #expect((forbidden.cause as? StoreError)?.code == .incompatibleSchema)
      #expect(forbidden.message.contains("set shouldMigrateStoreAutomatically"))
      let reading = try refusal(Self.second()) { $0.isReadOnly = true }
      #expect(reading.message.contains("reading only is not migrated"))
      let guess = try refusal(Self.second()) { $0.shouldInferMappingModelAutomatically = false }
      #expect(guess.code == .migrationLacksMappingModel)
      try expectFirstVersion()
    }

    @Test func `A removed entity alone is another version, too`() throws {
      try fill()
      let model = Self.first()
      let card = NSEntityDescription()
      card.name = "Card"
      model.entities.append(card)
      try close(open(model))
      let error = try refusal(Self.first()) { $0.shouldMigrateStoreAutomatically = false }
      #expect((error.cause as? StoreError)?.code == .incompatibleSchema)
      try close(open(Self.first()))
      try expectFirstVersion()
    }

    @Test func `What can't be inferred, and rows in the way, are the errors that they are on SQLite`() throws
    {
      try fill()
      let changed = Self.model(
        "Book", attribute("title", .integer64AttributeType), attribute("pages", .integer32AttributeType))
      #expect(try refusal(changed).code == .inferredMapping)
      let required = Self.model(
        "Book", attribute("title", .stringAttributeType), attribute("pages", .integer32AttributeType),
        attribute("isbn", .stringAttributeType, optional: false))
      let missing = try refusal(required)
      #expect(missing.code == .migration && missing.property == "isbn")
      #expect((missing.cause as? StoreError)?.obstacles.map(\.count) == [2])
      try fill(titles: [])
      try expectFirstVersion()
    }

    @Test func `Values that are not unique refuse a new constraint`() throws {
      try fill(titles: ["Iris", "Iris"])
      let unique = Self.model(
        "Book", unique: [["title"]], attribute("title", .stringAttributeType),
        attribute("pages", .integer32AttributeType))
      #expect(try refusal(unique).code == .migrationConstraint)
    }

    @Test func `A migration that is cancelled by its progress leaves the old store`() throws {
      try fill()
      let error = try refusal(Self.second()) { $0.migrationProgress.cancel() }
      #expect(error.code == .migrationCancelled)
      try expectFirstVersion()
      try close(open(Self.second()))
    }

    @Test func `A store that another container has open is in use, and is migrated when that has closed it`()
      throws
    {
      try fill()
      let other = try open(Self.first())
      let error = try refusal(Self.second()) { $0.timeout = 0.3 }
      #expect((error.cause as? StoreError)?.code == .busy)
      try close(other)
      try close(open(Self.second()))
    }

    @Test func `Four containers that open at the same time all get the new version`() throws {
      try fill()
      let failures = Mutex<[String]>([])
      let identifiers = Mutex<Set<String>>([])
      let start = DispatchSemaphore(value: 0)
      let group = DispatchGroup()
      for _ in 0..<4 {
        group.enter()
        Thread.detachNewThread { [self] in
          start.wait()
          do {
            let container = try open(Self.second())
            let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
            _ = identifiers.withLock { $0.insert(store.identifier) }
            let context = container.newBackgroundContext()
            let count = try context.performAndWait { try context.all("Tome").count }
            if count != 2 { failures.withLock { $0.append("\(count) objects") } }
          } catch { failures.withLock { $0.append("\(error)") } }
          group.leave()
        }
      }
      for _ in 0..<4 { start.signal() }
      group.wait()
      #expect(failures.withLock { $0 } == [])
      #expect(identifiers.withLock { $0.count } == 1)
    }

    // MARK: Code

    private static func reference(_ model: NSManagedObjectModel) -> NSManagedObjectModelReference {
      NSManagedObjectModelReference(model: model, versionChecksum: model.versionChecksum)
    }

    /// Opens the store as the second version, with a stage whose code runs on the first version.
    @discardableResult
    private func openWithStage(
      _ change: (NSPersistentStoreDescription) -> Void = { _ in },
      _ body: @escaping (NSManagedObjectContext) throws -> Void
    ) throws -> NSPersistentContainer {
      let stage = NSCustomMigrationStage(
        migratingFrom: Self.reference(Self.first()), to: Self.reference(Self.second()))
      stage.willMigrateHandler = { manager, _ in
        let context = try #require(manager.container).newBackgroundContext()
        try context.performAndWait {
          try body(context)
          try context.save()
        }
      }
      return try open(Self.second()) {
        $0.setOption(
          NSStagedMigrationManager([stage]), forKey: NSPersistentStoreStagedMigrationManagerOptionKey)
        change($0)
      }
    }

    private static func countOfFolders() throws -> Int {
      try FileManager.default.contentsOfDirectory(atPath: FileManager.default.temporaryDirectory.path)
        .count { $0.hasSuffix(".migration") }
    }

    @Test func `Code of a stage changes the rows, which keep their keys, versions and UUID`() throws {
      try fill()
      let old = try open(Self.first()) {
        $0.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
      }
      let identifier = old.persistentStoreCoordinator.persistentStores[0].identifier
      let ids = try old.newBackgroundContext().performAndWait { () throws -> [String] in
        let context = old.newBackgroundContext()
        context.make("Book", ["title": "Aster", "pages": 5])
        try context.save()
        return try context.all("Book").map { $0.objectID.uriRepresentation().lastPathComponent }.sorted()
      }
      let token = old.persistentStoreCoordinator.currentPersistentHistoryToken(fromStores: nil)
      try close(old)
      let container = try openWithStage({
        $0.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
      }) { context in
        for book in try context.all("Book") {
          book.setValue("\(book.value(forKey: "title") ?? "")!", forKey: "title")
        }
        context.make("Book", ["title": "new"])
      }
      #expect(container.persistentStoreCoordinator.persistentStores[0].identifier == identifier)
      let context = container.newBackgroundContext()
      try context.performAndWait {
        let tomes = try context.all("Tome")
        let names = Set(tomes.compactMap { $0.value(forKey: "name") as? String })
        #expect(names == ["Iris!", "Rose!", "Aster!", "new"])
        let kept = tomes.filter { $0.value(forKey: "name") as? String != "new" }
        #expect(kept.map { $0.objectID.uriRepresentation().lastPathComponent }.sorted() == ids)
        #expect(tomes.allSatisfy { $0.value(forKey: "stars") as? Int == 3 })
        // The history begins anew, and its numbers go on: what follows is later than each old token.
        context.make("Tome", ["name": "Lily"])
        try context.save()
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
        request.resultType = .transactionsAndChanges
        let result = try context.execute(request) as? NSPersistentHistoryResult
        #expect((result?.result as? [NSPersistentHistoryTransaction])?.count == 1)
      }
      try close(container)
      try close(open(Self.second()) { $0.shouldMigrateStoreAutomatically = false })
    }

    @Test func `Code that fails, or whose connection is lost, leaves the old store`() throws {
      struct Failure: Error {}
      try fill()
      let folders = try Self.countOfFolders()
      #expect(throws: (any Error).self) { try openWithStage { _ in throw Failure() } }
      try expectFirstVersion()
      let name = "cde \(UUID().uuidString)"
      let error = #expect(throws: ManagedObjectError.self) {
        try openWithStage({ $0.setOption(name, forKey: CDEPostgreSQLApplicationNameOption) }) {
          [place] context in
          for book in try context.all("Book") { book.setValue("lost", forKey: "title") }
          try place.run(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = '\(name)'"
          )
        }
      }
      #expect((error?.cause as? StoreError)?.code == .io)
      try expectFirstVersion()
      #expect(try Self.countOfFolders() == folders)
      try close(openWithStage { _ in })
    }

    @Test
    func `While code runs no other container opens the store, and a trigger of others keeps it from running`()
      throws
    {
      try fill()
      var refusals: [StoreError.Code?] = []
      let container = try openWithStage { context in
        let error = try refusal(Self.first()) { $0.timeout = 0.2 }
        refusals.append((error.cause as? StoreError)?.code)
      }
      #expect(refusals == [.busy])
      try close(container)
      let other = MigrationOpeningTests()
      try other.fill()
      try other.place.run(
        "CREATE FUNCTION watch() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'; "
          + "CREATE TRIGGER watching AFTER UPDATE ON \"ZBOOK\" FOR EACH ROW EXECUTE FUNCTION watch()")
      let error = #expect(throws: ManagedObjectError.self) {
        try other.openWithStage { _ in Issue.record("The code ran.") }
      }
      #expect(error?.message.contains("watching") == true)
      try other.expectFirstVersion()
    }

    @Test func `A stage without code moves the rows on the server`() throws {
      try fill()
      let plain = NSStagedMigrationManager([
        NSLightweightMigrationStage([Self.first().versionChecksum, Self.second().versionChecksum])
      ])
      try close(
        open(Self.second()) { $0.setOption(plain, forKey: NSPersistentStoreStagedMigrationManagerOptionKey) })
    }

    @Test func `A step sees the rows of one configuration, although the server has all`() throws {
      func version(_ number: Int) -> NSManagedObjectModel {
        let model = Self.model("Note", attribute("title", .stringAttributeType))
        if number > 1 {
          model.entities[0].properties.append(attribute("length", .integer64AttributeType, optional: false))
        }
        let other = Self.model("Other", attribute("name", .stringAttributeType)).entities[0].copy()
        let note = model.entities[0].copy()
        let whole = NSManagedObjectModel()
        whole.entities = [note as! NSEntityDescription, other as! NSEntityDescription]
        whole.setEntities([whole.entities[0]], forConfigurationName: "Notes")
        return whole
      }
      let first = try open(version(1)) { $0.configuration = "Notes" }
      let writing = first.newBackgroundContext()
      try writing.performAndWait {
        writing.make("Note", ["title": "four"])
        try writing.save()
      }
      try close(first)
      let step = MigrationStep(from: version(1), to: version(2)) { old, new in
        for note in try old.snapshots(of: "Note") {
          try new.object(for: note)?.set("length", to: (note["title"] as String).count)
        }
      }
      let second = try open(version(2)) {
        $0.configuration = "Notes"
        $0.migrationSteps = [step]
      }
      let reading = second.newBackgroundContext()
      let lengths = try reading.performAndWait {
        try reading.all("Note").map { $0.value(forKey: "length") as? Int }
      }
      #expect(lengths == [4])
    }

    @Test func `Metadata are read without opening the store, and tell whether a model fits`() throws {
      func metadata() throws -> [String: Any] {
        try NSPersistentStoreCoordinator.metadataForPersistentStore(
          ofType: CDEPostgreSQLStoreType, at: TestPlace.url!,
          options: [CDEPostgreSQLSchemaOption: place.schema])
      }
      let missing = #expect(throws: ManagedObjectError.self) { try metadata() }
      #expect(missing?.message.contains("has no store") == true)
      try fill()
      let found = try metadata()
      #expect(Self.first().isConfiguration(withName: nil, compatibleWithStoreMetadata: found))
      #expect(!Self.second().isConfiguration(withName: nil, compatibleWithStoreMetadata: found))
      let container = try open(Self.first())
      let store = container.persistentStoreCoordinator.persistentStores[0]
      #expect(found[NSStoreUUIDKey] as? String == store.identifier)
      #expect(found[NSStoreTypeKey] as? String == CDEPostgreSQLStoreType)
    }
  }
#endif
