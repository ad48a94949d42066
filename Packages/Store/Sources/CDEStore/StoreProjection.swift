/// A fetch of values that are computed from rows, instead of the rows themselves: some columns, or one result for
/// each group of rows.
///
/// Without ``grouping`` and without an aggregate in ``columns``, each row that the condition finds gives one
/// result. With an aggregate but without grouping, all rows together give one result, even if there are none.
/// With grouping, rows with equal values of all its expressions give one result.
///
/// In a grouped result each column, the condition on groups and the order are made of constants, of expressions in
/// ``grouping``, and of ``StoreExpression/group(_:_:)``.
public struct StoreProjection: Hashable, Sendable {
  /// Index of the entity whose rows are read.
  public var entity: EntityIndex
  /// Whether rows of the entities that inherit from ``entity`` are included.
  public var includesSubentities: Bool
  /// The condition for rows; `.constant(true)` for all rows.
  public var filter: StoreFilter
  /// The values of each result.
  public var columns: [Column]
  /// The values that are equal for the rows of a group.
  public var grouping: [StoreExpression]
  /// The condition for groups.
  public var having: StoreFilter
  /// Whether equal results are returned once.
  public var isDistinct: Bool
  /// The order of the results, with the most significant criterion first.
  public var sort: [StoreSort]
  /// The maximum number of results; `nil` for all.
  public var limit: Int?
  /// The number of results to skip at the start of the order.
  public var offset: Int

  /// One value of each result.
  public enum Column: Hashable, Sendable {
    case value(StoreExpression)
    /// The object at the end of a path over to-one hops, as a `.reference` with the concrete entity. The path ends
    /// in `.object`.
    case object(StorePath)
  }

  /// Makes a projection; see the properties.
  public init(
    entity: EntityIndex, includesSubentities: Bool = true, filter: StoreFilter = .constant(true),
    columns: [Column], grouping: [StoreExpression] = [], having: StoreFilter = .constant(true),
    isDistinct: Bool = false, sort: [StoreSort] = [], limit: Int? = nil, offset: Int = 0
  ) {
    self.entity = entity
    self.includesSubentities = includesSubentities
    self.filter = filter
    self.columns = columns
    self.grouping = grouping
    self.having = having
    self.isDistinct = isDistinct
    self.sort = sort
    self.limit = limit
    self.offset = offset
  }
}

/// The results of a ``StoreProjection``, in order.
public struct ProjectedRows: Hashable, Sendable {
  /// The number of values of each result.
  public let columnCount: Int
  /// All values, result after result.
  public private(set) var values: [StoreValue] = []

  /// Makes an empty list of results.
  ///
  /// - Parameter columnCount: the number of values of each result, at least one.
  public init(columnCount: Int) { self.columnCount = columnCount }

  /// The number of results.
  public var count: Int { values.count / columnCount }

  /// The value of a column in a result.
  public subscript(row: Int, column: Int) -> StoreValue { values[row * columnCount + column] }

  /// Adds the next value of the current result.
  public mutating func append(_ value: StoreValue) { values.append(value) }
}
