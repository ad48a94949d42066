/// New rows of one entity that one transaction inserts. They need not be in memory at the same time.
public struct StoreInsertion {
  /// Index of the rows' concrete entity.
  public let entity: EntityIndex
  /// The number of rows.
  public let count: Int
  /// The author of the transaction, for the history.
  public var author: String?
  /// The name of the context that makes the request, for the history.
  public var contextName: String?
  /// The greatest key that a new row may get. With a greater one the insertion fails with `.full`.
  public var keyLimit = Int64.max
  private let source: (_ body: (RowBatch) throws(StoreError) -> Void) throws(StoreError) -> Void

  /// Makes an insertion.
  ///
  /// - Parameters:
  ///   - entity: the index of the rows' concrete entity.
  ///   - count: the number of rows.
  ///   - source: calls a body with all rows, batch by batch. Their pending keys are `-1`, `-2` and so on, in this order, and their
  ///     relationships are empty. It may be called again, and then calls the body with the same rows. What it throws ends the insertion.
  public init(
    of entity: EntityIndex, count: Int,
    _ source: @escaping (_ body: (RowBatch) throws(StoreError) -> Void) throws(StoreError) -> Void
  ) {
    self.entity = entity
    self.count = count
    self.source = source
  }

  /// Calls a body with all rows, batch by batch.
  ///
  /// - Throws: the errors of the source and of the body, and `.engine` if the source has another number of rows.
  public func forEachBatch(_ body: (RowBatch) throws(StoreError) -> Void) throws(StoreError) {
    var found = 0
    try source { (batch) throws(StoreError) in
      found += batch.count
      if found <= count { try body(batch) }
    }
    guard found == count else {
      throw StoreError(
        .engine,
        "The source of an insertion has \(found) rows, and not \(count) as it says. Correct the number.")
    }
  }

  /// The same insertion with all rows in memory.
  public func transaction() throws(StoreError) -> StoreTransaction {
    var transaction = StoreTransaction()
    (transaction.author, transaction.contextName) = (author, contextName)
    (transaction.keyLimit, transaction.isBatch) = (keyLimit, true)
    try forEachBatch { batch in transaction.inserted.append(batch) }
    return transaction
  }
}
