import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

@PersistentModel
final class Passport: NSManagedObject {
  @Attribute(.preserveValueOnDeletion)
  var number: String = ""
  @Attribute(.preserveValueOnDeletion)
  var issued: Date?
  var holder: String = ""
}

/// Apple's documentation of `NSPersistentHistoryChangeRequest` and its results is the source of the behaviour, unless a test says
/// "assumed".
@Suite("Persistent history")
struct HistoryTests {
  private func stack(in folder: URL? = nil) throws -> Stack {
    try Stack([Item.self, Category.self, Tag.self], in: folder, options: NSPersistentHistoryTrackingKey)
  }

  private func transactions(
    _ request: NSPersistentHistoryChangeRequest, _ context: NSManagedObjectContext
  ) throws -> [NSPersistentHistoryTransaction] {
    let result = try #require(try context.execute(request) as? NSPersistentHistoryResult)
    return try #require(result.result as? [NSPersistentHistoryTransaction])
  }

  private func all(_ context: NSManagedObjectContext) throws -> [NSPersistentHistoryTransaction] {
    try transactions(.fetchHistory(after: nil as NSPersistentHistoryToken?), context)
  }

  private func names(_ change: NSPersistentHistoryChange) -> [String]? {
    change.updatedProperties.map { $0.map(\.name).sorted() }
  }

  // MARK: Transactions and changes

