/// What keeps a transaction from being committed, with the rows in its way, all read from one state of the store.
///
/// Empty when nothing does any more: other writers may have removed the cause since the commit failed.
public struct TransactionConflicts: Sendable {
  /// A row by entity and key.
  public typealias Row = StoreBatchResult.Row

  /// Rows that want the values of a uniqueness constraint which one of them at most can have.
  public struct Uniqueness: Hashable, Sendable {
    /// Index of the entity that declares the constraint.
    public var entity: Int
    /// The names of the properties that have to be unique together.
    public var properties: [String]
    /// Rows of the transaction, in its order, new ones under the keys below zero that it gave them.
    public var rows: [Row]
    /// The row that has the values in the store, unless the transaction itself takes them away from it.
    public var stored: Row?

    /// Makes a conflict from its parts; see the properties.
    public init(entity: Int, properties: [String], rows: [Row], stored: Row?) {
      self.entity = entity
      self.properties = properties
      self.rows = rows
      self.stored = stored
    }
  }

  /// Rows that changed, vanished or, where the transaction inserts one under a key it chose, came into being. A
  /// row that was not expected to exist has the expected version 0.
  public var versions: [StoreError.RowConflict] = []
  /// Unique values that several rows want.
  public var uniqueness: [Uniqueness] = []
  /// The rows behind the conflicts as the store has them.
  public var rows: [RowBatch] = []

  /// Whether nothing is in the way of the transaction.
  public var isEmpty: Bool { versions.isEmpty && uniqueness.isEmpty }

  /// Makes a value without conflicts.
  public init() {}
}
