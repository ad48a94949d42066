internal import CDEStore

/// What a batch request did beyond the IDs of its result, for contexts that merge these IDs.
///
/// The IDs of a result carry it, so that a merge by IDs knows which properties changed, which rows delete rules
/// took along and which relationships lost members. IDs that were made of URIs carry nothing.
final class BatchOrigin: Sendable {
  /// What changed in the rows of the result, by concrete entity.
  let properties: [Int: PropertySet]
  /// What happened to further rows.
  let consequences: [CommittedTransaction.Change]
  let touched: Set<CommittedTransaction.Touch>

  init(
    properties: [Int: PropertySet], consequences: [CommittedTransaction.Change] = [],
    touched: Set<CommittedTransaction.Touch> = []
  ) {
    self.properties = properties
    self.consequences = consequences
    self.touched = touched
  }
}
