public import Foundation

// History, which stores here do not record. The types are declared with their members, so that the compiler says once what to
// use instead.

/// A place in the history of a store.
@available(
  *, unavailable,
  message: "Stores record no history. Observe NSManagedObjectContextDidSave for the changes of this process."
)
open class NSPersistentHistoryToken: NSObject {}

/// A save in the history of a store.
@available(
  *, unavailable,
  message: "Stores record no history. Observe NSManagedObjectContextDidSave for the changes of this process."
)
open class NSPersistentHistoryTransaction: NSObject {
  /// The entity of transactions.
  open class var entityDescription: NSEntityDescription? { nil }
  /// A request for transactions.
  open class var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? { nil }
  /// The time of the save.
  open var timestamp: Date { fatalError() }
  /// The changes of the save.
  open var changes: [NSPersistentHistoryChange]? { nil }
  /// The number of the save.
  open var transactionNumber: Int64 { 0 }
  /// The identifier of the store.
  open var storeID: String { "" }
  /// The identifier of the program.
  open var bundleID: String { "" }
  /// The identifier of the process.
  open var processID: String { "" }
  /// The name of the context.
  open var contextName: String? { nil }
  /// The author of the context.
  open var author: String? { nil }
  /// The place of the save in the history.
  open var token: NSPersistentHistoryToken { fatalError() }
  /// A notification to merge the save.
  open func objectIDNotification() -> Notification { fatalError() }
}

/// The change of one object in the history of a store.
@available(
  *, unavailable,
  message: "Stores record no history. Observe NSManagedObjectContextDidSave for the changes of this process."
)
open class NSPersistentHistoryChange: NSObject {
  /// The entity of changes.
  open class var entityDescription: NSEntityDescription? { nil }
  /// A request for changes.
  open class var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? { nil }
  /// The number of the change.
  open var changeID: Int64 { 0 }
  /// The object.
  open var changedObjectID: NSManagedObjectID { fatalError() }
  /// How it changed.
  open var changeType: NSPersistentHistoryChangeType { fatalError() }
  /// What a deleted object left.
  open var tombstone: [AnyHashable: Any]? { nil }
  /// The save.
  open var transaction: NSPersistentHistoryTransaction? { nil }
  /// The changed properties.
  open var updatedProperties: Set<NSPropertyDescription>? { nil }
}

/// A request for the history of a store.
@available(
  *, unavailable,
  message: "Stores record no history. Observe NSManagedObjectContextDidSave for the changes of this process."
)
open class NSPersistentHistoryChangeRequest: NSObject {
  /// What the request returns.
  open var resultType: NSPersistentHistoryResultType {
    get { fatalError() }
    set {}
  }
  /// A request that filters.
  open var fetchRequest: NSFetchRequest<any NSFetchRequestResult>?
  /// The place after which the history is read.
  open var token: NSPersistentHistoryToken? { nil }
  /// Reads the history after a time.
  open class func fetchHistory(after date: Date) -> Self { fatalError() }
  /// Reads the history after a place.
  open class func fetchHistory(after token: NSPersistentHistoryToken?) -> Self { fatalError() }
  /// Reads the history after a save.
  open class func fetchHistory(after transaction: NSPersistentHistoryTransaction?) -> Self { fatalError() }
  /// Reads the history with a filter.
  open class func fetchHistory(withFetch request: NSFetchRequest<any NSFetchRequestResult>) -> Self {
    fatalError()
  }
  /// Deletes the history before a time.
  open class func deleteHistory(before date: Date) -> Self { fatalError() }
  /// Deletes the history before a place.
  open class func deleteHistory(before token: NSPersistentHistoryToken?) -> Self { fatalError() }
  /// Deletes the history before a save.
  open class func deleteHistory(before transaction: NSPersistentHistoryTransaction?) -> Self { fatalError() }
}

/// The result of a request for the history of a store.
@available(
  *, unavailable,
  message: "Stores record no history. Observe NSManagedObjectContextDidSave for the changes of this process."
)
open class NSPersistentHistoryResult: NSPersistentStoreResult {
  /// The result.
  open var result: Any? { nil }
  /// What the request returns.
  open var resultType: NSPersistentHistoryResultType { fatalError() }
}

/// How an object changed in the history of a store.
@available(
  *, unavailable,
  message: "Stores record no history. Observe NSManagedObjectContextDidSave for the changes of this process."
)
public enum NSPersistentHistoryChangeType: Int, Sendable {
  /// Inserted.
  case insert = 0
  /// Changed.
  case update = 1
  /// Deleted.
  case delete = 2
}

/// What a request for the history of a store returns.
@available(
  *, unavailable,
  message: "Stores record no history. Observe NSManagedObjectContextDidSave for the changes of this process."
)
public enum NSPersistentHistoryResultType: Int, Sendable {
  /// Whether it succeeded.
  case statusOnly = 0
  /// IDs of objects.
  case objectIDs = 1
  /// A number.
  case count = 2
  /// Saves.
  case transactionsOnly = 3
  /// Changes.
  case changesOnly = 4
  /// Saves with their changes.
  case transactionsAndChanges = 5
}
