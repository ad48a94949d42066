/// A section of a controller's result.
///
/// The object stays the same while the controller has the section, and follows its changes.
public protocol NSFetchedResultsSectionInfo {
  /// The value of the section key path as text; empty for nil, and for the one section of a controller without sections.
  var name: String { get }
  /// The title of the section in an index; nil if its name is empty.
  var indexTitle: String? { get }
  /// The number of objects in the section.
  var numberOfObjects: Int { get }
  /// The objects of the section, in order. The first call after a change makes the array.
  var objects: [Any]? { get }
}

/// What happened to an object or a section of a controller's result. The numbers are Core Data's.
public enum NSFetchedResultsChangeType: UInt, Sendable {
  /// It is new in the result.
  case insert = 1
  /// It left the result.
  case delete = 2
  /// It changed, and its place did, too.
  case move = 3
  /// It changed and kept its place among the other objects.
  case update = 4
}
