import CDESwiftData
import Foundation
import Testing

@Suite("History: several stores of one container", .onSQLite)
struct SeveralHistoriesTests {
  private let container: ModelContainer
  private let urls: [URL]

  init() throws {
    urls = [try TemporaryStore().url, try TemporaryStore().url]
    container = try ModelContainer(
      for: Schema([TravelPlan.self, Coupon.self]),
      configurations: [
        ModelConfiguration(
          "plans", schema: Schema([TravelPlan.self, Accommodation.self, ListItem.self]), url: urls[0]),
        ModelConfiguration("tickets", schema: Schema([Coupon.self]), url: urls[1]),
      ])
  }

  private func save(_ model: some PersistentModel) throws {
    let context = ModelContext(container)
    context.insert(model)
    try context.save()
  }

  private func history(
    _ predicate: Predicate<DefaultHistoryTransaction>? = nil
  ) throws -> [DefaultHistoryTransaction] {
    try ModelContext(container).fetchHistory(HistoryDescriptor(predicate: predicate))
  }

  @Test("Transactions of all stores come in the order of their commits")
  func order() throws {
    try save(TravelPlan("Rome"))
    try save(Coupon(number: 1, seat: "1A"))
    try save(TravelPlan("Oslo"))
    let found = try history()
    #expect(
      found.flatMap(\.changes).map(\.changedPersistentIdentifier.entityName) == [
        "TravelPlan", "Coupon", "TravelPlan",
      ])
    #expect(Set(found.map(\.storeIdentifier)).count == 2 && found.map(\.transactionIdentifier) == [1, 1, 2])
    #expect(zip(found, found.dropFirst()).allSatisfy { $0.token < $1.token })
  }

  @Test("The token of the last transaction finds what came later in any store")
  func token() throws {
    try save(TravelPlan("Rome"))
    try save(Coupon(number: 1, seat: "1A"))
    let last = try #require(try history().last).token
    #expect(last.tokenValue?.count == 2)
    #expect(try history(#Predicate { $0.token > last }).isEmpty)
    try save(TravelPlan("Oslo"))
    try save(Coupon(number: 2, seat: "1B"))
    try save(Coupon(number: 3, seat: "1C"))
    let later = try history(#Predicate { $0.token > last })
    #expect(later.map(\.transactionIdentifier) == [2, 2, 3])
    let newest = try #require(later.last).token
    #expect(try history(#Predicate { $0.token > newest }).isEmpty)
  }

  @Test("A save over both stores is a transaction of each")
  func both() throws {
    let context = ModelContext(container)
    context.author = "both"
    context.insert(TravelPlan("Rome"))
    context.insert(Coupon(number: 1, seat: "1A"))
    try context.save()
    let found = try history(#Predicate { $0.author == "both" })
    #expect(found.count == 2 && Set(found.map(\.storeIdentifier)).count == 2)
  }

  @Test("One store is asked by its identifier, and deleted of by its token")
  func oneStore() throws {
    try save(TravelPlan("Rome"))
    try save(Coupon(number: 1, seat: "1A"))
    try save(Coupon(number: 2, seat: "1B"))
    let tickets = try #require(try history().last).storeIdentifier
    #expect(try history(#Predicate { $0.storeIdentifier == tickets }).count == 2)
    try ModelContext(container).deleteHistory(
      HistoryDescriptor(predicate: #Predicate<DefaultHistoryTransaction> { $0.storeIdentifier == tickets }))
    #expect(try history().flatMap(\.changes).map(\.changedPersistentIdentifier.entityName) == ["TravelPlan"])
  }

  @Test("A token expires if one of its stores was purged beyond it")
  func expired() throws {
    try save(TravelPlan("Rome"))
    try save(Coupon(number: 1, seat: "1A"))
    let token = try #require(try history().last).token
    try save(Coupon(number: 2, seat: "1B"))
    try save(TravelPlan("Oslo"))
    try ModelContext(container).deleteHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    #expect(throws: SwiftDataError.historyTokenExpired) { try history(#Predicate { $0.token > token }) }
  }

  @Test("A store that a token does not know is read from its beginning")
  func addedStore() throws {
    let alone = try ModelContainer(
      for: Coupon.self, configurations: ModelConfiguration("tickets", url: urls[1]))
    let context = ModelContext(alone)
    context.insert(Coupon(number: 1, seat: "1A"))
    try context.save()
    let token = try #require(
      try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).last
    ).token
    try save(TravelPlan("Rome"))
    #expect(
      try history(#Predicate { $0.token > token }).flatMap(\.changes)
        .map(\.changedPersistentIdentifier.entityName) == ["TravelPlan"])
  }
}
