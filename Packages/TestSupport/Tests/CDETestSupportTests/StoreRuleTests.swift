import CDEManagedModel
import CDEModelRuntime
import CDETestSupport
import CDETesting
import Foundation
import Testing

@Suite("Query budgets", .template(Library.fill), .store(model: Library.model))
struct QueryBudgetTests {
  var container: NSPersistentContainer { TestStore.current.container }

  @Test(
    "A case that asks more often than it may fails, with the statements and how often each ran",
    .failing(
      "The store was asked 4 times, and the budget is 3.", "1 × SELECT t0.Z_PK", "3 × SELECT", "ZSHELF"),
    .store(model: Library.model), .template(Library.fill), .queryBudget(3))
  func over() async throws {
    #expect(try await Library.readOneByOne(container) == 6)
  }

  @Test("One that asks as often as it may passes, and templates and saves don't count", .queryBudget(2))
  func within() async throws {
    #expect(try await Library.readTogether(container) == 6)
    let context = container.newBackgroundContext()
    try await context.perform {
      for number in 0..<10 { Topic(context: context).name = "\(number)" }
      try context.save()
    }
    #expect(TestStore.current.activity.queryCount == 2)
  }

  @Test(
    "It holds in memory too", .failing("The store was asked 4 times"), .store(model: Library.model),
    .template(Library.fill),
    .queryBudget(3), .inMemory)
  func memory() async throws { _ = try await Library.readOneByOne(container) }

  @Test(
    "Counts and batch requests count", .failing("The store was asked 2 times", "budget is 0"),
    .store(model: Library.model), .template(Library.fill),
    .queryBudget(0))
  func kinds() async throws {
    let context = container.newBackgroundContext()
    try await context.perform {
      #expect(try context.count(for: Book.fetchRequest()) == 6)
      try context.execute(NSBatchInsertRequest(entityName: "Topic", objects: [["name": "x"]]))
    }
  }

  @Test("A looked-up row that many statements find is one read", .queryBudget(2))
  func lookUps() async throws {
    let context = container.newBackgroundContext()
    let titles = try await context.perform {
      let request = Book.fetchRequest()
      request.includesPropertyValues = false
      request.returnsObjectsAsFaults = false
      return try context.fetch(request).map(\.title).sorted()
    }
    #expect(titles == ["a1", "a2", "b1", "b2", "c1", "c2"])
  }

  @Test("A part of a test has a budget of its own, asynchronous or not")
  func part() async throws {
    #expect(try await withQueryBudget(2, container) { try await Library.readTogether(container) } == 6)
    let error = await #expect(throws: TestSupportError.self) {
      try await withQueryBudget(3, container) { try await Library.readOneByOne(container) }
    }
    #expect(error?.code == .queryBudget)
    #expect(error?.message.contains("asked 4 times") == true)
    let context = container.newBackgroundContext()
    let counts = try await context.perform { [container] in
      let within = try withQueryBudget(1, container) { try context.count(for: Topic.fetchRequest()) }
      let over = try? withQueryBudget(0, container) { try context.count(for: Topic.fetchRequest()) }
      return [within, over]
    }
    #expect(counts == [0, nil])
  }

  @Test("The error of the part is what is thrown, whatever it asked")
  func ownError() async throws {
    struct Refused: Error {}
    await #expect(throws: Refused.self) {
      try await withQueryBudget(0, container) {
        _ = try await Library.readOneByOne(container)
        throw Refused()
      }
    }
  }

  @Test("A container without a recorder has no budget, and the error says what to do")
  func unwatched() async throws {
    let other = NSPersistentContainer(name: "Other", managedObjectModel: try Library.model())
    let description = NSPersistentStoreDescription()
    description.type = NSInMemoryStoreType
    other.persistentStoreDescriptions = [description]
    other.loadPersistentStores { _, _ in }
    let error = await #expect(throws: TestSupportError.self) {
      try await withQueryBudget(1, other) { try await Library.readTogether(other) }
    }
    #expect(error?.code == .notRecorded)
    #expect(throws: TestSupportError.self) { try StoreActivity(of: other) }

    let watched = NSPersistentContainer(name: "Watched", managedObjectModel: try Library.model())
    let activity = StoreActivity(withValues: true)
    description.record(in: activity)
    watched.persistentStoreDescriptions = [description]
    watched.loadPersistentStores { _, _ in }
    let context = watched.newBackgroundContext()
    try await context.perform {
      Topic(context: context).name = "secret"
      try context.save()
      _ = try context.count(for: Topic.fetchRequest())
    }
    #expect(activity.requests.map(\.kind) == [.save, .read])
    #expect(activity.log.hasPrefix("-- What the store was asked: 2 requests.\n-- save\n"))
    #expect(activity.log.contains("secret"))
  }

  @Test("What is written down stays small, and says how much there was")
  func bounded() async throws {
    let container = container
    let context = container.newBackgroundContext()
    try await context.perform {
      for _ in 0..<2_500 { _ = try context.count(for: Topic.fetchRequest()) }
    }
    let activity = TestStore.current.activity
    #expect(activity.requests.count == 1_000)
    #expect(activity.queryCount == 2_500)
    #expect(activity.log.hasPrefix("-- What the store was asked: 2500 requests. These are the last 1000.\n"))
  }
}

