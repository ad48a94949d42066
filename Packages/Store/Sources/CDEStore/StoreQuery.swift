/// A fetch, resolved against a ``ResolvedSchema``: slots instead of names.
public struct StoreQuery: Hashable, Sendable {
  /// Index of the entity to fetch.
  public var entity: Int
  /// Whether rows of the entities that inherit from ``entity`` are found as well.
  public var includesSubentities: Bool
  /// The condition that rows have to meet; `.constant(true)` for all rows.
  public var filter: StoreFilter
  /// What to sort by, the most significant first. Without any the order is the engine's choice.
  public var sort: [StoreSort]
  /// At most so many rows; `nil` for all.
  public var limit: Int?
  /// How many rows to skip from the start of the sorted result.
  public var offset: Int
  /// Fetches keys and entities only, no cells.
  public var keysOnly: Bool

  /// Makes a query; see the properties.
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
  /// What the path ends in.
  public var end: End

  /// What a path ends in: the row itself, or one of its properties.
  public enum End: Hashable, Sendable {
    /// The row the hops lead to, as an object.
    case object
    /// A property of that row. For a composite, `leaf` is the index of the leaf among the
    /// property's cells, otherwise 0.
    case property(slot: Int, leaf: Int)
  }

  /// Makes a path; see the properties.
  public init(scope: Int = 0, hops: [Int] = [], end: End) {
    self.scope = scope
    self.hops = hops
    self.end = end
  }
}

/// A value computed from a row: a constant, a path, a function of others, or an aggregate over related rows.
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

  /// How the values of several rows become one.
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

  /// How two values are compared.
  public enum Comparison: String, Hashable, Sendable {
    case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual
    /// Right side is a ``StoreExpression/list(_:)``.
    case `in`
    /// Right side is a list of two: both bounds belong to the range.
    case between
    case beginsWith, endsWith, contains, like, matches
  }

  /// What a comparison of texts ignores.
  public struct TextOptions: OptionSet, Hashable, Sendable {
    /// The options as bits.
    public let rawValue: UInt8
    /// Makes options from bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// Letters that differ in case alone are equal: `[c]` in format strings.
    public static let caseInsensitive = TextOptions(rawValue: 1)
    /// Letters that differ in accents alone are equal: `[d]` in format strings.
    public static let diacriticInsensitive = TextOptions(rawValue: 2)
  }
}

/// One criterion to sort rows by.
public struct StoreSort: Hashable, Sendable {
  /// The value sorted by: a path over to-one hops, or an expression. Nil sorts before everything.
  public var expression: StoreExpression
  /// Whether lower values come first.
  public var isAscending: Bool
  /// What the comparison of texts ignores.
  public var options: StoreFilter.TextOptions

  /// Sorts by an expression.
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
    /// The row's primary key.
    public var key: Int64
    /// Index of the concrete entity.
    public var entity: Int32
    /// Index of the batch, -1 when the row was not decoded.
    public var batch: Int32
    /// The row's index in its batch, -1 when the row was not decoded.
    public var row: Int32

    /// Makes an entry; without a batch, of a row that was not decoded.
    @inlinable public init(key: Int64, entity: Int32, batch: Int32 = -1, row: Int32 = -1) {
      self.key = key
      self.entity = entity
      self.batch = batch
      self.row = row
    }
  }

  /// Makes a result from its parts; see the properties.
  public init(batches: [RowBatch], order: [Entry]? = nil) {
    self.batches = batches
    self.order = order
  }

  /// The number of rows found, decoded or not.
  public var count: Int { order?.count ?? batches.reduce(0) { $0 + $1.count } }
}
