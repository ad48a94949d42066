import CDEManagedModel
import Dispatch
@_spi(CDE) import CDESQLiteFaults
import Foundation
import Testing

@testable import CDEModelRuntime

@Suite("Merges come in the order of the commits", .serialized, .ownThreads)
struct MergeOrderTests {
  static func library() -> NSManagedObjectModel {
    let book = entity(
      "Book", nil, [attribute("title", .stringAttributeType), attribute("price", .integer64AttributeType)])
    let shelf = entity("Shelf", nil, [attribute("name", .stringAttributeType)])
    for (name, expression) in [("bookCount", "books.@count"), ("worth", "books.price.@sum")] {
      let derived = NSDerivedAttributeDescription()
      derived.name = name
      derived.attributeType = .integer64AttributeType
      derived.derivation = expression
      shelf.properties.append(derived)
    }
    connect(.one(book, "shelf"), .many(shelf, "books"))
    return model(book, shelf)
  }

  /// A store with one shelf and one book, and what a context that merges by itself merged.
  private final class World: @unchecked Sendable {
    // Guard: `lock` for the log; the rest is immutable.
    let stack: Stack
    let shelf: NSManagedObjectID
    let reader: NSManagedObjectContext
    private let lock = NSLock()
    private var log: [CommittedTransaction] = []
    private var token: (any NSObjectProtocol)?

    init(merges: Bool = true) throws {
      stack = try Stack(model: MergeOrderTests.library())
      reader = stack.context()
      let first = stack.context()
      shelf = try first.performAndWait { () throws -> NSManagedObjectID in
        let shelf = first.make("Shelf", ["name": "North"])
        first.make("Book", ["shelf": shelf, "price": 1, "title": "first"])
        try first.save()
        return shelf.objectID
      }
      reader.automaticallyMergesChangesFromParent = merges
      token = NotificationCenter.default.addObserver(
        forName: NSManagedObjectContext.didMergeChangesObjectIDsNotification, object: reader, queue: nil
      ) { [weak self] note in
        guard let self,
          let commit = note.userInfo?[CommittedTransaction.userInfoKey] as? CommittedTransaction
        else { return }
        lock.withLock { self.log.append(commit) }
      }
    }

    deinit { if let token { NotificationCenter.default.removeObserver(token) } }

    var merged: [CommittedTransaction] { lock.withLock { log } }
    var authors: [String] { merged.compactMap(\.author) }

    func context(_ author: String) -> NSManagedObjectContext {
      let context = stack.context()
      context.transactionAuthor = author
      return context
    }

    /// The shelf as a context knows it.
    func shelf(in context: NSManagedObjectContext) throws -> NSManagedObject {
      try context.existingObject(with: shelf)
    }

    @discardableResult
    func addBook(_ context: NSManagedObjectContext, price: Int = 1) throws -> Notification {
      try context.performAndWait {
        context.make("Book", ["shelf": try shelf(in: context), "price": price, "title": "more"])
        return try save(context)
      }
    }

    func rename(_ context: NSManagedObjectContext, _ name: String) throws -> Notification {
      try context.performAndWait {
        try shelf(in: context).setValue(name, forKey: "name")
        return try save(context)
      }
    }

    func save(_ context: NSManagedObjectContext) throws -> Notification {
      let listener = Listener(context)
      try context.save()
      let event = try #require(listener.events.last { $0.name == .NSManagedObjectContextDidSave })
      return Notification(name: event.name, object: context, userInfo: event.info)
    }

    /// Books put onto the shelf by a batch, known by their IDs.
    func batch(_ context: NSManagedObjectContext, books: Int) throws -> [NSManagedObjectID] {
      try context.performAndWait {
        let request = NSBatchUpdateRequest(entityName: "Book")
        request.propertiesToUpdate = ["price": books]
        request.resultType = .updatedObjectIDsResultType
        let result = try context.execute(request) as? NSBatchUpdateResult
        return try #require(result?.result as? [NSManagedObjectID])
      }
    }

    func expectCurrent(_ comment: Comment? = nil) throws {
      let fresh = stack.context()
      let stored = try fresh.performAndWait {
        let shelf = try shelf(in: fresh)
        return ["bookCount", "worth"].map { shelf.value(forKey: $0) as? Int }
      }
      try reader.performAndWait {
        let shelf = try shelf(in: reader)
        #expect(["bookCount", "worth"].map { shelf.value(forKey: $0) as? Int } == stored, comment)
      }
    }
  }

  /// Where a slow observer of a save may stand.
  enum Slow: CaseIterable, Sendable { case notification, hook }

