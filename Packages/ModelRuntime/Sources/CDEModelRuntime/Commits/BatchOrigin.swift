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
}
