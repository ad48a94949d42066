public import Foundation

/// What a request for the history returns.
public enum NSPersistentHistoryResultType: Int, Sendable {
  /// Whether it succeeded, as an `NSNumber`.
  case statusOnly = 0
  /// The IDs of the changed objects.
  case objectIDs = 1
  /// The number of transactions, or of changes if the request is for changes.
  case count = 2
  /// Transactions without their changes.
  case transactionsOnly = 3
  /// Changes.
  case changesOnly = 4
  /// Transactions with their changes.
  case transactionsAndChanges = 5
}

/// Reads or purges the history of stores. A context carries it out: `context.execute(request)`.
///
/// ```swift
/// let request = NSPersistentHistoryChangeRequest.fetchHistory(after: lastToken)
/// let result = try context.execute(request) as? NSPersistentHistoryResult
/// for transaction in result?.result as? [NSPersistentHistoryTransaction] ?? [] {
///   context.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
///   lastToken = transaction.token
/// }
/// ```
///
/// A request applies to all stores of the context's coordinator, or to its `affectedStores`. Stores without a history have no
/// transactions. Reading costs one look-up for each transaction and reads each change once; predicates are evaluated in memory.
nonisolated public final class NSPersistentHistoryChangeRequest: NSPersistentStoreRequest, @unchecked Sendable
{
  // Guard: configured by one owner, afterwards only read.

  enum Place {
    case start
    case date(Date)
    case token(NSPersistentHistoryToken)
  }

  enum Operation {
    case fetch(after: Place)
    case delete(before: Place)
  }

  let operation: Operation
  /// What the request returns; by default transactions with their changes, and the status for a purge.
  public var resultType: NSPersistentHistoryResultType
  /// Filters, sorts and limits the result: a request for ``NSPersistentHistoryTransaction`` or
  /// ``NSPersistentHistoryChange``. With a filter for changes, transactions that have none of them are left out.
  public var fetchRequest: NSFetchRequest<any NSFetchRequestResult>?

  private init(_ operation: Operation) {
    self.operation = operation
    if case .fetch = operation { resultType = .transactionsAndChanges } else { resultType = .statusOnly }
    super.init()
  }

  /// The place that the request begins after or ends before; nil for a time, and for the beginning.
  public var token: NSPersistentHistoryToken? {
    switch operation {
    case .fetch(.token(let token)), .delete(.token(let token)): token
    default: nil
    }
  }

  /// Reads the transactions committed after a time.
  public static func fetchHistory(after date: Date) -> NSPersistentHistoryChangeRequest {
    Self(.fetch(after: .date(date)))
  }

  /// Reads the transactions after a place; all of them for nil, and of stores that the token does not name.
  ///
  /// Carrying it out throws code `.historyTokenExpired` if transactions after the place were purged, or if the place is in no
  /// history of the coordinator's stores: a backup was restored, or the file is another store.
  public static func fetchHistory(after token: NSPersistentHistoryToken?) -> NSPersistentHistoryChangeRequest
  {
    Self(.fetch(after: token.map { .token($0) } ?? .start))
  }

  /// Reads the transactions after another one, in the same store; all of them for nil.
  public static func fetchHistory(
    after transaction: NSPersistentHistoryTransaction?
  ) -> NSPersistentHistoryChangeRequest {
    fetchHistory(after: transaction?.token)
  }

  /// Reads the transactions that a filter finds.
  ///
  /// - Parameter request: A request for ``NSPersistentHistoryTransaction`` or ``NSPersistentHistoryChange``.
  public static func fetchHistory(
    withFetch request: NSFetchRequest<any NSFetchRequestResult>
  ) -> NSPersistentHistoryChangeRequest {
    let result = Self(.fetch(after: .start))
    result.fetchRequest = request
    return result
  }

  /// Purges the transactions committed before a time.
  public static func deleteHistory(before date: Date) -> NSPersistentHistoryChangeRequest {
    Self(.delete(before: .date(date)))
  }

  /// Purges the transactions before a place, without the last one that the token knows; nothing for nil.
  ///
  /// Tokens of this place stay valid. Earlier ones expire. Carrying it out throws code `.historyTokenExpired`, and purges
  /// nothing, if the place is in no history of the coordinator's stores.
  public static func deleteHistory(before token: NSPersistentHistoryToken?)
    -> NSPersistentHistoryChangeRequest
  {
    Self(.delete(before: token.map { .token($0) } ?? .start))
  }

  /// Purges the transactions before another one, in the same store; nothing for nil.
  public static func deleteHistory(
    before transaction: NSPersistentHistoryTransaction?
  ) -> NSPersistentHistoryChangeRequest {
    deleteHistory(before: transaction?.token)
  }
}

/// The result of a request for the history.
nonisolated public final class NSPersistentHistoryResult: NSPersistentStoreResult, @unchecked Sendable {
  // Guard: immutable.

  /// The result in the form of ``resultType``: an `NSNumber`, or an array of ``NSPersistentHistoryTransaction``,
  /// ``NSPersistentHistoryChange`` or ``NSManagedObjectID``.
  public let result: Any?
  /// What the request asked for.
  public let resultType: NSPersistentHistoryResultType

  init(_ result: Any, _ type: NSPersistentHistoryResultType) {
    self.result = result
    resultType = type
    super.init()
  }
}
