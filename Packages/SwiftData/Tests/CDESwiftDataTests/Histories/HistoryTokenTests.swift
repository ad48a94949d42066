import CDEModelRuntime
import CDESwiftData
import Foundation
import Testing

@Suite("History: tokens", .onSQLite)
struct HistoryTokenTests {
  @Test("Tokens are ordered as the commits, and equal for one place")
  func order() throws {
    let travel = try Travel()
    try travel.add("Rome", "Oslo")
    let tokens = try travel.history().map(\.token)
    #expect(tokens[0] < tokens[1] && tokens[1] > tokens[0] && tokens[0] != tokens[1])
    #expect(tokens[0] <= tokens[0] && tokens[0] >= tokens[0] && !(tokens[0] < tokens[0]))
    #expect(try travel.history().map(\.token) == tokens && Set(tokens + tokens).count == 2)
    #expect(tokens.max() == tokens[1])
  }

  @Test("The value of a token has the number of the transaction by the store")
  func value() throws {
    let travel = try Travel()
    let id = try travel.add("Rome")[0]
    let transaction = try travel.history()[0]
    #expect(
      transaction.token.tokenValue == [try #require(id.storeIdentifier): transaction.transactionIdentifier])
  }

  @Test("A token that was kept as JSON or a property list finds what came later")
  func coding() throws {
    let travel = try Travel()
    try travel.add("Rome", "Oslo")
    let token = try #require(try travel.history().last).token
    try travel.add("Lima", "Bonn")
    let json = try JSONDecoder().decode(DefaultHistoryToken.self, from: JSONEncoder().encode(token))
    let list = try PropertyListDecoder().decode(
      DefaultHistoryToken.self, from: PropertyListEncoder().encode(token))
    #expect(json == token && list == token && json.hashValue == token.hashValue)
    for kept in [json, list] { #expect(try travel.numbers(#Predicate { $0.token > kept }) == [3, 4]) }
  }

  @Test("A token comes back from its text, and from that of Core Data's token of the place")
  func text() throws {
    let travel = try Travel()
    try travel.add("Rome", "Oslo")
    let token = try #require(try travel.history().last).token
    try travel.add("Lima", "Bonn")
    let kept = try #require(DefaultHistoryToken(stringRepresentation: token.stringRepresentation))
    #expect(kept == token)
    #expect(try travel.numbers(#Predicate { $0.token > kept }) == [3, 4])
    let other = try #require(NSPersistentHistoryToken(stringRepresentation: token.stringRepresentation))
    #expect(other.stringRepresentation == token.stringRepresentation)
    for text in ["", "1", String(token.stringRepresentation.dropLast()), token.stringRepresentation + "A"] {
      #expect(DefaultHistoryToken(stringRepresentation: text) == nil)
    }
  }

  @Test("What is no token is a decoding error")
  func badCoding() {
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(DefaultHistoryToken.self, from: Data(#"{"tokenValue":7}"#.utf8))
    }
  }

  @Test("A reader that keeps the last token sees each transaction once")
  func following() throws {
    let travel = try Travel()
    var last: DefaultHistoryToken?
    var seen: [Int64] = []
    func read() throws {
      var descriptor = HistoryDescriptor<DefaultHistoryTransaction>()
      if let last { descriptor.predicate = #Predicate { $0.token > last } }
      for transaction in try travel.context().fetchHistory(descriptor) {
        seen.append(transaction.transactionIdentifier)
        last = transaction.token
      }
    }
    try read()
    for round in 1...5 {
      for _ in 0..<round { try travel.add("Rome") }
      try read()
      try read()
    }
    #expect(seen == Array(1...15))
  }

  @Test("Transactions after a token that were deleted are an expired token")
  func expired() throws {
    let travel = try Travel()
    try travel.add("Rome", "Oslo", "Lima", "Bonn")
    let tokens = try travel.history().map(\.token)
    let (first, third) = (tokens[0], tokens[2])
    try travel.context().deleteHistory(
      HistoryDescriptor(predicate: #Predicate<DefaultHistoryTransaction> { $0.token <= third }))
    #expect(throws: SwiftDataError.historyTokenExpired) {
      try travel.numbers(#Predicate { $0.token > first })
    }
    #expect(throws: SwiftDataError.historyTokenExpired) {
      try travel.numbers(#Predicate { $0.token > first && $0.author == "another" })
    }
    #expect(throws: SwiftDataError.historyTokenExpired) {
      try travel.numbers(#Predicate { $0.token > first || $0.author == "another" })
    }
    #expect(try travel.numbers(#Predicate { $0.token > third }) == [4])
  }

  @Test("A token stays valid if only what it knows was deleted, also if nothing is left")
  func stillValid() throws {
    let travel = try Travel()
    try travel.add("Rome", "Oslo")
    let last = try #require(try travel.history().last).token
    try travel.context().deleteHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    #expect(try travel.history().isEmpty)
    #expect(try travel.numbers(#Predicate { $0.token > last }).isEmpty)
    try travel.add("Lima")
    #expect(try travel.numbers(#Predicate { $0.token > last }) == [3])
  }

  @Test("A token of another store is expired")
  func otherStore() throws {
    let (travel, other) = (try Travel(), try Travel())
    try travel.add("Rome")
    try other.add("Oslo")
    let token = try #require(try other.history().last).token
    #expect(throws: SwiftDataError.historyTokenExpired) {
      try travel.numbers(#Predicate { $0.token > token })
    }
  }

  @Test("A token of a history that a backup has replaced is expired")
  func restored() throws {
    let travel = try Travel()
    try travel.add("Rome")
    let copy = try TemporaryStore().url
    _ = try StoreFile(url: travel.url).rows("VACUUM INTO '\(copy.path)'")
    try travel.add("Oslo")
    let token = try #require(try travel.history().last).token
    let restored = ModelContext(try Travel.open(copy))
    #expect(throws: SwiftDataError.historyTokenExpired) {
      try restored.fetchHistory(
        HistoryDescriptor(predicate: #Predicate<DefaultHistoryTransaction> { $0.token > token }))
    }
    // Another transaction of the same number.
    restored.insert(TravelPlan("Bonn"))
    try restored.save()
    #expect(throws: SwiftDataError.historyTokenExpired) {
      try restored.fetchHistory(
        HistoryDescriptor(predicate: #Predicate<DefaultHistoryTransaction> { $0.token > token }))
    }
  }

  @Test("A token of a container that was erased is expired, and its new history begins")
  func erased() throws {
    let travel = try Travel()
    try travel.add("Rome")
    let token = try #require(try travel.history().last).token
    try travel.container.erase()
    #expect(throws: SwiftDataError.historyTokenExpired) {
      try travel.numbers(#Predicate { $0.token > token })
    }
    try travel.add("Oslo")
    #expect(try travel.history().count == 1)
  }

  @Test("The message of an expired token says what to do")
  func message() throws {
    let travel = try Travel()
    try travel.add("Rome", "Oslo", "Lima")
    let first = try travel.history()[0].token
    try travel.context().deleteHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    let error = try #require(
      throws: SwiftDataError.self, performing: { try travel.numbers(#Predicate { $0.token > first }) })
    #expect(error.code == SwiftDataError.historyTokenExpired.code && error.message.contains("purged"))
  }
}
