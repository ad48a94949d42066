import CDEPostgreSQL
import CDEPostgreSQLStore
import Foundation
import Testing

@Suite struct PostgreSQLBuildTests {
  @Test func `The engine is in the build exactly if the trait is on`() {
    #if PostgreSQL
      #expect(PostgreSQLEngine.isAvailable && CDEPostgreSQLStoreType == "PostgreSQL")
    #else
      #expect(!PostgreSQLEngine.isAvailable)
      print("The trait PostgreSQL is off: the tests of stores on a PostgreSQL server are not in this build.")
    #endif
  }
}

#if PostgreSQL
  import CDEManagedModel
  import CDEModelRuntime
  import CDEPredicates
  import CDEStore

  private typealias Place = TestPlace

  extension NSManagedObjectContext {
    fileprivate func titles(_ format: String, _ arguments: Any...) throws -> [String] {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
      request.predicate = NSPredicate(format: format, argumentArray: arguments)
      request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
      return try fetch(request).compactMap { $0.value(forKey: "title") as? String }
    }
  }

  @Suite(.enabled(if: Place.url != nil, "CDE_POSTGRESQL_URL names no server"), .ownThreads)
  struct PostgreSQLContainerTests {
    private let place = Place()

    private func filled() throws -> NSPersistentContainer {
      let container = try place.container()
      let context = container.newBackgroundContext()
      try context.performAndWait {
        let ada = context.make("Author", ["name": "Ada"])
        for (title, pages) in [("Ämter", 10), ("ämter", 20), ("Brücken", 30)] {
          context.make(
            "Book",
            [
              "title": title, "pages": pages, "author": ada, "price": Decimal(pages) / 8 as NSDecimalNumber,
              "printed": Date(timeIntervalSinceReferenceDate: Double(pages) + 0.25),
            ])
        }
        try context.save()
      }
      return container
    }

    @Test func `Objects are saved, and another container finds them by conditions and orders`() throws {
      _ = try filled()
      let context = try place.container().newBackgroundContext()
      try context.performAndWait {
        #expect(try context.titles("pages > 10") == ["Brücken", "ämter"])
        #expect(try context.titles("title ==[cd] %@", "AMTER") == ["Ämter", "ämter"])
        #expect(try context.titles("author.name == 'Ada' AND title LIKE[c] %@", "b*n") == ["Brücken"])
        #expect(try context.titles("price == %@ OR pages == 10", Decimal(3.75)) == ["Brücken", "Ämter"])
        let authors = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Author"))
        #expect((authors.first?.value(forKey: "books") as? Set<NSManagedObject>)?.count == 3)
      }
    }

    @Test func `A change of one container is a conflict for another, and merges by policy`() throws {
      let first = try filled().newBackgroundContext()
      let second = try place.container().newBackgroundContext()
      func bridges(_ context: NSManagedObjectContext) throws -> NSManagedObject {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        request.predicate = NSPredicate(format: "title == 'Brücken'")
        let found = try #require(try context.fetch(request).first)
        #expect(found.value(forKey: "pages") as? Int == 30)
        return found
      }
      let mine = try first.performAndWait { try bridges(first) }
      try second.performAndWait {
        try bridges(second).setValue(31, forKey: "pages")
        try second.save()
      }
      try first.performAndWait {
        mine.setValue(32, forKey: "pages")
        #expect(throws: ManagedObjectError.self) { try first.save() }
        first.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try first.save()
      }
      try second.performAndWait {
        second.refreshAllObjects()
        let titles = try second.titles("pages == 32")
        #expect(titles == ["Brücken"])
      }
    }

    @Test func `Batches change and delete rows in the server`() throws {
      let context = try filled().newBackgroundContext()
      try context.performAndWait {
        let update = NSBatchUpdateRequest(entityName: "Book")
        update.predicate = NSPredicate(format: "title CONTAINS[c] 'ä'")
        update.propertiesToUpdate = ["pages": TreeExpression(format: "pages + 100")]
        update.resultType = .updatedObjectsCountResultType
        let result = try context.execute(update) as? NSBatchUpdateResult
        #expect(result?.result as? Int == 2)
        #expect(try context.titles("pages > 100") == ["Ämter", "ämter"])
        let books = NSFetchRequest<NSFetchRequestResult>(entityName: "Book")
        books.predicate = NSPredicate(format: "pages > 100")
        _ = try context.execute(NSBatchDeleteRequest(fetchRequest: books))
        #expect(try context.titles("TRUEPREDICATE") == ["Brücken"])
      }
    }

    @Test(.timeLimit(.minutes(2)))
    func `A commit of another container arrives as a remote change, and merges`() async throws {
      let writer = try filled().newBackgroundContext()
      let reader = try place.container(options: [
        NSPersistentStoreRemoteChangeNotificationPostOptionKey: true as NSNumber
      ])
      let (arrivals, arrival) = AsyncStream.makeStream(of: Void.self)
      let observer = NotificationCenter.default.addObserver(
        forName: .NSPersistentStoreRemoteChange, object: reader.persistentStoreCoordinator, queue: nil
      ) { _ in arrival.yield() }
      defer { NotificationCenter.default.removeObserver(observer) }
      let context = reader.newBackgroundContext()
      context.automaticallyMergesChangesFromParent = true
      let book = try context.performAndWait {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        request.predicate = NSPredicate(format: "pages == 30")
        let book = try #require(try context.fetch(request).first)
        #expect(book.value(forKey: "title") as? String == "Brücken")
        return book
      }
      try writer.performAndWait {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        request.predicate = NSPredicate(format: "pages == 30")
        try #require(try writer.fetch(request).first).setValue("Stege", forKey: "title")
        try writer.save()
      }
      for await _ in arrivals { break }
      context.performAndWait { #expect(book.value(forKey: "title") as? String == "Stege") }
    }

    @Test func `Options of a wrong type are refused by name, and no error contains the password`() throws {
      for (key, value) in [
        (CDEPostgreSQLSchemaOption, 3 as Any), (CDEPostgreSQLPoolSizeOption, 0),
        (CDEPostgreSQLTLSModeOption, "maybe"), (CDEPostgreSQLStatementTimeoutOption, "soon"),
        (CDEPostgreSQLPasswordOption, "secret"),
      ] {
        let error = #expect(throws: ManagedObjectError.self) { try place.container(options: [key: value]) }
        #expect(error?.message.contains(key) == true && error?.message.contains("secret") == false)
      }
      #expect(throws: ManagedObjectError.self) { try place.container(nil) }
      let secret = try #require(
        URL(string: Place.url!.absoluteString.replacingOccurrences(of: "@", with: ":tops3cret@")))
      let coordinator = try place.container(secret).persistentStoreCoordinator
      let store = try #require(coordinator.persistentStore(for: secret))
      #expect(store.url == Place.url && !"\(store) \(store.options ?? [:])".contains("tops3cret"))
      let away = URL(string: "postgresql://app:tops3cret@127.0.0.1:1/none?sslmode=disable")
      let error = #expect(throws: ManagedObjectError.self) { try place.container(away) }
      #expect(error.map { !"\($0)".contains("tops3cret") && !$0.message.contains("tops3cret") } == true)
    }
  }
#endif
