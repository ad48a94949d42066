public import CDEOperators
public import CDEStore

/// One side of a text operator.
@_spi(CDE) public struct TextOperand: Sendable {
  /// The SQL of the text.
  public var piece: SQLPiece
  /// Whether the differences that the operator ignores have been removed from the text already.
  public var isFolded: Bool

  /// Makes an operand; see the properties.
  public init(_ piece: SQLPiece, isFolded: Bool) {
    self.piece = piece
    self.isFolded = isFolded
  }
}

/// The SQL of one database: its spelling, its functions, and the requirements of its parser and planner.
///
/// ``QueryCompiler`` decides about the rows, joins and conditions of a query, which are the same in all dialects.
/// The meaning of each member is that of the part of `StoreQuery` that it spells.
///
/// A member that returns an optional returns nil for a part that the database can't decide with exactly this meaning.
/// The compiler then makes a statement that finds all rows for which the condition may hold, and returns the rest of
/// the work as ``QueryRemainder``. Projections and batches have no remainder; the compiler refuses them.
@_spi(CDE) public protocol SQLDialect: Sendable {
  // MARK: Limits

  /// The maximum number of tables that the key paths of a query join.
  var joinLimit: Int { get }

  /// Why there is ``joinLimit``, as the end of an error's sentence: "SQLite joins at most 64".
  var joinReason: String { get }

  /// The maximum depth of a condition.
  var depthLimit: Int { get }

  // MARK: Statements

  /// The text of a whole statement, with parameters as the database writes them.
  ///
  /// The bindings may become fewer if parameters with equal values become one.
  func statement(_ piece: SQLPiece) -> CompiledQuery

  /// A bound value.
  func parameter(_ value: StoreValue) -> SQLPiece

  /// The statement that counts the rows of another one.
  func counting(_ statement: SQLPiece) -> SQLPiece

  /// The join between the tables of a subquery.
  var orderedJoin: String { get }

  /// The source of a statement for the rows of a table with one of the keys; nil if a condition about the keys is the better
  /// way.
  func rows(of table: String, alias: String, key: String, in keys: [Int64]) -> SQLPiece?

  /// The requested range of a result, behind the statement.
  func range(limit: Int?, offset: Int) -> SQLPiece

  /// A value of a projection in the form in which the engine reads it.
  func result(_ piece: SQLPiece) -> SQLPiece

  /// A value by which rows are grouped.
  func group(_ piece: SQLPiece) -> SQLPiece

  // MARK: Conditions

  /// A condition that holds for all rows or for none.
  func constant(_ holds: Bool) -> SQLPiece

  /// A condition that may be unknown, or its opposite. Unknown counts as false, so its opposite is true.
  func condition(_ piece: SQLPiece, isNegated: Bool) -> SQLPiece

  /// The operator for equal or unequal values, where NULL counts as a value.
  ///
  /// - Parameter hasConstant: whether one side is a constant and not NULL.
  func equality(isNegated: Bool, hasConstant: Bool) -> String

  /// Two values in a form in which the database compares them; nil if it can't.
  func aligned(_ left: SQLPiece, _ right: SQLPiece) -> (left: SQLPiece, right: SQLPiece)?

  /// A text in a comparison with a computed number, converted to a number.
  func number(_ text: SQLPiece) -> SQLPiece

  /// Whether a value, which is not NULL, is one of the keys.
  func membership(_ subject: SQLPiece, in keys: [Int64], isNegated: Bool) -> SQLPiece

  /// Whether a value is one of the constants, of which none is NULL. Unknown for NULL.
  func membership(_ subject: SQLPiece, in values: [StoreValue]) -> SQLPiece?

  // MARK: Conditions of many terms

  /// Joins two or more terms to one condition.
  func joined(_ terms: [SQLPiece], isConjunction: Bool) -> SQLPiece

  /// Joins one or more terms by a separator, in a tree that the parser accepts.
  func balanced(_ terms: ArraySlice<SQLPiece>, _ separator: String) -> SQLPiece

  // MARK: Text

  /// A term of ORDER BY, with NULL before all values in ascending order; nil if the database lacks the order.
  ///
  /// - Parameters:
  ///   - options: the differences that the order ignores, or the locale's order.
  ///   - mayBeNull: whether a row of the result may have NULL.
  func order(
    _ piece: SQLPiece, _ options: StoreFilter.TextOptions, isAscending: Bool, mayBeNull: Bool
  ) -> SQLPiece?

  /// Whether the indexes of uniqueness constraints have NULL where a sort has it.
  var uniqueIndexesOrderNullAsSorts: Bool { get }

  /// A text without the differences that the options ignore, computed for each row.
  ///
  /// - Parameter options: at least one option.
  func folded(_ text: SQLPiece, _ options: StoreFilter.TextOptions) -> SQLPiece?

  /// A text operator, of which the result may be NULL.
  func match(
    _ subject: TextOperand, _ op: TextOperator, _ part: TextOperand,
    _ options: StoreFilter.TextOptions
  ) -> SQLPiece?

  // MARK: Values

  /// An aggregate of a column's values in the rows of a subquery, or of an expression's in those of a group.
  func aggregate(_ aggregate: StoreExpression.Aggregate, _ value: SQLPiece) -> SQLPiece?

  /// A function of values.
  ///
  /// - Parameter arguments: the function's arguments, as many as it needs.
  func call(_ function: StoreExpression.Function, _ arguments: [SQLPiece]) -> SQLPiece?
}

extension SQLDialect {
  public func condition(_ piece: SQLPiece, isNegated: Bool) -> SQLPiece {
    SQLPiece("(") + piece + SQLPiece(isNegated ? ") IS NOT TRUE" : ")")
  }

  public func rows(of table: String, alias: String, key: String, in keys: [Int64]) -> SQLPiece? { nil }

  public var uniqueIndexesOrderNullAsSorts: Bool { true }

  public func result(_ piece: SQLPiece) -> SQLPiece { piece }

  public func group(_ piece: SQLPiece) -> SQLPiece { piece }

  public func aligned(_ left: SQLPiece, _ right: SQLPiece) -> (left: SQLPiece, right: SQLPiece)? {
    (left, right)
  }
}
