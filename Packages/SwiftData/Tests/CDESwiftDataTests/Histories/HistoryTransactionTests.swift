import CDESwiftData
import Foundation
import Testing

@Suite("History: transactions")
struct HistoryTransactionTests {
  @Test("A store records each save as a transaction, in the order of the saves", arguments: [true, false])
  func order(inMemory: Bool) throws {
    let travel = try Travel(inMemory: inMemory)
    #expect(try travel.history().isEmpty)
    try travel.add("Rome", "Oslo", "Lima")
    let history = try travel.history()
    #expect(history.count == 3)
    #expect(history.map(\.transactionIdentifier) == history.map(\.transactionIdentifier).sorted())
    #expect(history.allSatisfy { $0.changes.count == 1 })
    #expect(history.map(\.timestamp) == history.map(\.timestamp).sorted())
  }

  @Test("A save without changes is no transaction")
  func nothing() throws {
    let travel = try Travel()
    let context = travel.context()
    try context.save()
    let plan = TravelPlan("Rome")
    context.insert(plan)
    context.delete(plan)
    try context.save()
    #expect(try travel.history().isEmpty)
  }

  @Test("A transaction has the author of its context, and none without")
  func author() throws {
    let travel = try Travel()
    try travel.add("Rome", author: "widget")
    try travel.add("Oslo")
    try travel.add("Lima", author: "app")
    #expect(try travel.history().map(\.author) == ["widget", nil, "app"])
  }

  @Test("The author may change between two saves of a context")
  func changedAuthor() throws {
    let travel = try Travel()
    let context = travel.context("one")
    context.insert(TravelPlan("Rome"))
    try context.save()
    context.author = "two"
    context.insert(TravelPlan("Oslo"))
    try context.save()
    #expect(try travel.history().map(\.author) == ["one", "two"])
  }

  @Test("A transaction knows its process, its bundle, its store and its time")
  func origin() throws {
    let travel = try Travel()
    let before = Date()
    let id = try travel.add("Rome")[0]
    let transaction = try #require(try travel.history().first)
    #expect(transaction.processIdentifier == ProcessInfo.processInfo.processName)
    #expect(!transaction.bundleIdentifier.isEmpty)
    #expect(transaction.storeIdentifier == id.storeIdentifier)
    #expect(transaction.timestamp >= before && transaction.timestamp <= Date())
  }

  @Test("The history is in the file, for containers that are opened later")
  func persistence() throws {
    let url = try TemporaryStore().url
    func save(_ name: String) throws {
      let context = ModelContext(try Travel.open(url))
      context.author = name
      context.insert(TravelPlan(name))
      try context.save()
    }
    try save("Rome")
    try save("Oslo")
    let history = try ModelContext(try Travel.open(url)).fetchHistory(
      HistoryDescriptor<DefaultHistoryTransaction>())
    #expect(history.map(\.author) == ["Rome", "Oslo"])
  }

  @Test("Saves of the main context, of a model actor and of autosaving are recorded")
  @MainActor
  func contexts() async throws {
    let travel = try Travel()
    travel.container.mainContext.author = "main"
    travel.container.mainContext.insert(TravelPlan("Rome"))
    try travel.container.mainContext.save()
    try await TravelActor(modelContainer: travel.container).add("Oslo")
    #expect(try travel.history().map(\.author) == ["main", "actor"])
  }

  @Test("A transaction may be passed to another actor")
  func sending() async throws {
    let travel = try Travel()
    try travel.add("Rome")
    let transaction = try #require(try travel.history().first)
    let count = await Task.detached { transaction.changes.count }.value
    #expect(count == 1)
  }

  @Test("Two containers of one file in a process read the same history")
  func twoContainers() throws {
    let travel = try Travel()
    let other = ModelContext(try Travel.open(travel.url))
    try travel.add("Rome", author: "first")
    other.author = "second"
    other.insert(TravelPlan("Oslo"))
    try other.save()
    let mine = try travel.history()
    let theirs = try other.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    #expect(mine.map(\.author) == ["first", "second"] && mine.map(\.token) == theirs.map(\.token))
  }

  @Test("Stores in memory have histories of their own")
  func memory() throws {
    let (one, other) = (try Travel(inMemory: true), try Travel(inMemory: true))
    try one.add("Rome")
    #expect(try one.history().count == 1)
    #expect(try other.history().isEmpty)
  }
}

@ModelActor
actor TravelActor {
  func add(_ name: String) throws {
    modelContext.author = "actor"
    modelContext.insert(TravelPlan(name))
    try modelContext.save()
  }
}
