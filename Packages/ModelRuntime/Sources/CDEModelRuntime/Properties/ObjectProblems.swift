internal import CDEStore

/// The exceptional states of an object's values, until it is refreshed or rolled back. Few objects have any.
final class ObjectProblems {
  /// Errors of refused values, by slot. The attribute can't hold such a value, and kept the one it had.
  var refused: [Int: ManagedObjectError] = [:]
  /// The first read that failed and was answered with something that is not stored.
  var unread: ManagedObjectError?
  /// What could not be read and was reported: names of properties, and the empty one for the row.
  var notedUnread: Set<String> = []
  /// Slots whose stored value was reported to be none that the property can have.
  var reported = PropertySet()
  /// Slots whose value was set without a change. They count as changed once something else has the object saved.
  var silent = PropertySet()
}
