import CDESwiftData
import Foundation
import Testing

@Suite("History: deletion")
struct HistoryDeletionTests {
  private func filled() throws -> Travel {
    let travel = try Travel()
    try travel.add("Rome", "Oslo", author: "widget")
    try travel.add("Lima", "Bonn", author: "app")
    return travel
  }

  @Test("Transactions before a token are deleted, and models stay")
  func beforeToken() throws {
    let travel = try filled()
    let token = try travel.history()[2].token
    try travel.context().deleteHistory(
      HistoryDescriptor(predicate: #Predicate<DefaultHistoryTransaction> { $0.token < token }))
    #expect(try travel.numbers() == [3, 4])
    #expect(try travel.context().fetchCount(FetchDescriptor<TravelPlan>()) == 4)
  }

  @Test("Transactions before a time are deleted")
  func beforeTime() throws {
    let travel = try filled()
    let time = try travel.history()[1].timestamp
    try travel.context().deleteHistory(
      HistoryDescriptor(predicate: #Predicate<DefaultHistoryTransaction> { $0.timestamp <= time }))
    #expect(try travel.numbers().first.map { $0 > 2 } ?? true)
  }

  @Test("The transactions of an author are deleted if they are the oldest")
  func author() throws {
    let travel = try filled()
    try travel.context().deleteHistory(
      HistoryDescriptor(predicate: #Predicate<DefaultHistoryTransaction> { $0.author == "widget" }))
    #expect(try travel.history().map(\.author) == ["app", "app"])
  }

  @Test("A deletion that would leave a gap is refused, and nothing is deleted")
  func gap() throws {
    let travel = try filled()
    let error = try #require(
      throws: SwiftDataError.self,
      performing: {
        try travel.context().deleteHistory(
          HistoryDescriptor(predicate: #Predicate<DefaultHistoryTransaction> { $0.author == "app" }))
      })
    #expect(error.code == SwiftDataError.invalidTransactionFetchRequest.code)
    #expect(error.message.contains("transaction 1 "))
    #expect(try travel.numbers() == [1, 2, 3, 4])
  }

  @Test("All transactions are deleted without a predicate, and numbers are not used again")
  func all() throws {
    let travel = try filled()
    try travel.context().deleteHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    #expect(try travel.history().isEmpty)
    try travel.add("Kiel")
    #expect(try travel.numbers() == [5])
  }

  @Test("A limit deletes so many of the oldest")
  func limit() throws {
    let travel = try filled()
    var descriptor = HistoryDescriptor<DefaultHistoryTransaction>()
    descriptor.fetchLimit = 3
    try travel.context().deleteHistory(descriptor)
    #expect(try travel.numbers() == [4])
  }

  @Test("A deletion that finds nothing changes nothing, also twice")
  func nothing() throws {
    let travel = try filled()
    let token = try travel.history()[1].token
    for _ in 1...2 {
      try travel.context().deleteHistory(
        HistoryDescriptor(predicate: #Predicate<DefaultHistoryTransaction> { $0.token <= token }))
      #expect(try travel.numbers() == [3, 4])
    }
    let none = try Travel()
    try none.context().deleteHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    #expect(try none.history().isEmpty)
  }

  @Test("A read-only container reads the history, and can't delete of it")
  func readOnly() throws {
    let travel = try filled()
    let container = try ModelContainer(
      for: TravelPlan.self, configurations: ModelConfiguration(url: travel.url, allowsSave: false))
    let context = ModelContext(container)
    #expect(try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).count == 4)
    #expect(throws: (any Error).self) {
      try context.deleteHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    }
    #expect(try travel.numbers() == [1, 2, 3, 4])
  }

  @Test("Unsaved changes of the context are no part of the history and stay")
  func unsaved() throws {
    let travel = try filled()
    let context = travel.context()
    context.insert(TravelPlan("Kiel"))
    #expect(try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).count == 4)
    try context.deleteHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    #expect(context.hasChanges)
    try context.save()
    #expect(try travel.numbers() == [5])
  }
}
