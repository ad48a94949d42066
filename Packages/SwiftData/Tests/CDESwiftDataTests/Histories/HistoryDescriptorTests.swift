import CDESwiftData
import Foundation
import Testing

@Suite("History: predicates, orders and limits")
struct HistoryDescriptorTests {
  private func filled() throws -> Travel {
    let travel = try Travel()
    try travel.add("Rome", author: "app")
    try travel.add("Oslo", author: "widget")
    try travel.add("Lima", "Bonn", author: "app")
    try travel.add("Kiel")
    return travel
  }

  @Test("Transactions after a token of an author are found")
  func tokenAndAuthor() throws {
    let travel = try filled()
    let token = try travel.history()[0].token
    let author = "app"
    var descriptor = HistoryDescriptor<DefaultHistoryTransaction>()
    descriptor.predicate = #Predicate { transaction in
      (transaction.token > token) && (transaction.author == author)
    }
    #expect(try travel.context().fetchHistory(descriptor).map(\.transactionIdentifier) == [3, 4])
  }

  @Test("A token is compared in each way")
  func tokens() throws {
    let travel = try filled()
    let token = try travel.history()[2].token
    #expect(try travel.numbers(#Predicate { $0.token > token }) == [4, 5])
    #expect(try travel.numbers(#Predicate { $0.token >= token }) == [3, 4, 5])
    #expect(try travel.numbers(#Predicate { $0.token < token }) == [1, 2])
    #expect(try travel.numbers(#Predicate { $0.token <= token }) == [1, 2, 3])
    #expect(try travel.numbers(#Predicate { $0.token == token }) == [3])
    #expect(try travel.numbers(#Predicate { $0.token != token }) == [1, 2, 4, 5])
    #expect(try travel.numbers(#Predicate { token < $0.token }) == [4, 5])
    #expect(try travel.numbers(#Predicate { token >= $0.token }) == [1, 2, 3])
    #expect(try travel.numbers(#Predicate { !($0.token > token) }) == [1, 2, 3])
  }

  @Test("An author is compared, also with none")
  func authors() throws {
    let travel = try filled()
    #expect(try travel.numbers(#Predicate { $0.author == "app" }) == [1, 3, 4])
    #expect(try travel.numbers(#Predicate { $0.author != "app" }) == [2, 5])
    #expect(try travel.numbers(#Predicate { $0.author == nil }) == [5])
    let authors: [String?] = ["widget", nil]
    #expect(try travel.numbers(#Predicate { authors.contains($0.author) }) == [2, 5])
    #expect(try travel.numbers(#Predicate { ($0.author ?? "").contains("dge") }) == [2])
  }

  @Test("A time is compared")
  func times() throws {
    let travel = try filled()
    let times = try travel.history().map(\.timestamp)
    let third = times[2]
    #expect(try travel.numbers(#Predicate { $0.timestamp > third }).allSatisfy { $0 > 3 })
    #expect(try travel.numbers(#Predicate { $0.timestamp >= third }).contains(3))
    #expect(try travel.numbers(#Predicate { $0.timestamp < third }).allSatisfy { $0 < 3 })
    let (past, future) = (Date.distantPast, Date.distantFuture)
    #expect(try travel.numbers(#Predicate { $0.timestamp > past && $0.timestamp < future }).count == 5)
    #expect(try travel.numbers(#Predicate { $0.timestamp > future }).isEmpty)
  }

  @Test("A store, a process, a bundle and a number are compared")
  func others() throws {
    let travel = try filled()
    let transaction = try travel.history()[3]
    let (store, process, bundle) = (
      transaction.storeIdentifier, transaction.processIdentifier, transaction.bundleIdentifier
    )
    #expect(try travel.numbers(#Predicate { $0.storeIdentifier == store }).count == 5)
    #expect(try travel.numbers(#Predicate { $0.storeIdentifier == "other" }).isEmpty)
    #expect(try travel.numbers(#Predicate { $0.processIdentifier == process }).count == 5)
    #expect(try travel.numbers(#Predicate { $0.bundleIdentifier == bundle }).count == 5)
    #expect(try travel.numbers(#Predicate { $0.processIdentifier != process }).isEmpty)
    #expect(try travel.numbers(#Predicate { $0.transactionIdentifier == 4 }) == [4])
    #expect(try travel.numbers(#Predicate { $0.transactionIdentifier >= 4 }) == [4, 5])
    #expect(try travel.numbers(#Predicate { $0.transactionIdentifier > 2 && $0.author == "app" }) == [3, 4])
  }

  @Test("A predicate looks at changes, by identifier and entity")
  func changes() throws {
    let travel = try filled()
    let context = travel.context("later")
    let plan = try #require(
      try context.fetch(FetchDescriptor<TravelPlan>(predicate: #Predicate { $0.name == "Oslo" })).first)
    plan.items.append(ListItem("Hat"))
    try context.save()
    let id = plan.persistentModelID
    #expect(
      try travel.numbers(#Predicate { $0.changes.contains { $0.changedPersistentIdentifier == id } }) == [
        2, 6,
      ])
    let names = [Schema.entityName(for: ListItem.self)]
    #expect(
      try travel.numbers(
        #Predicate { transaction in
          transaction.changes.contains { change in
            names.contains(change.changedPersistentIdentifier.entityName)
          }
        }) == [6])
    let token = try travel.history()[1].token
    #expect(
      try travel.numbers(
        #Predicate {
          $0.token > token && $0.changes.contains { $0.changedPersistentIdentifier == id }
        }) == [6])
    #expect(try travel.numbers(#Predicate { $0.changes.count > 1 }) == [6])
  }

  @Test("Conditions that or joins are evaluated as a whole")
  func disjunction() throws {
    let travel = try filled()
    let token = try travel.history()[3].token
    #expect(try travel.numbers(#Predicate { $0.token > token || $0.author == "widget" }) == [2, 5])
  }

  @Test("The newest transaction is found by an order and a limit")
  func newest() throws {
    let travel = try filled()
    var descriptor = HistoryDescriptor<DefaultHistoryTransaction>()
    descriptor.sortBy = [.init(\.transactionIdentifier, order: .reverse)]
    descriptor.fetchLimit = 1
    let found = try travel.context().fetchHistory(descriptor)
    #expect(found.map(\.transactionIdentifier) == [5] && found.last?.changes.count == 1)
    let all = try travel.history()
    #expect(found.last?.token == all.last?.token)
    descriptor.fetchLimit = 4
    descriptor.predicate = #Predicate { $0.author == "app" }
    #expect(try travel.context().fetchHistory(descriptor).map(\.transactionIdentifier) == [4, 3, 1])
    descriptor.fetchLimit = 2
    #expect(try travel.context().fetchHistory(descriptor).map(\.transactionIdentifier) == [4, 3])
  }

  @Test("Transactions come in the orders of several properties")
  func orders() throws {
    let travel = try filled()
    let context = travel.context()
    let byAuthor = HistoryDescriptor<DefaultHistoryTransaction>(
      predicate: #Predicate { $0.author != nil },
      sortBy: [SortDescriptor(\.author, order: .reverse), SortDescriptor(\.transactionIdentifier)])
    #expect(try context.fetchHistory(byAuthor).map(\.transactionIdentifier) == [2, 1, 3, 4])
    let byToken = HistoryDescriptor<DefaultHistoryTransaction>(sortBy: [
      SortDescriptor(\.token, order: .reverse)
    ])
    #expect(try context.fetchHistory(byToken).map(\.transactionIdentifier) == [5, 4, 3, 2, 1])
    let byTime = HistoryDescriptor<DefaultHistoryTransaction>(sortBy: [SortDescriptor(\.timestamp)])
    #expect(try context.fetchHistory(byTime).count == 5)
  }

  @Test("A limit without an order takes the oldest ones, and 0 takes all")
  func limits() throws {
    let travel = try filled()
    var descriptor = HistoryDescriptor<DefaultHistoryTransaction>()
    #expect(descriptor.fetchLimit == 0)
    descriptor.fetchLimit = 2
    #expect(try travel.context().fetchHistory(descriptor).map(\.transactionIdentifier) == [1, 2])
    descriptor.predicate = #Predicate { $0.author == "app" }
    #expect(try travel.context().fetchHistory(descriptor).map(\.transactionIdentifier) == [1, 3])
    descriptor.fetchLimit = .max
    #expect(try travel.context().fetchHistory(descriptor).map(\.transactionIdentifier) == [1, 3, 4])
  }

  @Test("A predicate that can't be evaluated is an error")
  func unusable() throws {
    let travel = try filled()
    // `Kiel` was saved without an author.
    #expect(throws: SwiftDataError.invalidTransactionFetchRequest) {
      try travel.numbers(#Predicate { $0.author!.count > 3 })
    }
  }

  @Test("Transactions of another kind are an error")
  func otherKind() throws {
    let travel = try filled()
    #expect(throws: SwiftDataError.invalidTransactionFetchRequest) {
      try travel.context().fetchHistory(HistoryDescriptor<ServerTransaction>())
    }
    #expect(throws: SwiftDataError.invalidTransactionFetchRequest) {
      try travel.context().deleteHistory(HistoryDescriptor<ServerTransaction>())
    }
  }

  @Test("A long history is read whole, from each end, and by condition")
  func long() throws {
    let travel = try Travel()
    let context = travel.context()
    let plan = TravelPlan("Rome")
    context.insert(plan)
    try context.save()
    for number in 1..<2_500 {
      plan.nights = number + 10
      context.author = number % 500 == 0 ? "rare" : "often"
      try context.save()
    }
    #expect(try travel.numbers() == Array(1...2_500))
    #expect(try travel.numbers(#Predicate { $0.author == "rare" }) == [501, 1_001, 1_501, 2_001])
    var descriptor = HistoryDescriptor<DefaultHistoryTransaction>(
      sortBy: [SortDescriptor(\.transactionIdentifier, order: .reverse)])
    descriptor.fetchLimit = 1_500
    #expect(
      try context.fetchHistory(descriptor).map(\.transactionIdentifier) == Array((1_001...2_500).reversed()))
    descriptor.predicate = #Predicate { $0.author == "rare" }
    descriptor.fetchLimit = 3
    #expect(try context.fetchHistory(descriptor).map(\.transactionIdentifier) == [2_001, 1_501, 1_001])
    descriptor.sortBy = []
    #expect(try context.fetchHistory(descriptor).map(\.transactionIdentifier) == [501, 1_001, 1_501])
  }
}

/// A transaction of a store that the library does not have.
struct ServerTransaction: HistoryTransaction {
  struct Token: HistoryToken {
    var tokenValue: Int?
    static func < (first: Token, second: Token) -> Bool { (first.tokenValue ?? 0) < (second.tokenValue ?? 0) }
  }

  var author: String?
  var bundleIdentifier = ""
  var changes: [HistoryChange] = []
  var processIdentifier = ""
  var storeIdentifier = ""
  var timestamp = Date()
  var token = Token()
  var transactionIdentifier = UUID()
}
