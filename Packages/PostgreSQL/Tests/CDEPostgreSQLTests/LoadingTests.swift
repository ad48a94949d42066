#if PostgreSQL
  import CDEManagedModel
  import CDEModelRuntime
  import CDEPostgreSQL
  import CDEPostgreSQLStore
  import Foundation
  import Synchronization
  import Testing

  @Suite(
    .enabled(if: TestPlace.url != nil, "CDE_POSTGRESQL_URL names no server"), .timeLimit(.minutes(5)),
    .ownThreads)
  struct LoadingTests {
    private let place = TestPlace()

    private func saved(_ container: NSPersistentContainer, _ titles: String...) throws -> [NSManagedObjectID]
    {
      let context = container.newBackgroundContext()
      return try context.performAndWait {
        let books = titles.map { title in
          let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
          book.setValue(title, forKey: "title")
          return book
        }
        try context.save()
        return books.map(\.objectID)
      }
    }

    @Test func `A fault is loaded without waiting on the context, also on the main actor`() async throws {
      let container = try place.container()
      let ids = try saved(container, "Iris")
      try await Task { @MainActor in
        let book = container.viewContext.object(with: ids[0])
        #expect(book.isFault)
        try await book.load()
        #expect(!book.isFault)
        #expect(book.value(forKey: "title") as? String == "Iris")
        try await book.load()
      }.value
      let context = container.newBackgroundContext()
      await context.perform {}
      let book = context.performAndWait { context.object(with: ids[0]) }
      try await book.load()
      context.performAndWait { #expect(book.value(forKey: "title") as? String == "Iris") }
    }

    @Test func `An object whose row is gone is an error of the load, and no default`() async throws {
      let container = try place.container()
      let ids = try saved(container, "Iris")
      let context = container.newBackgroundContext()
      let book = context.performAndWait { context.object(with: ids[0]) }
      let other = container.newBackgroundContext()
      try other.performAndWait {
        other.delete(other.object(with: ids[0]))
        try other.save()
      }
      await #expect { try await book.load() } throws: { ($0 as? ManagedObjectError)?.code == .objectNotFound }
    }

    @Test func `A load that the server does not answer is an error, and a later one succeeds`() async throws {
      let container = try place.container()
      let ids = try saved(container, "Iris")
      let context = container.newBackgroundContext()
      let book = context.performAndWait { context.object(with: ids[0]) }
      try place.run("ALTER TABLE \"ZBOOK\" RENAME TO \"AWAY\"")
      await #expect { try await book.load() } throws: { ($0 as? ManagedObjectError)?.code == .store }
      context.performAndWait { #expect(book.isFault && !book.hasChanges) }
      try place.run("ALTER TABLE \"AWAY\" RENAME TO \"ZBOOK\"")
      try await book.load()
      context.performAndWait { #expect(book.value(forKey: "title") as? String == "Iris") }
      try context.performAndWait {
        book.setValue("Rose", forKey: "title")
        try context.save()
      }
    }

    private final class Counter: Sendable {
      private let value = Atomic<Int>(0)
      var count: Int { value.load(ordering: .relaxed) }
      func add() { value.add(1, ordering: .relaxed) }
    }

    @Test func `Slow reads of more contexts than the machine has processors let other tasks continue`()
      async throws
    {
      let container = try place.container()
      let ids = try saved(container, "Iris")
      let crowd = ProcessInfo.processInfo.activeProcessorCount + 2
      // A lock on the table holds all reads up, as a slow query would.
      let lock = try place.lock("ZBOOK")
      let read = Counter()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<crowd {
          group.addTask {
            let context = container.newBackgroundContext()
            let found = try await context.perform {
              try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Book"))
            }
            #expect(found == 1)
            read.add()
          }
        }
        group.addTask {
          try await lock.waiters(crowd)
          for _ in 0..<100 { await Task.yield() }
          #expect(read.count == 0)
          try lock.release()
        }
        try await group.waitForAll()
      }
      #expect(read.count == crowd)
      _ = ids
    }
  }
#endif
