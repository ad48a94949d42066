/// Marks models that others may inherit from, or that inherit from a model. These are all models except
/// `final` direct subclasses of `NSManagedObject`.
///
/// A class inherits its parent's conformances, and with them the type of its paths. Therefore this type has
/// no paths. Each class hides the inherited type of its paths by its own type.
public nonisolated struct CDHierarchyPaths: Sendable {
  /// Makes the marker.
  public init() {}
}
