internal import CDEStore

/// The exceptional states of an object's values, until it is refreshed or rolled back. Few objects have any.
final class ObjectProblems {
  /// Errors of refused values, by slot. The attribute can't hold such a value and kept its old one.
  var refused: [SlotIndex: ManagedObjectError] = [:]
  /// The first read that failed and returned a value that is not stored.
  var unread: ManagedObjectError?
  /// Failed reads that were reported: names of properties, and the empty name for the row.
  var notedUnread: Set<String> = []
  /// Slots whose stored value was reported to be invalid for the property.
  var reported = PropertySet()
  /// Slots whose value was set without a change. They count as changed when another change makes a save write
  /// the object.
  var silent = PropertySet()
}