  @Test("A save is a transaction with author, context, process and the changes of its objects")
  func transactions() throws {
    let stack = try stack()
    let context = stack.context()
    context.transactionAuthor = "me"
    context.name = "editor"
    let item = Item(context: context)
    item.title = "a"
    try context.save()
    item.title = "b"
    item.count = 3
    context.transactionAuthor = nil
    try context.save()
    let id = item.objectID
    context.delete(item)
    try context.save()
    let history = try all(context)
    #expect(history.map(\.transactionNumber) == [1, 2, 3])
    #expect(history.map(\.author) == ["me", nil, nil])
    #expect(history.map(\.contextName) == ["editor", "editor", "editor"])
    #expect(
      history.allSatisfy { $0.processID == ProcessInfo.processInfo.processName && !$0.bundleID.isEmpty })
    #expect(history.allSatisfy { abs($0.timestamp.timeIntervalSinceNow) < 600 })
    #expect(
      history.allSatisfy {
        $0.storeID == stack.container.persistentStoreCoordinator.persistentStores[0].identifier
      })
    let changes = history.flatMap { $0.changes ?? [] }
    #expect(changes.map(\.changeType) == [.insert, .update, .delete])
    #expect(changes.allSatisfy { $0.changedObjectID == id })
    #expect(changes.map(names) == [nil, ["count", "title"], nil])
    #expect(changes.map(\.changeID) == [1, 2, 3])
    #expect(changes[1].transaction?.transactionNumber == 2)
  }

  @Test("Relationships are changes of both objects")
  func relationships() throws {
    let stack = try stack()
    let context = stack.context()
    let (item, first, second, tag) = (
      Item(context: context), Category(context: context), Category(context: context), Tag(context: context)
    )
    item.category = first
    try context.save()
    item.category = second
    item.addToTags(tag)
    try context.save()
    let changes = try #require(try all(context)[1].changes)
    let byID = Dictionary(uniqueKeysWithValues: changes.map { ($0.changedObjectID, names($0)) })
    #expect(byID[item.objectID] == ["category", "tags"])
    #expect(byID[first.objectID] == ["items"])
    #expect(byID[second.objectID] == ["items"])
    #expect(byID[tag.objectID] == ["items"])
    #expect(changes.count == 4)
  }

  @Test("A deleted object leaves the values that its attributes preserve")
  func tombstones() throws {
    let stack = try Stack([Passport.self], options: NSPersistentHistoryTrackingKey)
    let context = stack.context()
    let (first, second) = (Passport(context: context), Passport(context: context))
    first.number = "A1"
    first.issued = Date(timeIntervalSinceReferenceDate: 1000)
    second.number = "B2"
    try context.save()
    let ids = [first.objectID, second.objectID]
    for passport in [first, second] { context.delete(passport) }
    try context.save()
    let changes = try #require(try all(context)[1].changes)
    let tombstones = ids.map { id in changes.first { $0.changedObjectID == id }?.tombstone }
    #expect(tombstones[0]?["number"] as? String == "A1")
    #expect(tombstones[0]?["issued"] as? Date == Date(timeIntervalSinceReferenceDate: 1000))
    #expect(tombstones[0]?["holder"] == nil)
    #expect(tombstones[1]?["number"] as? String == "B2")
    #expect(tombstones[1]?["issued"] == nil)
    #expect(try all(context)[0].changes?.allSatisfy { $0.tombstone == nil } == true)
  }

  @Test("Batch requests are transactions with the author of their context")
  func batches() throws {
    let stack = try stack()
    let context = stack.context()
    context.transactionAuthor = "import"
    _ = try context.execute(
      NSBatchInsertRequest(entityName: "Item", objects: [["title": "a"], ["title": "b"]]))
    let update = NSBatchUpdateRequest(entityName: "Item")
    update.propertiesToUpdate = ["count": 7]
    _ = try context.execute(update)
    _ = try context.execute(
      NSBatchDeleteRequest(fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: "Item")))
    let history = try all(context)
    #expect(history.map(\.author) == ["import", "import", "import"])
    #expect(
      history.map { $0.changes?.map(\.changeType) } == [
        [.insert, .insert], [.update, .update], [.delete, .delete],
      ])
    #expect(history[1].changes.map { $0.map(names) } == [["count"], ["count"]])
  }

  @Test("Without the option nothing is recorded, and the token is nil")
  func off() throws {
    let stack = try Stack()
    let context = stack.context()
    _ = Item(context: context)
    try context.save()
    #expect(try all(context).isEmpty)
    #expect(stack.container.persistentStoreCoordinator.currentPersistentHistoryToken(fromStores: nil) == nil)
  }

  @Test("A store with a history that is opened without the option can only be read, and a save says so")
  func opened() throws {
    let first = try stack()
    let context = first.context()
    Item(context: context).title = "a"
    try context.save()
    let coordinator = first.container.persistentStoreCoordinator
    try coordinator.remove(coordinator.persistentStores[0])
    let second = try Stack(in: first.folder)
    #expect(second.container.persistentStoreCoordinator.persistentStores[0].isReadOnly)
    let reader = second.context()
    #expect(try reader.fetch(Item.fetchRequest()).map(\.title) == ["a"])
    _ = Item(context: reader)
    let error = #expect(throws: ManagedObjectError.self) { try reader.save() }
    #expect(error?.message.contains("NSPersistentHistoryTrackingKey") == true)
  }

  // MARK: Requests

  @Test("Each result type has its form")
  func resultTypes() throws {
    let stack = try stack()
    let context = stack.context()
    let items = (0..<3).map { _ in Item(context: context) }
    try context.save()
    _ = Item(context: context)
    try context.save()
    func result(_ type: NSPersistentHistoryResultType) throws -> Any? {
      let request = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
      request.resultType = type
      let result = try #require(try context.execute(request) as? NSPersistentHistoryResult)
      #expect(result.resultType == type)
      return result.result
    }
    #expect(try result(.statusOnly) as? Bool == true)
    #expect(try result(.count) as? Int == 2)
    #expect(
      Set(try #require(try result(.objectIDs) as? [NSManagedObjectID])).isSuperset(of: items.map(\.objectID)))
    #expect(
      (try result(.transactionsOnly) as? [NSPersistentHistoryTransaction])?.map { $0.changes == nil } == [
        true, true,
      ])
    #expect((try result(.changesOnly) as? [NSPersistentHistoryChange])?.count == 4)
    #expect(
      (try result(.transactionsAndChanges) as? [NSPersistentHistoryTransaction])?.map { $0.changes?.count }
        == [3, 1])
    #expect(
      NSPersistentHistoryChangeRequest.fetchHistory(after: Date()).resultType == .transactionsAndChanges)
    #expect(NSPersistentHistoryChangeRequest.deleteHistory(before: Date()).resultType == .statusOnly)
  }

  @Test("A request begins after a token, a time or a transaction")
  func places() throws {
    let stack = try stack()
    let context = stack.context()
    var tokens: [NSPersistentHistoryToken?] = []
    for _ in 0..<3 {
      _ = Item(context: context)
      try context.save()
      tokens.append(stack.container.persistentStoreCoordinator.currentPersistentHistoryToken(fromStores: nil))
    }
    let history = try all(context)
    #expect(history.map(\.token) == tokens)
    func numbers(_ request: NSPersistentHistoryChangeRequest) throws -> [Int64] {
      try transactions(request, context).map(\.transactionNumber)
    }
    #expect(try numbers(.fetchHistory(after: tokens[0])) == [2, 3])
    #expect(try numbers(.fetchHistory(after: history[1])) == [3])
    #expect(try numbers(.fetchHistory(after: history[0].timestamp)) == [2, 3])
    #expect(try numbers(.fetchHistory(after: tokens[2])).isEmpty)
  }

  @Test("A filter by predicate finds transactions and changes")
  func filters() throws {
    let stack = try stack()
    let context = stack.context()
    for author in ["app", "widget", nil, "app"] {
      context.transactionAuthor = author
      _ = Item(context: context)
      if author == "widget" { _ = Category(context: context) }
      try context.save()
    }
    let request = try #require(NSPersistentHistoryTransaction.fetchRequest)
    request.predicate = NSPredicate(format: "author != %@", "app")
    #expect(try transactions(.fetchHistory(withFetch: request), context).map(\.author) == ["widget", nil])
    request.predicate = NSPredicate(format: "author = NULL OR transactionNumber > 3")
    request.sortDescriptors = [NSSortDescriptor(key: "transactionNumber", ascending: false)]
    let after = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
    after.fetchRequest = request
    #expect(try transactions(after, context).map(\.transactionNumber) == [4, 3])
    request.fetchLimit = 1
    #expect(try transactions(after, context).map(\.transactionNumber) == [4])
    let changes = try #require(NSPersistentHistoryChange.fetchRequest)
    let category = try #require(try context.fetch(Category.fetchRequest()).first)
    changes.predicate = NSPredicate(format: "changedObjectID = %@", category.objectID)
    let found = try transactions(.fetchHistory(withFetch: changes), context)
    #expect(found.map(\.author) == ["widget"])
    #expect(found[0].changes?.map(\.changedObjectID) == [category.objectID])
    changes.predicate = NSPredicate(format: "transaction.author = 'app' AND changeType = 0")
    let count = NSPersistentHistoryChangeRequest.fetchHistory(withFetch: changes)
    count.resultType = .count
    #expect((try context.execute(count) as? NSPersistentHistoryResult)?.result as? Int == 2)
  }

  @Test("A filter that can't be evaluated is an error that names the properties")
  func badFilters() throws {
    let stack = try stack()
    let context = stack.context()
    _ = Item(context: context)
    try context.save()
    let request = try #require(NSPersistentHistoryTransaction.fetchRequest)
    request.predicate = NSPredicate(format: "writer = 'a'")
    let error = #expect(throws: ManagedObjectError.self) {
      try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(withFetch: request))
    }
    #expect(error?.code == .predicate)
    #expect(error?.message.contains("contextName") == true)
    let other = NSFetchRequest<any NSFetchRequestResult>(entityName: "Item")
    let second = #expect(throws: ManagedObjectError.self) {
      try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(withFetch: other))
    }
    #expect(second?.code == .unsupportedRequest)
  }

  @Test("A purge keeps the transaction that the token names; earlier tokens expire with code 134301")
  func purging() throws {
    let stack = try stack()
    let context = stack.context()
    for _ in 0..<4 {
      _ = Item(context: context)
      try context.save()
    }
    let tokens = try all(context).map(\.token)
    let purge = NSPersistentHistoryChangeRequest.deleteHistory(before: tokens[2])
    purge.resultType = .count
    #expect((try context.execute(purge) as? NSPersistentHistoryResult)?.result as? Int == 2)
    #expect(try all(context).map(\.transactionNumber) == [3, 4])
    #expect(try transactions(.fetchHistory(after: tokens[1]), context).map(\.transactionNumber) == [3, 4])
    let error = #expect(throws: (any Error).self) {
      try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: tokens[0]))
    }
    #expect((error as? CocoaError)?.errorCode == 134301 || (error as NSError?)?.code == 134301)
    _ = try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: Date.distantFuture))
    #expect(try all(context).isEmpty)
    #expect(
      stack.container.persistentStoreCoordinator.currentPersistentHistoryToken(fromStores: nil) == tokens[3])
    _ = Item(context: context)
    try context.save()
    #expect(try all(context).map(\.transactionNumber) == [5])
  }

  @Test("A token can be archived, compared, and used by another run")
  func tokens() throws {
    let stack = try stack()
    let context = stack.context()
    let coordinator = stack.container.persistentStoreCoordinator
    let empty = try #require(
      coordinator.currentPersistentHistoryToken(fromStores: coordinator.persistentStores))
    _ = Item(context: context)
    try context.save()
    let token = try #require(coordinator.currentPersistentHistoryToken(fromStores: nil))
    #expect(empty != token)
    #expect(empty.compare(token) == .orderedAscending)
    #expect(token.compare(empty) == .orderedDescending)
    #expect(token.compare(token) == .orderedSame)
    let data = try NSKeyedArchiver.archivedData(withRootObject: token, requiringSecureCoding: true)
    let back = try #require(
      try NSKeyedUnarchiver.unarchivedObject(ofClass: NSPersistentHistoryToken.self, from: data))
    #expect(back == token)
    #expect(back.hash == token.hash)
    #expect(try transactions(.fetchHistory(after: back), context).isEmpty)
    #expect(try transactions(.fetchHistory(after: empty), context).count == 1)
  }

  @Test("A store of another coordinator is refused")
  func foreignStores() throws {
    let (one, two) = (try stack(), try stack())
    let request = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
    request.affectedStores = two.container.persistentStoreCoordinator.persistentStores
    let error = #expect(throws: ManagedObjectError.self) { try one.context().execute(request) }
    #expect(error?.code == .unsupportedRequest)
  }

  // MARK: Merging

  @Test(
    "Transactions of another container are merged in order, with their properties, and keep unsaved changes")
  func merging() throws {
    let (mine, theirs) = try {
      let first = try stack()
      return (first, try stack(in: first.folder))
    }()
    let writer = theirs.context()
    let (item, other, category) = (Item(context: writer), Item(context: writer), Category(context: writer))
    item.title = "old"
    item.category = category
    try writer.save()
    let reader = mine.context()
    let seen = try #require(try reader.fetch(Item.fetchRequest()).first { $0.title == "old" })
    let gone = try #require(try reader.fetch(Item.fetchRequest()).first { $0.title == "" })
    let seenCategory = try #require(seen.category)
    #expect(seenCategory.items == [seen])
    seen.count = 5
    reader.processPendingChanges()
    let token = mine.container.persistentStoreCoordinator.currentPersistentHistoryToken(fromStores: nil)

    item.title = "new"
    try writer.save()
    let added = Item(context: writer)
    added.title = "added"
    added.category = category
    item.category = nil
    writer.delete(other)
    try writer.save()

    let listener = Listener(reader)
    let news = try transactions(.fetchHistory(after: token), reader)
    #expect(news.count == 2)
    for transaction in news { reader.mergeChanges(fromContextDidSave: transaction.objectIDNotification()) }
    #expect(seen.title == "new")
    #expect(seen.count == 5)
    #expect(seen.category == nil)
    #expect(gone.managedObjectContext == nil)
    #expect(seenCategory.items.map(\.title) == ["added"])
    #expect(listener.names == ["change", "merge", "change", "merge"])
    #expect(reader.updatedObjects == [seen])
    try reader.save()
    writer.refreshAllObjects()
    #expect(item.count == 5)
    withExtendedLifetime((mine, theirs)) {}
  }
}
