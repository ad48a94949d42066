#if PostgreSQL
  import CDEManagedModel
  import CDEModelRuntime
  import CDEPostgreSQL
  @_spi(CDE) import CDESQLiteFaults
  import CDEStore
  import Foundation
  import Testing

  /// Stores that move between a file and a server.
  @Suite(.enabled(if: TestPlace.url != nil, "CDE_POSTGRESQL_URL names no server"), .ownThreads)
  struct MovingTests {
    private static func file() -> URL { ProcessFolder.newURL().appendingPathExtension("sqlite") }

    private func container(at file: URL) throws -> NSPersistentContainer {
      let container = NSPersistentContainer(name: "Test", managedObjectModel: TestPlace.model)
      container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: file)]
      var failure: (any Error)?
      container.loadPersistentStores { failure = $1 }
      if let failure { throw failure }
      return container
    }

    private func fill(_ context: NSManagedObjectContext) throws {
      let author = context.make("Author", ["name": "Ada"])
      for number in 1...3 {
        context.make(
          "Book",
          [
            "title": "book \(number)", "pages": number, "price": NSDecimalNumber(string: "\(number).5"),
            "author": author,
          ])
      }
      try context.save()
    }

    @Test func `A file moves to a server and back, and live objects and their IDs stay valid`() throws {
      let place = TestPlace()
      let container = try container(at: Self.file())
      let coordinator = container.persistentStoreCoordinator
      let context = container.newBackgroundContext()
      try context.performAndWait {
        try fill(context)
        let books = try context.all("Book")
        let changed = try #require(books.first { $0.value(forKey: "pages") as? Int == 2 })
        // A change that is not saved yet goes to the new store.
        changed.setValue("changed", forKey: "title")
        let old = coordinator.persistentStores[0]
        let moved = try coordinator.migratePersistentStore(
          old, to: TestPlace.url!, options: [CDEPostgreSQLSchemaOption: place.schema],
          withType: CDEPostgreSQLStoreType)
        #expect(coordinator.persistentStores.map(\.type) == [CDEPostgreSQLStoreType])
        #expect(moved.identifier == old.identifier)
        try context.save()
        context.refreshAllObjects()
        #expect(changed.value(forKey: "title") as? String == "changed")
        #expect(
          (changed.value(forKey: "author") as? NSManagedObject)?.value(forKey: "name") as? String == "Ada")
        let back = Self.file()
        try coordinator.migratePersistentStore(moved, to: back, options: [:], withType: NSSQLiteStoreType)
        context.refreshAllObjects()
        #expect(
          Set(try context.all("Book").map { $0.value(forKey: "title") as? String }) == [
            "book 1", "changed", "book 3",
          ])
        context.make("Book", ["title": "book 4"])
        try context.save()
      }
      // The server's store stays as it was.
      let other = try place.container(options: [NSReadOnlyPersistentStoreOption: true])
      let reading = other.newBackgroundContext()
      #expect(try reading.performAndWait { try reading.all("Book").count } == 3)
    }

    @Test func `A store in memory becomes one on a server`() throws {
      let place = TestPlace()
      let container = NSPersistentContainer(name: "Test", managedObjectModel: TestPlace.model)
      let description = NSPersistentStoreDescription()
      description.type = NSInMemoryStoreType
      container.persistentStoreDescriptions = [description]
      container.loadPersistentStores { #expect($1 == nil) }
      let context = container.newBackgroundContext()
      try context.performAndWait {
        try fill(context)
        let coordinator = container.persistentStoreCoordinator
        try coordinator.migratePersistentStore(
          coordinator.persistentStores[0], to: TestPlace.url!,
          options: [CDEPostgreSQLSchemaOption: place.schema], withType: CDEPostgreSQLStoreType)
      }
      let other = try place.container()
      let reading = other.newBackgroundContext()
      #expect(try reading.performAndWait { try reading.all("Book").count } == 3)
    }

    @Test func `A move that fails leaves the old store in its place, with its contexts`() throws {
      let place = TestPlace()
      let container = try container(at: Self.file())
      let coordinator = container.persistentStoreCoordinator
      let context = container.newBackgroundContext()
      func move(_ options: [AnyHashable: Any]) throws {
        try coordinator.migratePersistentStore(
          coordinator.persistentStores[0], to: TestPlace.url!, options: options,
          withType: CDEPostgreSQLStoreType)
      }
      try context.performAndWait {
        try fill(context)
        let zero = context.make("Book", ["title": "a\0b"])
        try context.save()
        let error = #expect(throws: ManagedObjectError.self) {
          try move([CDEPostgreSQLSchemaOption: place.schema])
        }
        #expect(error?.entity == "Book" && error?.property == "title")
        #expect((error?.cause as? StoreError)?.code == .invalidValue)
        #expect(throws: ManagedObjectError.self) { try move([CDEPostgreSQLSchemaOption: 7]) }
        #expect(throws: ManagedObjectError.self) {
          try coordinator.migratePersistentStore(
            coordinator.persistentStores[0], to: TestPlace.url!, withType: "None")
        }
        context.delete(zero)
        try context.save()
        #expect(try context.all("Book").count == 3)
        try move([CDEPostgreSQLSchemaOption: place.schema])
      }
      let taken = try self.container(at: Self.file())
      let error = #expect(throws: ManagedObjectError.self) {
        try taken.persistentStoreCoordinator.migratePersistentStore(
          taken.persistentStoreCoordinator.persistentStores[0], to: TestPlace.url!,
          options: [CDEPostgreSQLSchemaOption: place.schema], withType: CDEPostgreSQLStoreType)
      }
      #expect(error?.message.contains("has a store already") == true)
    }

    @Test func `Random objects of random models are the same on a server, and in a file again`() throws {
      let environment = ProcessInfo.processInfo.environment
      let seed = environment["CDE_SEED"].flatMap(UInt64.init) ?? UInt64.random(in: 0..<1_000_000)
      for round in 0..<6 {
        let seed = seed &+ UInt64(round)
        print("Moves between a file and a server, seed \(seed)")
        var random = MigrationRandom(seed: seed)
        let spec = MigrationSpec(&random)
        let place = TestPlace()
        let container = NSPersistentContainer(name: "Test", managedObjectModel: spec.model())
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: Self.file())]
        container.loadPersistentStores { #expect($1 == nil) }
        let coordinator = container.persistentStoreCoordinator
        func facts() throws -> [Int: [String: [String]]] {
          let context = container.newBackgroundContext()
          return try context.performAndWait { try MigrationAgreementTests.facts(spec, [], context) }
        }
        let context = container.newBackgroundContext()
        try context.performAndWait {
          try spec.fill(context)
          try context.save()
        }
        let expected = try facts()
        try coordinator.migratePersistentStore(
          coordinator.persistentStores[0], to: TestPlace.url!,
          options: [CDEPostgreSQLSchemaOption: place.schema], withType: CDEPostgreSQLStoreType)
        #expect(try facts() == expected, "seed \(seed)")
        try coordinator.migratePersistentStore(
          coordinator.persistentStores[0], to: Self.file(), options: [:], withType: NSSQLiteStoreType)
        #expect(try facts() == expected, "seed \(seed)")
      }
    }
  }
#endif
