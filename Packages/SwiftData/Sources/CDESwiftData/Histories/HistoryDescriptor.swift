public import Foundation

/// Which transactions of the history to fetch or to delete, their order and number.
///
/// ```swift
/// var newest = HistoryDescriptor<DefaultHistoryTransaction>()
/// newest.sortBy = [SortDescriptor(\.transactionIdentifier, order: .reverse)]
/// newest.fetchLimit = 1
/// let token = try context.fetchHistory(newest).first?.token
/// ```
public struct HistoryDescriptor<TransactionType: HistoryTransaction>: Sendable {
  /// The condition for the transactions; nil for all.
  public var predicate: Predicate<TransactionType>?
  /// The maximum number of transactions; 0 for all.
  public var fetchLimit: UInt64
  /// The order of the transactions. Without one they are in the order of their commits.
  public var sortBy: [SortDescriptor<TransactionType>]

  /// Makes a descriptor of all transactions that satisfy a predicate, in an order.
  public init(
    predicate: Predicate<TransactionType>? = nil, fetchLimit: UInt64 = 0,
    sortBy: [SortDescriptor<TransactionType>] = []
  ) {
    self.predicate = predicate
    self.fetchLimit = fetchLimit
    self.sortBy = sortBy
  }
}

/// A store of an application's own that has a history.
///
/// ``ModelContext/fetchHistory(_:)`` and ``ModelContext/deleteHistory(_:)`` ask each store of the container whose transactions are of
/// the descriptor's type. The calls follow the other calls of the store, one at a time. As in SwiftData.
public protocol HistoryProviding: DataStore {
  /// The kind of its transactions.
  associatedtype HistoryType: HistoryTransaction

  /// The transactions that a descriptor finds.
  func fetchHistory(_ descriptor: HistoryDescriptor<HistoryType>) throws -> [HistoryType]
  /// Removes the transactions that a descriptor finds.
  func deleteHistory(_ descriptor: HistoryDescriptor<HistoryType>) throws
}
