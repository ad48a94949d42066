/// A reference that would lead to no row after a transaction.
///
/// It has one of two causes. Another writer deleted a row that the transaction refers to, or another writer
/// referred to a row that the transaction deletes.
public struct ReferenceConflict: Hashable, Sendable {
  /// A row by entity and key.
  public typealias Row = StoreBatchResult.Row

  /// The row that contains the reference. A new row has its key in the transaction, below zero.
  public var row: Row
  /// The relationship's slot in the entity of ``row``; nil where only the pair of the two rows is known.
  public var slot: SlotIndex?
  /// The missing row. Its entity is the relationship's destination, or an ancestor of the row's own entity.
  public var target: Row
  /// Whether the transaction itself deletes the target.
  public var isDeletedHere: Bool

  /// Makes a conflict from its parts; see the properties.
  public init(row: Row, slot: SlotIndex?, target: Row, isDeletedHere: Bool) {
    self.row = row
    self.slot = slot
    self.target = target
    self.isDeletedHere = isDeletedHere
  }
}
