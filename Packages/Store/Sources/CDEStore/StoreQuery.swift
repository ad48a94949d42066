public import CDEOperators

/// A fetch that refers to a ``ResolvedSchema``: slots instead of names.
public struct StoreQuery: Hashable, Sendable {
  /// Index of the entity to fetch.
  public var entity: EntityIndex
  /// Whether rows of the entities that inherit from ``entity`` are included.
  public var includesSubentities: Bool
  /// The condition for rows; `.constant(true)` for all rows.
  public var filter: StoreFilter
  /// The order, with the most significant criterion first. Without criteria the engine chooses the order.
  public var sort: [StoreSort]
  /// The maximum number of rows; `nil` for all.
  public var limit: Int?
  /// The number of rows to skip at the start of the sorted result.
  public var offset: Int
  /// Fetches keys and entities only, no cells.
  public var keysOnly: Bool

  /// Makes a query; see the properties.
  public init(
    entity: EntityIndex, includesSubentities: Bool = true, filter: StoreFilter = .constant(true),
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

/// A path from a row to a value: over relationships, then to a property.
public struct StorePath: Hashable, Sendable {
  /// The row at which the path starts. 0 is the fetched row, 1 the element of the outermost enclosing
  /// ``StoreFilter/any(_:matching:)`` or ``StoreExpression/countWhere(_:matching:)``, and so on inwards.
  public var scope: Int
  /// Slots of the relationships to follow. Each is a slot in the layout of the previous destination, or a
  /// ``cast(to:)``.
  public var hops: [SlotIndex]
  /// The end of the path.
  public var end: End

  /// The end of a path: the row itself, or one of its properties.
  public enum End: Hashable, Sendable {
    /// The row that the hops lead to, as an object.
    case object
    /// A property of that row. For a composite, `leaf` is the index of the leaf among the property's cells,
    /// otherwise 0.
    case property(slot: SlotIndex, leaf: Int)
  }

  /// Makes a path; see the properties.
  public init(scope: Int = 0, hops: [SlotIndex] = [], end: End) {
    self.scope = scope
    self.hops = hops
    self.end = end
  }

  /// A hop that stays at the row, and sees it as one of an entity below the row's declared one. Slots after it are of that
  /// entity's layout. A row of another entity has no values there: a condition on the entity has to come first.
  public static func cast(to entity: EntityIndex) -> SlotIndex { SlotIndex(-2 - entity.rawValue) }
}

extension SlotIndex {
  /// The entity of a ``StorePath/cast(to:)``; nil for the slot of a relationship.
  public var castEntity: EntityIndex? { rawValue < -1 ? EntityIndex(-2 - rawValue) : nil }
}

/// A value computed from a row: a constant, a path, a function of values, or an aggregate over related rows.
public indirect enum StoreExpression: Hashable, Sendable {
  case value(StoreValue)
  case list([StoreExpression])
  /// A value reached over to-one hops. If a relationship of the path is nil, the value is nil.
  case path(StorePath)
  /// The number of elements of a path whose last hop is a to-many relationship. The end is `.object`.
  case count(StorePath)
  /// An aggregate over the elements of a path with at least one to-many hop. The path ends in a property.
  /// Without elements the sum is zero, as in key-value coding, and the other aggregates are nil.
  case aggregate(Aggregate, StorePath)
  /// The number of elements of a to-many path that match a filter.
  case countWhere(StorePath, matching: StoreFilter)
  case function(Function, [StoreExpression])
  /// The first branch when the filter is true, otherwise the second.
  case conditional(StoreFilter, StoreExpression, StoreExpression)
  /// An aggregate over the rows of a group of a ``StoreProjection``. The expression is computed for each row of the
  /// group and contains no other of this case. Nowhere else is there a group.
  case group(Aggregate, StoreExpression)

  /// A function from the values of several rows to one value. Nil values are left out.
  public enum Aggregate: String, Hashable, Sendable { case min, max, sum, average, count }

  /// `length` counts Unicode scalars, as in SQLite. The division of integers is integer division. A division
  /// by zero gives nil. The functions of bits and shifts are of integers; a shift by a negative number goes the
  /// other way.
  public enum Function: String, Hashable, Sendable, CaseIterable {
    case add, subtract, multiply, divide, modulus, negate, absolute
    case bitAnd, bitOr, bitNot, shiftLeft, shiftRight
    case lowercase, uppercase, length, concatenate, firstNonNil
    /// Functions of numbers with a fraction. A logarithm of what is not above zero, a root of a negative number and any
    /// other result that is no number give nil. `floor`, `ceiling` and `truncate` of an integer give it unchanged.
    case power, squareRoot, exponential, naturalLogarithm, logarithm, floor, ceiling, truncate, remainder
    /// The nearest number of 15 decimal digits. A computed decimal compares so as the decimal that it stands for.
    case decimal
    /// The text with the differences of case and accents folded.
    case canonical
  }
}

/// A two-valued condition. A comparison with nil is true or false, never unknown. Text is compared by its
/// UTF-8 bytes unless options fold it first.
///
/// `==` is true between nil and nil only. `!=` is its opposite. The ordering comparisons and text matches are
/// false when either side is nil. `not` is therefore the exact complement.
public indirect enum StoreFilter: Hashable, Sendable {
  case constant(Bool)
  case and([StoreFilter])
  case or([StoreFilter])
  case not(StoreFilter)
  case comparison(StoreExpression, Comparison, StoreExpression, TextOptions)
  /// At least one element of the to-many path matches. The path ends in `.object`. Inside the filter the
  /// element is the next scope.
  case any(StorePath, matching: StoreFilter)
  /// The fetched row is one of these objects, by keys within the fetched entity's tree. Refers to the fetched
  /// row also in an inner scope.
  case keys([Int64])
  /// The row at the end of a path over to-one hops is of one of these entities, and not only of one that inherits
  /// from them. The path ends in `.object`. False if it leads to no row.
  case entity(StorePath, isIn: [EntityIndex])
  /// What the first rule says of which the condition is true, and the last filter if there is none. A condition in which
  /// AND and OR alternate many levels deep is a flat list of rules.
  case rules([Rule], otherwise: StoreFilter)

  /// One rule of ``StoreFilter/rules(_:otherwise:)``.
  public struct Rule: Hashable, Sendable {
    /// When the rule decides.
    public var condition: StoreFilter
    /// Whether the whole filter is true then.
    public var holds: Bool

    /// Makes a rule; see the properties.
    public init(_ condition: StoreFilter, holds: Bool) {
      self.condition = condition
      self.holds = holds
    }
  }

  /// How two values are compared.
  public enum Comparison: Hashable, Sendable {
    case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual
    /// The right side is a ``StoreExpression/list(_:)``.
    case `in`
    /// The right side is a list of two bounds, both included.
    case between
    /// Both sides are texts.
    case text(TextOperator)

    /// The text begins with the other one.
    public static let beginsWith = Comparison.text(.beginsWith)
    /// The text ends with the other one.
    public static let endsWith = Comparison.text(.endsWith)
    /// The text has the other one as a part.
    public static let contains = Comparison.text(.contains)
    /// The text matches the pattern with `*` and `?`.
    public static let like = Comparison.text(.like)
    /// The text matches the regular expression.
    public static let matches = Comparison.text(.matches)
  }

  /// The differences that a comparison of texts ignores. Conditions have no options of a locale, which are for sort orders only.
  public typealias TextOptions = CDEOperators.TextOptions
}

/// One criterion to sort rows by.
public struct StoreSort: Hashable, Sendable {
  /// The value to sort by: a path over to-one hops, or an expression. Nil is less than all values.
  public var expression: StoreExpression
  /// Whether lower values come first.
  public var isAscending: Bool
  /// The differences that the comparison of texts ignores.
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

/// The result of a fetch, in order.
public struct FetchedRows: Sendable {
  /// The decoded rows. Each batch contains rows of one concrete entity.
  public var batches: [RowBatch]
  /// The order of the result; `nil` if it is the order of the batches.
  public var order: [Entry]?

  /// One row of the result: decoded, or only its key.
  public struct Entry: Sendable {
    /// The row's primary key.
    public var key: Int64
    /// Index of the concrete entity.
    public var entity: NarrowIndex<EntityIndex>
    /// Index of the batch, -1 when the row was not decoded.
    public var batch: Int32
    /// The row's index in its batch, -1 when the row was not decoded.
    public var row: Int32

    /// Makes an entry; without a batch, of a row that was not decoded.
    @inlinable public init(key: Int64, entity: NarrowIndex<EntityIndex>, batch: Int32 = -1, row: Int32 = -1) {
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