  @Test(
    "An observer that holds a save up keeps neither that save nor later ones from other contexts")
  func slowObserver() throws {
    let world = try World()
    let slow = world.context("slow")
    let (entered, leave, done) = (
      DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
    )
    let token = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidSave, object: slow, queue: nil
    ) { _ in
      entered.signal()
      leave.wait()
    }
    defer { NotificationCenter.default.removeObserver(token) }
    Thread.detachNewThread {
      _ = try? world.addBook(slow)
      done.signal()
    }
    entered.wait()
    world.reader.performAndWait {}
    #expect(world.authors == ["slow"])
    try world.addBook(world.context("fast"))
    world.reader.performAndWait {}
    #expect(world.authors == ["slow", "fast"])
    leave.signal()
    done.wait()
    world.reader.performAndWait {}
    #expect(world.authors == ["slow", "fast"])
    try world.expectCurrent()
  }

  @Test("Merges of four savers at once come in order, each once, and derived values come right")
  func concurrentSavers() async throws {
    let environment = ProcessInfo.processInfo.environment
    let rounds = environment["CDE_ORDER_ROUNDS"].flatMap(Int.init) ?? 12
    for round in 0..<rounds {
      let world = try World()
      try world.reader.performAndWait {
        let shelf = try world.shelf(in: world.reader)
        #expect(shelf.value(forKey: "bookCount") as? Int == 1)
      }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for saver in 0..<4 {
          group.addTask {
            let context = world.context("\(saver)")
            for step in 0..<12 {
              if saver == 3, step.isMultiple(of: 3) {
                let ids = try world.batch(context, books: step + 2)
                NSManagedObjectContext.mergeChanges(
                  fromRemoteContextSave: [NSUpdatedObjectIDsKey: ids], into: [world.reader])
              } else {
                try world.addBook(context, price: step)
              }
            }
          }
        }
        try await group.waitForAll()
      }
      world.reader.performAndWait {}
      let merged = world.merged
      let numbers = merged.map(\.sequence)
      #expect(numbers == numbers.sorted(), "round \(round)")
      #expect(Set(numbers).count == 3 * 12 + 8, "round \(round)")
      // The store's own numbers, which no coordinator gave, ascend as well.
      #expect(merged.map(\.asOf) == merged.map(\.asOf).sorted(), "round \(round)")
      try world.expectCurrent("round \(round)")
    }
  }

  /// How a context learned of the newer state.
  enum Knowledge: CaseIterable, Sendable { case fetched, refreshed, batch, mergedLater }

  @Test("A late merge of an older commit takes no derived value back", arguments: Knowledge.allCases)
  func lateMerge(knowledge: Knowledge) throws {
    let world = try World(merges: false)
    let writer = world.context("writer")
    let reader = world.reader
    func worth() throws -> Int? {
      try reader.performAndWait { try world.shelf(in: reader).value(forKey: "worth") as? Int }
    }
    // Held, so that the context knows a row of it.
    let held = Unchecked(try reader.performAndWait { try world.shelf(in: reader) })
    if knowledge != .fetched { #expect(try worth() == 1) }
    let older = try world.addBook(writer, price: 10)
    switch knowledge {
    case .fetched:
      reader.performAndWait { reader.refresh(held.value, mergeChanges: false) }
      try world.addBook(writer, price: 100)
    case .refreshed:
      try world.addBook(writer, price: 100)
      reader.performAndWait { reader.refresh(held.value, mergeChanges: true) }
    case .batch:
      let ids = try world.batch(writer, books: 50)
      NSManagedObjectContext.mergeChanges(
        fromRemoteContextSave: [NSUpdatedObjectIDsKey: ids], into: [reader])
    case .mergedLater:
      let newer = try world.addBook(writer, price: 100)
      reader.performAndWait { reader.mergeChanges(fromContextDidSave: newer) }
    }
    let before = try worth()
    reader.performAndWait { reader.mergeChanges(fromContextDidSave: older) }
    #expect(try worth() == before)
    try world.expectCurrent()
  }

  @Test("Derived values of a context's own save outlast the merge of an older save of the same row")
  func ownSaveFirst() throws {
    let world = try World(merges: false)
    let (other, reader) = (world.context("other"), world.reader)
    try reader.performAndWait {
      let shelf = try world.shelf(in: reader)
      #expect(shelf.value(forKey: "bookCount") as? Int == 1)
      let renamed = try world.rename(other, "South")
      try world.addBook(reader, price: 5)
      // The count follows the own save at once; the name comes with the other one.
      #expect(shelf.value(forKey: "bookCount") as? Int == 2)
      #expect(shelf.value(forKey: "name") as? String == "North")
      reader.mergeChanges(fromContextDidSave: renamed)
      #expect(shelf.value(forKey: "bookCount") as? Int == 2)
      #expect(shelf.value(forKey: "worth") as? Int == 6)
      #expect(shelf.value(forKey: "name") as? String == "South")
      shelf.setValue("West", forKey: "name")
      try reader.save()
    }
    try world.expectCurrent()
  }

  @Test("A late merge of a deletion leaves an object that was saved again since")
  func deletedAndSavedAgain() throws {
    let world = try World(merges: false)
    let (other, reader) = (world.context("other"), world.reader)
    reader.mergePolicy = NSMergePolicy.overwrite
    try reader.performAndWait {
      let book = try reader.all("Book")[0]
      #expect(book.value(forKey: "title") as? String == "first")
      let deletion = try other.performAndWait {
        other.delete(try other.existingObject(with: book.objectID))
        return try world.save(other)
      }
      book.setValue("kept", forKey: "title")
      try reader.save()
      reader.mergeChanges(fromContextDidSave: deletion)
      #expect(!book.isDeleted)
      #expect(book.managedObjectContext === reader)
      #expect(book.value(forKey: "title") as? String == "kept")
    }
    #expect(try world.stack.context().all("Book").count == 1)
  }

  @Test("What is merged by hand comes after what was committed before it", arguments: [false, true])
  func byHand(ids: Bool) throws {
    let world = try World()
    let reader = world.reader
    try reader.performAndWait {
      // The executor is taken, so these wait.
      try world.addBook(world.context("1"))
      try world.addBook(world.context("2"))
      let third = try world.addBook(world.context("3"))
      try world.addBook(world.context("4"))
      #expect(world.authors == [])
      if ids {
        NSManagedObjectContext.mergeChanges(
          fromRemoteContextSave: [NSUpdatedObjectIDsKey: [world.shelf]], into: [reader])
        #expect(world.authors == ["1", "2", "3", "4"])
      } else {
        reader.mergeChanges(fromContextDidSave: third)
        #expect(world.authors == ["1", "2", "3"])
      }
    }
    reader.performAndWait {}
    #expect(world.authors == (ids ? ["1", "2", "3", "4"] : ["1", "2", "3", "3", "4"]))
    try world.expectCurrent()
  }

  @Test("Commits of all stores of a container have one ascending number")
  func severalStores() throws {
    let model = Self.library()
    let alone = entity("Alone", nil, [attribute("n", .integer64AttributeType)])
    model.entities.append(alone)
    model.setEntities([alone], forConfigurationName: "Apart")
    model.setEntities(
      [try #require(model.entitiesByName["Book"]), try #require(model.entitiesByName["Shelf"])],
      forConfigurationName: "Books")
    let folder = ProcessFolder.newURL()
    let container = NSPersistentContainer(name: "Two", managedObjectModel: model)
    container.persistentStoreDescriptions = ["Apart", "Books"].map { name in
      let description = NSPersistentStoreDescription(url: folder.appendingPathComponent("\(name).sqlite"))
      description.configuration = name
      return description
    }
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = failure ?? error }
    if let failure { throw failure }
    let (writer, reader) = (container.newBackgroundContext(), container.newBackgroundContext())
    reader.automaticallyMergesChangesFromParent = true
    let listener = Listener(reader)
    for step in 0..<6 {
      if step.isMultiple(of: 2) { writer.make("Alone", ["n": step]) } else { writer.make("Shelf") }
      try writer.save()
    }
    let commits = reader.performAndWait {
      listener.events.compactMap { $0.info[CommittedTransaction.userInfoKey] as? CommittedTransaction }
    }
    #expect(commits.map(\.sequence) == [1, 2, 3, 4, 5, 6])
    #expect(commits.map(\.asOf) == [1, 1, 2, 2, 3, 3])
  }

  @Test("Objects whose merged rows can't be read become faults; the failure is told")
  func unreadable() throws {
    let world = try World(merges: false)
    let reader = world.reader
    let told = Unchecked(NSMutableArray())
    let store = try #require(world.stack.container.persistentStoreCoordinator.persistentStores.first)
    try reader.performAndWait {
      let shelf = try world.shelf(in: reader)
      let book = try reader.all("Book")[0]
      book.setValue("dirty", forKey: "title")
      #expect(shelf.value(forKey: "name") as? String == "North")
      try store.handle.store.close()
      Diagnostics.handler = { note in
        if note.contains("closed") || note.contains("Shelf") { told.value.add(note) }
      }
      defer { Diagnostics.handler = nil }
      NSManagedObjectContext.mergeChanges(
        fromRemoteContextSave: [NSUpdatedObjectIDsKey: [shelf.objectID, book.objectID]], into: [reader])
      #expect(shelf.isFault)
      #expect(!book.isFault)
      #expect(book.value(forKey: "title") as? String == "dirty")
      #expect(told.value.count > 0)
    }
  }
}
