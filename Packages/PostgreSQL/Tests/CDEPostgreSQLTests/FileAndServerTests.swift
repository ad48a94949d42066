#if PostgreSQL
  import CDEManagedModel
  import CDEModelRuntime
  import CDEPostgreSQL
  @_spi(CDE) import CDESQLiteFaults
  import CDEStore
  import Foundation
  import Testing

  /// Saves over a store in a file and a store on a server.
  @Suite(
    .enabled(if: TestPlace.url != nil, "CDE_POSTGRESQL_URL names no server"), .timeLimit(.minutes(5)),
    .ownThreads)
  struct FileAndServerTests {
    /// A file and a schema of the server, opened together by one coordinator.
    private struct Pair {
      let place: TestPlace
      let file: URL
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestPlace.model)
      var stores: [NSPersistentStore] { coordinator.persistentStores }
      var server: NSPersistentStore { stores[0] }
      var local: NSPersistentStore { stores[1] }

      /// - Parameter vfs: the file system of the file; nil for that of SQLite.
      init(
        _ place: TestPlace = TestPlace(),
        _ file: URL = ProcessFolder.newURL().appendingPathExtension("sqlite"), vfs: String? = nil
      ) throws {
        (self.place, self.file) = (place, file)
        let local = NSPersistentStoreDescription(url: file)
        if let vfs { local.setOption(vfs, forKey: CDESQLiteVFSOption) }
        var failure: (any Error)?
        for description in [place.description(), local] {
          coordinator.addPersistentStore(with: description) { failure = failure ?? $1 }
        }
        if let failure { throw failure }
      }

      /// Stores whose first commit is that of the server, or that of the file.
      static func committing(serverFirst: Bool, vfs: String? = nil) throws -> Pair {
        while true {
          let pair = try Pair(vfs: vfs)
          if (pair.server.identifier < pair.local.identifier) == serverFirst { return pair }
          try pair.close()
        }
      }

      func context() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
      }

      func add(_ pages: Int, _ context: NSManagedObjectContext) {
        for store in stores { context.assign(context.make("Book", ["pages": pages]), to: store) }
      }

      /// The pages of the books in a store.
      func pages(in store: NSPersistentStore) throws -> [Int] {
        let context = context()
        return try context.performAndWait {
          let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
          request.affectedStores = [store]
          return try context.fetch(request).compactMap { $0.value(forKey: "pages") as? Int }.sorted()
        }
      }

      func close() throws { for store in stores { try coordinator.remove(store) } }

      func reopened() throws -> Pair { try Pair(place, file) }
    }

    @Test(arguments: [true, false])
    func `Both get their part, and a conflict in one leaves both as they were`(serverFirst: Bool) throws {
      let pair = try Pair.committing(serverFirst: serverFirst)
      let context = pair.context()
      try context.performAndWait {
        pair.add(1, context)
        try context.save()
        let books = try context.all("Book")
        #expect(Set(books.map { $0.objectID.persistentStore }) == Set(pair.stores))
        for book in books { book.setValue(2, forKey: "pages") }
        let other = try pair.reopened()
        let otherContext = other.context()
        try otherContext.performAndWait {
          let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
          request.affectedStores = [serverFirst ? other.local : other.server]
          try otherContext.fetch(request)[0].setValue(7, forKey: "pages")
          try otherContext.save()
        }
        try other.close()
        #expect(throws: (any Error).self) { try context.save() }
        #expect(try pair.pages(in: pair.server) == [serverFirst ? 1 : 7])
        #expect(try pair.pages(in: pair.local) == [serverFirst ? 7 : 1])
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try context.save()
      }
      #expect(try pair.pages(in: pair.server) == [2] && pair.pages(in: pair.local) == [2])
      let left = try pair.place.count(of: "Z_PENDINGSAVE")
      #expect(left == 0)
    }

    @Test func `A commit that the server refuses is completed when both stores are opened next`() throws {
      let pair = try Pair.committing(serverFirst: false)
      try pair.place.run(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''refused''; END'; "
          + "CREATE CONSTRAINT TRIGGER refusing AFTER INSERT ON \"ZBOOK\" DEFERRABLE INITIALLY DEFERRED "
          + "FOR EACH ROW EXECUTE FUNCTION refuse()")
      let context = pair.context()
      context.performAndWait {
        pair.add(1, context)
        let error = #expect(throws: ManagedObjectError.self) { try context.save() }
        #expect(error?.code == .incompleteSave && error?.affectedStores == [pair.server])
        #expect(context.insertedObjects.count == 1)
      }
      #expect(try pair.pages(in: pair.local) == [1] && pair.pages(in: pair.server) == [])
      try pair.close()
      try pair.place.run("DROP TRIGGER refusing ON \"ZBOOK\"")
      let both = try pair.reopened()
      #expect(try both.pages(in: both.local) == [1] && both.pages(in: both.server) == [1])
      #expect(try pair.place.count(of: "Z_PENDINGSAVE") == 0)
      // The key of the completed row is not given again.
      let later = both.context()
      try later.performAndWait {
        both.add(2, later)
        try later.save()
      }
      #expect(try both.pages(in: both.server) == [1, 2])
    }

    @Test func `A commit that fails in the file is completed from the server's record`() throws {
      var isFound = false
      for number in 1...60 where !isFound {
        let faults = StoreFaults()
        let pair = try Pair.committing(serverFirst: true, vfs: faults.vfs)
        let context = pair.context()
        try context.performAndWait {
          pair.add(1, context)
          faults.begin(.at(number, .ioError))
          do { try context.save() } catch let error as ManagedObjectError {
            isFound = error.code == .incompleteSave
            if isFound { #expect(error.affectedStores == [pair.local]) }
          }
          faults.end()
        }
        if isFound { #expect(try pair.place.count(of: "Z_PENDINGSAVE") == 1) }
        try pair.close()
        let both = try pair.reopened()
        #expect(try both.pages(in: both.local) == both.pages(in: both.server), "step \(number)")
        #expect(try pair.place.count(of: "Z_PENDINGSAVE") == 0, "step \(number)")
        try both.close()
      }
      #expect(isFound)
    }

    @Test func `A process that is killed leaves all of its saves or none of them in both`() async throws {
      let seed = UInt64.random(in: 0..<1_000_000)
      print("Killed in a save over a file and a server, seed \(seed)")
      var random = MigrationRandom(seed: seed)
      let pair = try Pair()
      try pair.close()
      var last = 0
      for round in 0..<12 {
        let delay = Int.random(in: 1_000...80_000, using: &random)
        // Every other process has made a save when its time begins: a busy machine may let none come so far.
        let saved = round.isMultiple(of: 2) ? 1 : 0
        await #expect(processExitsWith: .signal(SIGKILL), "seed \(seed), round \(round)") {
          [
            schema = pair.place.schema as String, file = pair.file.path as String, delay = delay as Int,
            saved = saved as Int
          ] in
          let pair = try Pair(TestPlace(existing: schema), URL(fileURLWithPath: file))
          let context = pair.context()
          try context.performAndWait {
            var next = (try pair.pages(in: pair.local).last ?? 0) + 1
            var saves = 0
            while true {
              if saves == saved {
                // A queue of its own has a thread of its own, also where the pool's only thread saves.
                DispatchQueue(label: "death").asyncAfter(deadline: .now() + .microseconds(delay)) {
                  kill(getpid(), SIGKILL)
                }
              }
              saves += 1
              pair.add(next, context)
              try context.save()
              next += 1
            }
          }
        }
        let both = try pair.reopened()
        let pages = try both.pages(in: both.local)
        #expect(try both.pages(in: both.server) == pages, "seed \(seed), round \(round)")
        #expect(
          pages == Array(0..<pages.count).map { $0 + 1 } && pages.count >= last,
          "seed \(seed), round \(round)")
        #expect(try pair.place.count(of: "Z_PENDINGSAVE") == 0, "seed \(seed), round \(round)")
        last = pages.count
        try both.close()
      }
      #expect(last > 0)
    }

    @Test
    func
      `Saves over both, by several coordinators, and saves to one of them do not wait for each other for good`()
      async throws
    {
      let first = try Pair()
      let pairs = try [first] + (0..<3).map { _ in try first.reopened() }
      await withTaskGroup(of: Void.self) { group in
        for (number, pair) in pairs.enumerated() {
          group.addTask {
            let context = pair.context()
            await context.perform {
              for step in 0..<15 {
                if number < 2 {
                  pair.add(number * 100 + step, context)
                } else {
                  context.assign(context.make("Book", ["pages": number * 100 + step]), to: pair.server)
                }
                do { try context.save() } catch { Issue.record("\(number), \(step): \(error)") }
              }
            }
          }
        }
      }
      #expect(try first.pages(in: first.local).count == 30)
      #expect(try first.pages(in: first.server).count == 60)
      #expect(try first.place.count(of: "Z_PENDINGSAVE") == 0)
    }
  }
#endif
