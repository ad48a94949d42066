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
  @Suite(.enabled(if: TestPlace.url != nil, "CDE_POSTGRESQL_URL names no server"), .timeLimit(.minutes(5)))
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

    @Test func `Stages with code are refused with a remedy, and stages without code are not`() throws {
      try fill()
      let (old, new) = (Self.first(), Self.second())
      func reference(_ model: NSManagedObjectModel) -> NSManagedObjectModelReference {
        NSManagedObjectModelReference(model: model, versionChecksum: model.versionChecksum)
      }
      let stage = NSCustomMigrationStage(migratingFrom: reference(old), to: reference(new))
      let custom = NSStagedMigrationManager([stage])
      let error = try refusal(Self.second()) {
        $0.setOption(custom, forKey: NSPersistentStoreStagedMigrationManagerOptionKey)
      }
      #expect(error.code == .unsupportedRequest && error.message.contains("Add a version of the model"))
      try expectFirstVersion()
      let plain = NSStagedMigrationManager([
        NSLightweightMigrationStage([old.versionChecksum, new.versionChecksum])
      ])
      try close(
        open(Self.second()) { $0.setOption(plain, forKey: NSPersistentStoreStagedMigrationManagerOptionKey) })
    }

    @Test func `A mapping model, which needs a copy of the store, is refused with a remedy`() throws {
      try fill()
      let changed = Self.model(
        "Book", attribute("title", .integer64AttributeType), attribute("pages", .integer32AttributeType))
      let mapping = NSMappingModel()
      let part = NSEntityMapping()
      part.name = "Book"
      part.mappingType = .customEntityMappingType
      part.sourceEntityName = "Book"
      part.destinationEntityName = "Book"
      part.sourceEntityVersionHash = Self.first().entityVersionHashesByName["Book"]
      part.destinationEntityVersionHash = changed.entityVersionHashesByName["Book"]
      mapping.entityMappings = [part]
      let error = try refusal(changed) { $0.migrationMappingModels = [mapping] }
      #expect(error.code == .unsupportedRequest)
      try expectFirstVersion()
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
