/// Marks models that others may inherit from, or that inherit from one: all that are not `final`
/// descendants of `NSManagedObject` itself.
///
/// A class inherits its parent's conformances, and with them the type of its paths. So that type says only
/// this; the paths themselves have a type that each class hides by its own.
public nonisolated struct CDHierarchyPaths: Sendable {
  /// Makes a listener, to be stamped on commits by ``NSManagedObjectContext/addCommitListener(_:)``.
  public init() {}
}
