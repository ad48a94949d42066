/// The reasons why a transaction can't be committed, with the rows involved, all read from one state of the
/// store.
///
/// Empty when there is no reason any more. Other writers may have removed the cause since the commit failed.
public struct TransactionConflicts: Sendable {
  /// A row by entity and key.
  public typealias Row = StoreBatchResult.Row

  /// Rows with the same values of a uniqueness constraint, which at most one row can have.
  public struct Uniqueness: Hashable, Sendable {
    /// Index of the entity that declares the constraint.
    public var entity: EntityIndex
    /// The names of the properties whose combined values must be unique.
    public var properties: [String]
    /// Rows of the transaction, in its order. New rows have their keys in the transaction, below zero.
    public var rows: [Row]
    /// The row that has the values in the store, unless the transaction itself removes them from it.
    public var stored: Row?

    /// Makes a conflict from its parts; see the properties.
    public init(entity: EntityIndex, properties: [String], rows: [Row], stored: Row?) {
      self.entity = entity
      self.properties = properties
      self.rows = rows
      self.stored = stored
    }
  }

  /// Rows that changed, were deleted, or exist although the transaction inserts one under their key. A row
  /// that was not expected to exist has the expected version 0.
  public var versions: [StoreError.RowConflict] = []
  /// Unique values that several rows have.
  public var uniqueness: [Uniqueness] = []
  /// The rows of the conflicts, as stored.
  public var rows: [RowBatch] = []

  /// Whether there is no conflict.
  public var isEmpty: Bool { versions.isEmpty && uniqueness.isEmpty }

  /// Makes a value without conflicts.
  public init() {}
}
