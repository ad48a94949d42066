import CDEManagedModel
import CDEModelRuntime
@_spi(CDE) import CDESQLiteFaults
import Foundation
import Testing

/// Tokens that name a place which the history of the store no longer has, or never had.
@Suite("Tokens of another history", .onSQLite)
struct HistoryTokenTests {
  private func open(_ folder: URL? = nil) throws -> Stack {
    try Stack([Item.self, Category.self, Tag.self], in: folder, options: NSPersistentHistoryTrackingKey)
  }

  private func save(_ count: Int, _ stack: Stack) throws {
    let context = stack.context()
    try context.performAndWait {
      for _ in 0..<count {
        _ = Item(context: context)
        try context.save()
      }
    }
  }

  private func token(_ stack: Stack) throws -> NSPersistentHistoryToken {
    try #require(stack.container.persistentStoreCoordinator.currentPersistentHistoryToken(fromStores: nil))
  }

  private func close(_ stack: Stack) throws {
    let coordinator = stack.container.persistentStoreCoordinator
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }

  /// A store with five transactions over which a copy was laid that has one, and the token of the fifth.
  private func restored() throws -> (Stack, NSPersistentHistoryToken) {
    let first = try open()
    let file = first.folder.appendingPathComponent("Test.sqlite")
    let backup = first.folder.appendingPathComponent("Backup.sqlite")
    try save(1, first)
    try close(first)
    try FileManager.default.copyItem(at: file, to: backup)
    let second = try open(first.folder)
    try save(4, second)
    let token = try token(second)
    try close(second)
    try FileManager.default.removeItem(at: file)
    try FileManager.default.copyItem(at: backup, to: file)
    // As a program keeps it.
    let data = try NSKeyedArchiver.archivedData(withRootObject: token, requiringSecureCoding: true)
    let kept = try NSKeyedUnarchiver.unarchivedObject(ofClass: NSPersistentHistoryToken.self, from: data)
    return (try open(first.folder), try #require(kept))
  }

  private func expectExpired(_ stack: Stack, _ token: NSPersistentHistoryToken, _ reason: String) async throws
  {
    let context = stack.context()
    let count = try await context.perform { try self.count(context) }
    let requests = [
      NSPersistentHistoryChangeRequest.fetchHistory(after: token), .deleteHistory(before: token),
    ]
    for request in requests {
      let error = #expect(throws: ManagedObjectError.self) {
        try context.performAndWait { _ = try context.execute(request) }
      }
      #expect(error?.code == .historyTokenExpired)
      #expect((error as? NSError)?.code == NSPersistentHistoryTokenExpiredError)
      #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
    }
    #expect(try await context.perform { try self.count(context) } == count)
    var reader = context.changes(after: token).makeAsyncIterator()
    await #expect(throws: (any Error).self) { _ = try await reader.next() }
  }

  private func count(_ context: NSManagedObjectContext) throws -> Int {
    let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
    request.resultType = .count
    let result = try context.execute(request) as? NSPersistentHistoryResult
    return try #require(result?.result as? NSNumber).intValue
  }

  @Test("A token that is newer than a restored store has expired, for readers, for a purge and for a stream")
  func newer() async throws {
    let (stack, token) = try restored()
    try await expectExpired(stack, token, "its history ends with 1")
  }

  @Test("It has expired too when other transactions have the number meanwhile")
  func overtaken() async throws {
    let (stack, token) = try restored()
    try save(9, stack)
    try await expectExpired(stack, token, "its transaction of this number is another one")
    // A token of the new history is valid, and so is one of the transaction that both histories have.
    let context = stack.context()
    let all = try await context.perform {
      let result = try context.execute(
        NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?))
      return ((result as? NSPersistentHistoryResult)?.result as? [NSPersistentHistoryTransaction]) ?? []
    }
    for (index, transaction) in all.enumerated() {
      let request = NSPersistentHistoryChangeRequest.fetchHistory(after: transaction.token)
      request.resultType = .count
      let left = try await context.perform {
        (try context.execute(request) as? NSPersistentHistoryResult)?.result as? NSNumber
      }
      #expect(left?.intValue == all.count - 1 - index)
    }
  }

  @Test("A token of an empty history expires when the first transaction is purged, and not before")
  func empty() async throws {
    let stack = try open()
    let (token, context) = (try token(stack), stack.context())
    try save(2, stack)
    let after = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
    after.resultType = .count
    let read = try await context.perform {
      (try context.execute(after) as? NSPersistentHistoryResult)?.result as? NSNumber
    }
    #expect(read?.intValue == 2)
    var reader = context.changes(after: token).makeAsyncIterator()
    #expect(try await reader.next()?.transactionNumber == 1)
    let purge = NSPersistentHistoryChangeRequest.deleteHistory(before: try self.token(stack))
    try await context.perform { _ = try context.execute(purge) }
    let error = await context.perform {
      #expect(throws: ManagedObjectError.self) { _ = try context.execute(after) }
    }
    #expect(error?.code == .historyTokenExpired)
    #expect(
      error?.message.contains("later ones were purged: its history begins at 2") == true,
      "\(error?.message ?? "")")
    var late = context.changes(after: token).makeAsyncIterator()
    await #expect(throws: (any Error).self) { _ = try await late.next() }
    // Without a token what is left is read.
    let all = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
    all.resultType = .count
    let left = try await context.perform {
      (try context.execute(all) as? NSPersistentHistoryResult)?.result as? NSNumber
    }
    #expect(left?.intValue == 1)
  }

  @Test("A token of another store has expired; a store that a token does not name is read from its beginning")
  func otherStore() async throws {
    let (mine, others) = (try open(), try open())
    try save(3, mine)
    try save(3, others)
    try await expectExpired(mine, try token(others), "the file was replaced, or the token is another store's")
    let coordinator = mine.container.persistentStoreCoordinator
    let known = try token(mine)
    _ = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil,
      at: mine.folder.appendingPathComponent("Second.sqlite"),
      options: [NSPersistentHistoryTrackingKey: true as NSNumber])
    let context = mine.context()
    try context.performAndWait {
      let item = Item(context: context)
      context.assign(item, to: coordinator.persistentStores[1])
      try context.save()
      let request = NSPersistentHistoryChangeRequest.fetchHistory(after: known)
      request.resultType = .count
      #expect(
        ((try context.execute(request) as? NSPersistentHistoryResult)?.result as? NSNumber)?.intValue == 1)
    }
  }
}
