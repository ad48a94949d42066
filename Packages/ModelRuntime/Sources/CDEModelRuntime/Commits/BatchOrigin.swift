@_spi(CDE) internal import CDEExecutors
internal import CDEStore

/// The effects of a batch request that the IDs of its result do not name, for contexts that merge these IDs.
///
/// The IDs of a result refer to it. A merge by IDs therefore gets the changed properties, the rows that
/// delete rules deleted, and the relationships that lost members. IDs made from URIs do not refer to it.
final class BatchOrigin: Sendable {
  /// The changed properties in the rows of the result, by concrete entity.
  let properties: [EntityIndex: PropertySet]
  /// The changes of other rows.
  let consequences: [CommittedTransaction.Change]
  let touched: Set<CommittedTransaction.Touch>

  init(
    properties: [EntityIndex: PropertySet], consequences: [CommittedTransaction.Change] = [],
    touched: Set<CommittedTransaction.Touch> = []
  ) {
    self.properties = properties
    self.consequences = consequences
    self.touched = touched
  }

  private let moved = Lock<[Int64: BatchOrigin]>([:])

  /// The same effects in the keys of another coordinator, which differ by a number.
  ///
  /// - Returns: the same instance for the same number, because it is what the IDs of one batch have in common.
  func moved(by number: Int64) -> BatchOrigin {
    if number == 0 { return self }
    return moved.withLock { known in
      if let origin = known[number] { return origin }
      let origin = BatchOrigin(
        properties: properties,
        consequences: consequences.map { change in
          var change = change
          change.key += number
          // The row has references in the other keys. It is read when it is needed.
          change.row = nil
          return change
        },
        touched: Set(touched.map { .init(entity: $0.entity, key: $0.key + number, slot: $0.slot) }))
      known[number] = origin
      return origin
    }
  }
}
