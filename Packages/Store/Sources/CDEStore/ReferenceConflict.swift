/// A reference that would lead to a row that is not there once a transaction is committed.
///
/// It has one of two causes. Another writer deleted a row that the transaction refers to, or another writer
/// referred to a row that the transaction deletes.
public struct ReferenceConflict: Hashable, Sendable {
  /// A row by entity and key.
  public typealias Row = StoreBatchResult.Row

  /// The row that refers. A new row has the key below zero that the transaction gave it.
  public var row: Row
  /// The relationship's slot in the entity of ``row``; nil where only the pair of the two rows is known.
  public var slot: Int?
  /// The row that is not there. Its entity is the relationship's destination, or a parent of the row's own.
  public var target: Row
  /// Whether the transaction itself deletes the target.
  public var isDeletedHere: Bool

  /// Makes a conflict from its parts; see the properties.
  public init(row: Row, slot: Int?, target: Row, isDeletedHere: Bool) {
    self.row = row
    self.slot = slot
    self.target = target
    self.isDeletedHere = isDeletedHere
  }
}
