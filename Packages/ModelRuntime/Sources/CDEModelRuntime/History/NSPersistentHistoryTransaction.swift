public import CDEManagedModel
public import CDEPredicates
internal import CDEStore
public import Foundation

/// A save or batch request, as a store's history records it.
///
/// Immutable. Any isolation may use it.
nonisolated public final class NSPersistentHistoryTransaction: NSObject, NSFetchRequestResult,
  @unchecked Sendable
{
  // Guard: immutable.

  let record: StoreHistoryTransaction
  let model: ModelBinding
  let store: StoreHandle
  private let hasChanges: Bool
  private let place: NSPersistentHistoryToken?

  init(
    _ record: StoreHistoryTransaction, _ model: ModelBinding, _ store: StoreHandle, hasChanges: Bool,
    place: NSPersistentHistoryToken? = nil
  ) {
    self.record = record
    self.place = place
    self.model = model
    self.store = store
    self.hasChanges = hasChanges
    super.init()
  }

  /// The time of the commit.
  public var timestamp: Date { Date(timeIntervalSinceReferenceDate: record.timestamp) }
  /// The number of the transaction in its store. Numbers ascend in the order of the commits.
  public var transactionNumber: Int64 { record.number }
  /// The UUID of the store.
  public var storeID: String { store.identifier }
  /// The identifier of the program's bundle; its name where it has no bundle.
  public var bundleID: String { record.bundleIdentifier ?? "" }
  /// The name of the process.
  public var processID: String { record.processName ?? "" }
  /// The ``NSManagedObjectContext/name`` of the context; nil if it had none.
  public var contextName: String? { record.contextName }
  /// The ``NSManagedObjectContext/transactionAuthor`` of the context; nil if it had none.
  public var author: String? { record.author }
  /// The place after this transaction in the history of its store; in a sequence of
  /// ``NSManagedObjectContext/changes(after:)``, in the histories of all stores.
  public var token: NSPersistentHistoryToken {
    self.place ?? NSPersistentHistoryToken([store.identifier: HistoryPlace(record)])
  }

  /// The same transaction, with a token that names more stores.
  func at(_ place: NSPersistentHistoryToken) -> NSPersistentHistoryTransaction {
    NSPersistentHistoryTransaction(record, model, store, hasChanges: hasChanges, place: place)
  }

  /// The changes of single objects, in the order of their numbers; nil if the request did not ask for them. Made anew for
  /// each call.
  public var changes: [NSPersistentHistoryChange]? {
    hasChanges ? record.changes.map { NSPersistentHistoryChange($0, of: self) } : nil
  }

  /// A notification as of the save, with IDs, for `mergeChanges(fromContextDidSave:)`.
  ///
  /// Merged into a context of the same container, it also says which properties changed. Objects are read from the store when
  /// it is merged.
  public func objectIDNotification() -> Notification {
    let coordinator = store.persistentStore?.persistentStoreCoordinator
    let trace = coordinator?.recentCommits.trace(of: record.number, in: store)
    var counts: [StoreHistoryChange.Kind: Int] = [:]
    for change in record.changes { counts[change.kind, default: 0] += 1 }
    var ids = counts.mapValues { Set<NSManagedObjectID>(minimumCapacity: $0) }
    for change in record.changes {
      ids[change.kind, default: []].insert(
        NSManagedObjectID(binding: model.entities[change.entity], key: change.key, store: store))
    }
    return Notification(
      name: NSManagedObjectContext.didSaveObjectIDsNotification, object: nil,
      userInfo: [
        NSInsertedObjectIDsKey: ids[.inserted] ?? [], NSUpdatedObjectIDsKey: ids[.updated] ?? [],
        NSDeletedObjectIDsKey: ids[.deleted] ?? [],
        CommittedTransaction.userInfoKey: CommittedTransaction(
          record, model: model, store: store, trace: trace),
      ])
  }

  /// The entity of transactions, for requests with predicates on `author`, `bundleID`, `contextName`, `processID`,
  /// `storeID`, `timestamp` and `transactionNumber`.
  public class var entityDescription: NSEntityDescription? { HistoryEntities.transaction }

  /// A new request for transactions, to be given a predicate.
  public class var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? {
    NSFetchRequest<any NSFetchRequestResult>(entityName: HistoryEntities.transactionName)
  }

  public override var description: String {
    "<NSPersistentHistoryTransaction \(record.number) of \(store.identifier): author \(author ?? "nil"), "
      + "context \(contextName ?? "nil"), process \(processID), \(record.changes.count) changes>"
  }
}

extension NSPersistentHistoryTransaction: PredicateValueProviding {
  /// The value of a property, for predicates.
  ///
  /// - Throws: ``ManagedObjectError`` with code `.predicate` for another key.
  public func predicateValue(forKey key: String) throws -> PredicateValue {
    switch key {
    case "author": try PredicateValue(author)
    case "bundleID": try PredicateValue(record.bundleIdentifier)
    case "contextName": try PredicateValue(contextName)
    case "processID": try PredicateValue(record.processName)
    case "storeID": try PredicateValue(storeID)
    case "timestamp": try PredicateValue(timestamp)
    case "transactionNumber": try PredicateValue(transactionNumber)
    default:
      throw ManagedObjectError(
        .predicate,
        "Transactions of the history have no property \"\(key)\". They have author, bundleID, contextName, processID, "
          + "storeID, timestamp and transactionNumber.")
    }
  }

  /// Transactions are compared by identity.
  public var predicateReference: PredicateObject? { nil }
}
