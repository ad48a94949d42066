import CDECoreData
@_spi(CDE) import CDESQLiteFaults
import Testing

@Suite("The interface of histories")
struct HistoryInterfaceTests {
  private typealias Request = NSFetchRequest<any NSFetchRequestResult>

  @Test("A request for the history has Core Data's members")
  func request() {
    typealias HistoryRequest = NSPersistentHistoryChangeRequest
    let _: NSPersistentStoreRequest.Type = NSPersistentHistoryChangeRequest.self
    let _: (Date) -> HistoryRequest = NSPersistentHistoryChangeRequest.fetchHistory(after:)
    let _: (NSPersistentHistoryToken?) -> HistoryRequest = NSPersistentHistoryChangeRequest.fetchHistory(
      after:)
    let _: (NSPersistentHistoryTransaction?) -> HistoryRequest =
      NSPersistentHistoryChangeRequest.fetchHistory(after:)
    let _: (Request) -> HistoryRequest = NSPersistentHistoryChangeRequest.fetchHistory(withFetch:)
    let _: (Date) -> HistoryRequest = NSPersistentHistoryChangeRequest.deleteHistory(before:)
    let _: (NSPersistentHistoryToken?) -> HistoryRequest =
      NSPersistentHistoryChangeRequest.deleteHistory(before:)
    let _: (NSPersistentHistoryTransaction?) -> HistoryRequest =
      NSPersistentHistoryChangeRequest.deleteHistory(before:)
    let _: ReferenceWritableKeyPath<HistoryRequest, NSPersistentHistoryResultType> =
      \NSPersistentHistoryChangeRequest.resultType
    let _: ReferenceWritableKeyPath<HistoryRequest, Request?> = \NSPersistentHistoryChangeRequest.fetchRequest
    let _: KeyPath<HistoryRequest, NSPersistentHistoryToken?> = \NSPersistentHistoryChangeRequest.token
    let types: [NSPersistentHistoryResultType] = [
      NSPersistentHistoryResultType.statusOnly, NSPersistentHistoryResultType.objectIDs,
      NSPersistentHistoryResultType.count, NSPersistentHistoryResultType.transactionsOnly,
      NSPersistentHistoryResultType.changesOnly, NSPersistentHistoryResultType.transactionsAndChanges,
    ]
    #expect(types.map(\.rawValue) == [0, 1, 2, 3, 4, 5])
    let request = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
    #expect(request.resultType == .transactionsAndChanges && request.fetchRequest == nil)
  }

  @Test("A history's transactions and changes have Core Data's members")
  func history() throws {
    typealias Transaction = NSPersistentHistoryTransaction
    typealias Change = NSPersistentHistoryChange
    let _: any NSSecureCoding.Type = NSPersistentHistoryToken.self
    let _: any NSFetchRequestResult.Type = NSPersistentHistoryTransaction.self
    let _: NSEntityDescription? = NSPersistentHistoryTransaction.entityDescription
    let _: Request? = NSPersistentHistoryTransaction.fetchRequest
    let _: KeyPath<Transaction, [NSPersistentHistoryChange]?> = \NSPersistentHistoryTransaction.changes
    let _: KeyPath<Transaction, Date> = \NSPersistentHistoryTransaction.timestamp
    let _: KeyPath<Transaction, Int64> = \NSPersistentHistoryTransaction.transactionNumber
    let _: KeyPath<Transaction, String> = \NSPersistentHistoryTransaction.storeID
    let _: KeyPath<Transaction, String> = \NSPersistentHistoryTransaction.bundleID
    let _: KeyPath<Transaction, String> = \NSPersistentHistoryTransaction.processID
    let _: KeyPath<Transaction, String?> = \NSPersistentHistoryTransaction.contextName
    let _: KeyPath<Transaction, String?> = \NSPersistentHistoryTransaction.author
    let _: KeyPath<Transaction, NSPersistentHistoryToken> = \NSPersistentHistoryTransaction.token
    let _: (Transaction) -> () -> Notification = NSPersistentHistoryTransaction.objectIDNotification
    let _: NSEntityDescription? = NSPersistentHistoryChange.entityDescription
    let _: Request? = NSPersistentHistoryChange.fetchRequest
    let _: KeyPath<Change, Int64> = \NSPersistentHistoryChange.changeID
    let _: KeyPath<Change, NSManagedObjectID> = \NSPersistentHistoryChange.changedObjectID
    let _: KeyPath<Change, NSPersistentHistoryChangeType> = \NSPersistentHistoryChange.changeType
    let _: KeyPath<Change, [AnyHashable: Any]?> = \NSPersistentHistoryChange.tombstone
    let _: KeyPath<Change, NSPersistentHistoryTransaction?> = \NSPersistentHistoryChange.transaction
    let _: KeyPath<Change, Set<NSPropertyDescription>?> = \NSPersistentHistoryChange.updatedProperties
    let _: KeyPath<NSPersistentHistoryResult, Any?> = \NSPersistentHistoryResult.result
    let _: KeyPath<NSPersistentHistoryResult, NSPersistentHistoryResultType> =
      \NSPersistentHistoryResult.resultType
    let types: [NSPersistentHistoryChangeType] = [
      NSPersistentHistoryChangeType.insert, NSPersistentHistoryChangeType.update,
      NSPersistentHistoryChangeType.delete,
    ]
    #expect(types.map(\.rawValue) == [0, 1, 2])

    let container = NSPersistentContainer(name: "Notes", managedObjectModel: makeModel())
    let description = NSPersistentStoreDescription(
      url: ProcessFolder.newURL().appendingPathComponent("Notes.sqlite"))
    description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
    container.persistentStoreDescriptions = [description]
    container.loadPersistentStores { _, error in #expect(error == nil) }
    let context = container.newBackgroundContext()
    try context.performAndWait {
      (context.name, context.transactionAuthor) = ("A", "tests")
      let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
      note.setValue("A", forKey: "title")
      try context.save()
      let all = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
      let result = try #require(try context.execute(all) as? NSPersistentHistoryResult)
      let transaction = try #require((result.result as? [NSPersistentHistoryTransaction])?.first)
      #expect(transaction.author == "tests" && transaction.contextName == "A")
      #expect(transaction.changes?.map(\.changeType) == [.insert])
      #expect(transaction.changes?.first?.changedObjectID == note.objectID)
      let ids = transaction.objectIDNotification().userInfo?[NSInsertedObjectIDsKey]
      #expect(ids as? Set<NSManagedObjectID> == [note.objectID])
    }
  }

  @Test("A token of a generation is the newest one")
  func generations() throws {
    let current: NSQueryGenerationToken = NSQueryGenerationToken.current
    let _: any NSCopying.Type = NSQueryGenerationToken.self
    let stack = try Stack()
    let context = stack.container.newBackgroundContext()
    try context.performAndWait {
      #expect(context.queryGenerationToken == nil)
      try context.setQueryGenerationFrom(current)
      #expect(context.queryGenerationToken != nil)
    }
  }
}
