@_spi(CDE) internal import CDEModelRuntime
public import Foundation

/// A save, as the history of a store records it. ``DefaultHistoryTransaction`` is that of this library's stores.
public protocol HistoryTransaction: Sendable {
  /// A place in the history.
  associatedtype TokenType: HistoryToken
  /// What tells the transactions of a store apart.
  associatedtype TransactionIdentifier: Hashable, Sendable

  /// The ``ModelContext/author`` of the context that saved; nil if it had none.
  var author: String? { get }
  /// The identifier of the program's bundle.
  var bundleIdentifier: String { get }
  /// What the save did to each model.
  var changes: [HistoryChange] { get }
  /// The name of the process.
  var processIdentifier: String { get }
  /// The identifier of the store.
  var storeIdentifier: String { get }
  /// The time of the commit.
  var timestamp: Date { get }
  /// The place after this transaction.
  var token: TokenType { get }
  /// The identity of the transaction in its store.
  var transactionIdentifier: TransactionIdentifier { get }
}

/// A save, as the history of one of this library's stores records it.
///
/// A value: it may be passed to other actors. As in SwiftData.
public struct DefaultHistoryTransaction: HistoryTransaction {
  public typealias TokenType = DefaultHistoryToken
  public typealias TransactionIdentifier = Int64

  /// The ``ModelContext/author`` of the context that saved; nil if it had none.
  public var author: String? { record.author }
  /// The identifier of the program's bundle; the name of the process where it has no bundle.
  public var bundleIdentifier: String { record.bundleID }
  /// The name of the process.
  public var processIdentifier: String { record.processID }
  /// The UUID of the store.
  public var storeIdentifier: String { record.storeID }
  /// The time of the commit.
  public var timestamp: Date { record.timestamp }
  /// The number of the transaction in its store. Numbers ascend in the order of the commits, and are never used again.
  public var transactionIdentifier: Int64 { record.transactionNumber }
  /// The place after this transaction.
  public let token: DefaultHistoryToken

  /// What the save did to each model, in the order in which it was recorded. Made anew for each call.
  ///
  /// A change of a model whose class the container's schema lacks is left out.
  public var changes: [HistoryChange] {
    (record.changes ?? []).compactMap { HistoryChange($0, schema) }
  }

  let record: NSPersistentHistoryTransaction
  private let schema: PreparedSchema

  init(
    _ record: NSPersistentHistoryTransaction, _ schema: PreparedSchema, token: DefaultHistoryToken
  ) {
    self.record = record
    self.schema = schema
    self.token = token
  }
}

extension DefaultHistoryTransaction: CustomStringConvertible {
  public var description: String {
    "<DefaultHistoryTransaction \(transactionIdentifier) of \(storeIdentifier): author \(author ?? "nil"), "
      + "process \(processIdentifier), \(record.changes?.count ?? 0) changes>"
  }
}