@Suite("Strict faulting", .strictFaulting, .store(model: Library.model), .template(Library.fill))
struct StrictFaultingTests {
  var container: NSPersistentContainer { TestStore.current.container }

  /// The names of each book's shelf.
  private func shelves(_ prefetching: [String]? = nil, limit: Int? = nil) async throws -> [String?] {
    let context = container.newBackgroundContext()
    return try await context.perform {
      let request = Book.fetchRequest()
      request.relationshipKeyPathsForPrefetching = prefetching
      request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
      if let limit { request.fetchLimit = limit }
      return try context.fetch(request).map { $0.shelf?.name }
    }
  }

  @Test(
    "To-many relationships that are loaded one by one are named, with what to do",
    .failing(
      "Shelf.books was loaded 3 times",
      "relationshipKeyPathsForPrefetching = [\"books\"] on the fetch of Shelf"
    ),
    .store(model: Library.model), .template(Library.fill))
  func toMany() async throws { _ = try await Library.readOneByOne(container) }

  @Test(
    "Objects that are read one by one are named, with the relationships that lead there",
    .failing("Shelf was read 3 times, one object each", "(Book.shelf)", "returnsObjectsAsFaults = false"),
    .store(model: Library.model), .template(Library.fill))
  func toOne() async throws { #expect(try await shelves().count == 6) }

  @Test("Prefetching passes")
  func prefetching() async throws {
    #expect(try await shelves(["shelf"]) == ["a", "a", "b", "b", "c", "c"])
    #expect(try await Library.readTogether(container) == 6)
  }

  @Test("A single fault passes")
  func single() async throws { #expect(try await shelves(limit: 2) == ["a", "a"]) }

  @Test("A test allows more than its suite", .strictFaulting(allowing: 3))
  func limit() async throws { #expect(try await shelves().count == 6) }

  @Test("A part of a test can be watched, asynchronous or not", .strictFaulting(allowing: .max))
  func part() async throws {
    #expect(try await withStrictFaulting(container) { try await Library.readTogether(container) } == 6)
    let error = await #expect(throws: TestSupportError.self) {
      try await withStrictFaulting(container, allowing: 2) { try await Library.readOneByOne(container) }
    }
    #expect(error?.code == .singleFaults)
    #expect(error?.message.contains("2 of a kind are allowed") == true)
    let context = container.newBackgroundContext()
    let counts = try await context.perform { [container] in
      let within = try withStrictFaulting(container, allowing: 3) {
        try context.fetch(Shelf.fetchRequest()).map(\.books.count)
      }
      context.refreshAllObjects()
      let over = try? withStrictFaulting(container) {
        try context.fetch(Shelf.fetchRequest()).map(\.books.count)
      }
      return [within, over]
    }
    #expect(counts == [[2, 2, 2], nil])
  }
}
