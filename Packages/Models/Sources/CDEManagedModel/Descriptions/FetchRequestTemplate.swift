public import Foundation

/// A fetch request as a model file describes it: a value, because requests themselves live in a higher layer.
@_spi(CDE) public struct FetchRequestTemplate: @unchecked Sendable {
  // Guard of @unchecked Sendable: predicates are immutable objects, and each copy of the value has its own
  // fields.

  /// One key of the sort order.
  public struct SortKey: Hashable, Sendable {
    /// Property names with dots.
    public var key: String
    /// Whether lower values come first.
    public var ascending: Bool
    /// Name of the comparing method, such as `localizedCompare:`; `nil` or `compare:` for the natural order.
    public var selector: String?

    /// Makes a sort key.
    ///
    /// - Parameters:
    ///   - key: Property names with dots.
    ///   - ascending: Whether lower values come first.
    ///   - selector: Name of the comparing method; `nil` for the natural order.
    public init(key: String, ascending: Bool, selector: String? = nil) {
      self.key = key
      self.ascending = ascending
      self.selector = selector
    }
  }

  /// Name of the requested entity.
  public var entityName: String
  /// The condition, which may contain `$NAME` variables; `nil` for all objects. A malformed condition of a
  /// model file contains its error, and a fetch throws it.
  public var predicate: NSPredicate?
  /// The sort order, most significant key first.
  public var sortKeys: [SortKey] = []
  /// The raw value of `NSFetchRequestResultType`: 0 objects, 1 object IDs, 2 dictionaries, 4 a count.
  public var resultType: UInt = 0
  /// The maximum number of results; 0 for all.
  public var fetchLimit = 0
  /// How many results are skipped.
  public var fetchOffset = 0
  /// The number of objects read at once; 0 for all.
  public var fetchBatchSize = 0
  /// Whether objects of sub-entities belong to the result.
  public var includesSubentities = true
  /// Whether the values are read together with the objects' IDs.
  public var includesPropertyValues = true
  /// Whether objects may be faults although their values were read.
  public var returnsObjectsAsFaults = true
  /// Whether unsaved changes of the context count.
  public var includesPendingChanges = true
  /// Whether equal results are returned once.
  public var returnsDistinctResults = false

  /// Makes a template for all objects of an entity.
  ///
  /// - Parameters:
  ///   - entityName: Name of the requested entity.
  ///   - predicate: The condition; `nil` for all objects.
  public init(entityName: String, predicate: NSPredicate? = nil) {
    self.entityName = entityName
    self.predicate = predicate
  }
}
