import CDEManagedModel
import CDEModelRuntime
@_spi(CDE) import CDESQLiteFaults
import Foundation
import Testing

@Suite("Streams of the history", .timeLimit(.minutes(10)))
struct HistoryStreamTests {
  private func stack(in folder: URL? = nil) throws -> Stack {
    try Stack(in: folder, options: NSPersistentHistoryTrackingKey)
  }

  private func save(_ count: Int, _ context: NSManagedObjectContext) throws {
    for _ in 0..<count {
      _ = Item(context: context)
      try context.save()
    }
  }

  @Test("A stream has the past and what follows, of this container and of others, each once and in order")
  func following() async throws {
    let mine = try stack()
    let theirs = try stack(in: mine.folder)
    let (here, there) = (mine.context(), theirs.context())
    try save(600, here)
    let reader = mine.container.newBackgroundContext()
    var iterator = reader.changes(after: nil).makeAsyncIterator()
    var last: NSPersistentHistoryTransaction?
    for number in 1...600 {
      last = try await iterator.next()
      #expect(last?.transactionNumber == Int64(number))
    }
    for number in 1...20 {
      try save(1, number.isMultiple(of: 2) ? here : there)
      last = try await iterator.next()
      #expect(last?.transactionNumber == Int64(600 + number))
      #expect(last?.changes?.map(\.changeType) == [.insert])
    }
    try save(3, there)
    var numbers: [Int64] = []
    for try await transaction in reader.changes(after: try #require(last).token) {
      numbers.append(transaction.transactionNumber)
      if numbers.count == 3 { break }
    }
    #expect(numbers == [621, 622, 623])
    withExtendedLifetime((mine, theirs)) {}
  }

  @Test("A stream over two stores has one token for both")
  func twoStores() async throws {
    let model = try NSManagedObjectModel.makeRuntimeModel(Item.self, Category.self, Tag.self, Passport.self)
    model.setEntities(model.entities.filter { $0.name == "Passport" }, forConfigurationName: "two")
    model.setEntities(model.entities.filter { $0.name != "Passport" }, forConfigurationName: "one")
    let container = NSPersistentContainer(name: "Two", managedObjectModel: model)
    let folder = ProcessFolder.newURL()
    container.persistentStoreDescriptions = ["one", "two"].map { name in
      let description = NSPersistentStoreDescription(url: folder.appendingPathComponent("\(name).sqlite"))
      description.configuration = name
      description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
      return description
    }
    container.loadPersistentStores { #expect($1 == nil) }
    let context = container.newBackgroundContext()
    try save(2, context)
    for _ in 0..<3 {
      Passport(context: context).number = "p"
      try context.save()
    }
    var token: NSPersistentHistoryToken?
    var counts: [String: Int] = [:]
    var count = 0
    for try await transaction in container.newBackgroundContext().changes(after: nil) {
      counts[transaction.storeID, default: 0] += 1
      token = transaction.token
      count += 1
      if count == 5 { break }
    }
    #expect(counts.values.sorted() == [2, 3])
    let current = container.persistentStoreCoordinator.currentPersistentHistoryToken(fromStores: nil)
    #expect(token == current)
  }

  @Test("A stream after a place whose successors were purged throws code 134301, again and again")
  func expired() async throws {
    let stack = try stack()
    let context = stack.context()
    try save(1, context)
    let coordinator = stack.container.persistentStoreCoordinator
    let old = try #require(coordinator.currentPersistentHistoryToken(fromStores: nil))
    try save(3, context)
    let new = try #require(coordinator.currentPersistentHistoryToken(fromStores: nil))
    _ = try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: new))
    var iterator = stack.container.newBackgroundContext().changes(after: old).makeAsyncIterator()
    for _ in 0..<2 {
      let error = await #expect(throws: NSError.self) { _ = try await iterator.next() }
      #expect(error?.code == 134301)
    }
    withExtendedLifetime(stack) {}
  }

  @Test("Without a history a stream is an error that names the option")
  func off() async throws {
    let stack = try Stack()
    var iterator = stack.container.newBackgroundContext().changes(after: nil).makeAsyncIterator()
    let error = await #expect(throws: NSError.self) { _ = try await iterator.next() }
    #expect("\(error as Any)".contains("NSPersistentHistoryTrackingKey"))
    withExtendedLifetime(stack) {}
  }

  @Test("A stream ends with its task")
  func cancelling() async throws {
    let stack = try stack()
    try save(1, stack.context())
    let (first, arrived) = AsyncStream.makeStream(of: Void.self)
    let context = stack.container.newBackgroundContext()
    let task = Task {
      var count = 0
      for try await _ in context.changes(after: nil) {
        count += 1
        arrived.yield()
      }
      return count
    }
    for await _ in first { break }
    task.cancel()
    #expect(try await task.value == 1)
    withExtendedLifetime(stack) {}
  }
}
