/// A fetch, resolved against a ``ResolvedSchema``: slots instead of names.
public struct StoreQuery: Hashable, Sendable {
  /// Index of the entity to fetch.
  public var entity: Int
  public var includesSubentities: Bool
  public var filter: StoreFilter
  public var sort: [StoreSort]
  /// At most so many rows; `nil` for all.
  public var limit: Int?
  public var offset: Int
  /// Fetches keys and entities only, no cells.
  public var keysOnly: Bool

  public init(
    entity: Int, includesSubentities: Bool = true, filter: StoreFilter = .constant(true),
    sort: [StoreSort] = [], limit: Int? = nil, offset: Int = 0, keysOnly: Bool = false
  ) {
    self.entity = entity
    self.includesSubentities = includesSubentities
    self.filter = filter
    self.sort = sort
    self.limit = limit
    self.offset = offset
    self.keysOnly = keysOnly
  }
}

/// A way from a row to a value: over relationships, then a property.
public struct StorePath: Hashable, Sendable {
  /// Which row the path starts at: 0 is the fetched row, 1 the element of the outermost enclosing
  /// ``StoreFilter/any(_:matching:)`` or ``StoreExpression/countWhere(_:matching:)``, and so on inward.
  public var scope: Int
  /// Slots of the relationships to follow, each in the layout of the destination before it.
  public var hops: [Int]
  public var end: End

  public enum End: Hashable, Sendable {
    /// The row the hops lead to, as an object.
    case object
    /// A property of that row. For a composite, `leaf` is the index of the leaf among the
    /// property's cells, otherwise 0.
    case property(slot: Int, leaf: Int)
  }

  public init(scope: Int = 0, hops: [Int] = [], end: End) {
    self.scope = scope
    self.hops = hops
    self.end = end
  }
}

public indirect enum StoreExpression: Hashable, Sendable {
  case value(StoreValue)
  case list([StoreExpression])
  /// A value reached over to-one hops. A nil relationship on the way makes the value nil.
  case path(StorePath)
  /// The number of elements at the end of a path that ends in a to-many relationship: the last
  /// hop is that relationship, the end is `.object`.
  case count(StorePath)
  /// An aggregate over the elements of a path with at least one to-many hop, which ends in a property. The
  /// sum of nothing is zero, as in key-value coding; the other aggregates of nothing are nil.
  case aggregate(Aggregate, StorePath)
  /// The number of elements of a to-many path that match a filter.
  case countWhere(StorePath, matching: StoreFilter)
  case function(Function, [StoreExpression])
  /// The first branch when the filter holds, else the second.
  case conditional(StoreFilter, StoreExpression, StoreExpression)

  public enum Aggregate: String, Hashable, Sendable { case min, max, sum, average }

  /// `length` counts Unicode scalars, as SQLite does. Integers divide like integers; dividing by
  /// zero gives nil.
  public enum Function: String, Hashable, Sendable {
    case add, subtract, multiply, divide, modulus, negate, absolute
    case lowercase, uppercase, length, concatenate, firstNonNil
  }
}

/// A two-valued condition: a comparison with nil is true or false, never unknown. Text compares by its UTF-8
/// bytes unless options fold it first.
///
/// `==` holds between nil and nil only; `!=` is its opposite; the ordering comparisons and text
/// matches are false when either side is nil. `not` is therefore the exact complement.
public indirect enum StoreFilter: Hashable, Sendable {
  case constant(Bool)
  case and([StoreFilter])
  case or([StoreFilter])
  case not(StoreFilter)
  case comparison(StoreExpression, Comparison, StoreExpression, TextOptions)
  /// Some element of the to-many path matches. The path ends in `.object`; inside the filter the
  /// element is the next scope.
  case any(StorePath, matching: StoreFilter)
  /// The fetched row is one of these objects (keys within the fetched entity's tree), also from inside an
  /// inner scope.
  case keys([Int64])

  public enum Comparison: String, Hashable, Sendable {
    case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual
    /// Right side is a ``StoreExpression/list(_:)``.
    case `in`
    /// Right side is a list of two: both bounds belong to the range.
    case between
    case beginsWith, endsWith, contains, like, matches
  }

  public struct TextOptions: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    public static let caseInsensitive = TextOptions(rawValue: 1)
    public static let diacriticInsensitive = TextOptions(rawValue: 2)
  }
}

public struct StoreSort: Hashable, Sendable {
  /// The value sorted by: a path over to-one hops, or an expression. Nil sorts before everything.
  public var expression: StoreExpression
  public var isAscending: Bool
  public var options: StoreFilter.TextOptions

  public init(
    _ expression: StoreExpression, isAscending: Bool = true, options: StoreFilter.TextOptions = []
  ) {
    self.expression = expression
    self.isAscending = isAscending
    self.options = options
  }
}

/// What a fetch found, in order.
public struct FetchedRows: Sendable {
  /// The decoded rows. Each batch holds rows of one concrete entity.
  public var batches: [RowBatch]
  /// The result's order; `nil` when it is simply that of the batches.
  public var order: [Entry]?

  /// One row of the result: decoded, or known by its key alone.
  public struct Entry: Sendable {
    public var key: Int64
    /// Index of the concrete entity.
    public var entity: Int32
    /// Index of the batch, -1 when the row was not decoded.
    public var batch: Int32
    public var row: Int32

    @inlinable public init(key: Int64, entity: Int32, batch: Int32 = -1, row: Int32 = -1) {
      self.key = key
      self.entity = entity
      self.batch = batch
      self.row = row
    }
  }

  public init(batches: [RowBatch], order: [Entry]? = nil) {
    self.batches = batches
    self.order = order
  }

  public var count: Int { order?.count ?? batches.reduce(0) { $0 + $1.count } }
}
