public import CDEOperators

/// A predicate as a value. `NSPredicate(format:)`, `#Predicate` and typed paths are converted to it.
///
/// The tree names properties by key paths and is independent of models and stores. The same tree is evaluated
/// over objects in memory (`evaluate(with:)`), and layers above translate it to a store's query.
///
/// # Meaning: two values, never three
///
/// Each comparison is `true` or `false`, also when an operand is nil. There is no "unknown", so `NOT` is
/// plain negation. Memory and a store with NULL have the same results if the store reproduces this table for
/// each *single* comparison (and not for the compound):
///
/// | comparison                       | left nil, right not | left not, right nil | both nil |
/// |----------------------------------|---------------------|---------------------|----------|
/// | `==`                             | false               | false               | true     |
/// | `!=`                             | true                | true                | false    |
/// | `<` `<=` `>` `>=`                | false               | false               | false    |
/// | text operators                   | false               | false               | false    |
/// | `IN` (a list or collection)      | true if the list has nil | false          | false    |
/// | `BETWEEN`                        | false               | false               | false    |
///
/// `BETWEEN` is also false when a bound is nil. `x != y` is exactly `NOT (x == y)`. In SQL, `x <> 5` must be
/// written `(x <> 5 OR x IS NULL)` or `x IS NOT 5`, as Core Data does. The negation of an ordering comparison
/// is `NOT COALESCE(x < 5, 0)`, so `NOT (x < 5)` is true for a nil `x`.
///
/// - A key path through a nil to-one relationship is nil: `parent.name == nil` is true for an object without
///   a parent.
/// - Numbers are one kind: integers, doubles, decimals and booleans are compared by numeric value. A constant
///   is converted to the kind of the compared attribute where Core Data converts it: text that contains a
///   number (`count == '5'`) becomes the number, and a number (`created > 1500`) becomes the date that many
///   seconds after the reference date. Other comparisons of values of different kinds can be true for no
///   object. They throw if properties have types, which is the case in all fetches and for managed objects.
///   For values without a type (nil, a dictionary's) they are false, and `!=` is true.
/// - `ANY` is true if at least one element satisfies the comparison, and false for an empty collection. `ALL`
///   is true if all elements satisfy it, and true for an empty collection. `NONE` is parsed as `NOT ANY`. For
///   an element with a nil attribute the table above applies.
/// - Comparisons of a collection without a modifier: `tags == nil` is true if it is empty, `tags == {…}` if
///   it has the same members. `tags CONTAINS x` and `x IN tags` test membership. All other comparisons of a
///   collection are errors.
/// - Text without options is compared by its UTF-8 bytes (SQLite's BINARY collation). With `[c]`, `[d]` and
///   `[cd]` both sides are first folded as by Foundation's `folding(options:locale:)` without a locale, and composed
///   and decomposed characters are equal.
///
/// # Depth
///
/// The functions of this module walk over conditions with lists, not by recursion, so AND, OR and NOT may nest as deep as
/// memory allows. Expressions are walked by recursion; a predicate is refused if they nest deeper than 200 levels.
public enum PredicateTree: Sendable {
  /// `TRUEPREDICATE` or `FALSEPREDICATE`.
  case constant(Bool)
  indirect case comparison(PredicateComparison)
  /// True if all parts are true. An empty conjunction is true. Also made of an array: `.and([a, b])`.
  case and(PredicateParts)
  /// True if one part is true. An empty disjunction is false. Also made of an array: `.or([a, b])`.
  case or(PredicateParts)
  indirect case not(PredicateTree)
}

/// One comparison of two expressions.
public struct PredicateComparison: Sendable, Hashable {
  /// The left side. With a ``modifier`` other than `.direct` it is a path over a collection.
  public var left: ExpressionTree
  /// How the two sides are compared.
  public var op: PredicateOperator
  /// The right side. For `.between` it is a list of two bounds.
  public var right: ExpressionTree
  /// Whether the comparison applies to the left side itself, or to any or all of its members.
  public var modifier: PredicateModifier
  /// The differences of text to ignore. Comparisons of other values are not affected.
  public var options: PredicateTextOptions

  /// - Parameters:
  ///   - left: The left side.
  ///   - op: The operator.
  ///   - right: The right side.
  ///   - modifier: With `.any` and `.all`, `left` is a path over a to-many relationship (or another
  ///     collection).
  ///   - options: Apply to text only.
  public init(
    _ left: ExpressionTree, _ op: PredicateOperator, _ right: ExpressionTree,
    modifier: PredicateModifier = .direct, options: PredicateTextOptions = []
  ) {
    self.left = left
    self.op = op
    self.right = right
    self.modifier = modifier
    self.options = options
  }
}

/// How a comparison treats a collection on its left side.
public enum PredicateModifier: String, Sendable, Hashable, CaseIterable {
  case direct = ""
  case any = "ANY"
  case all = "ALL"
}

/// The operators of Core Data's predicates. The raw value is the operator in a format string.
public enum PredicateOperator: String, Sendable, Hashable, CaseIterable {
  case equal = "=="
  case notEqual = "!="
  case less = "<"
  case lessOrEqual = "<="
  case greater = ">"
  case greaterOrEqual = ">="
  /// The right side is a list of two values: the lower and the upper bound, both included.
  case between = "BETWEEN"
  /// The right side is a list, a collection, or text that contains the left side.
  case `in` = "IN"
  case beginsWith = "BEGINSWITH"
  case endsWith = "ENDSWITH"
  /// Text contains text, or a collection contains a member.
  case contains = "CONTAINS"
  /// `*` matches any sequence of characters and `?` matches one. After a backslash the next character is
  /// literal.
  case like = "LIKE"
  /// The whole left side matches the regular expression (ICU syntax) on the right.
  case matches = "MATCHES"
}

extension PredicateOperator {
  /// The same operator of two texts; nil for an operator of values of any kind. Each operator of texts has one.
  @_spi(CDE) public var ofTexts: TextOperator? {
    switch self {
    case .beginsWith: .beginsWith
    case .endsWith: .endsWith
    case .contains: .contains
    case .like: .like
    case .matches: .matches
    case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .between, .in: nil
    }
  }
}

/// The options in brackets after an operator, such as `[cd]`. A store refuses conditions with `[l]`.
public typealias PredicateTextOptions = TextOptions

extension PredicateTree {
  /// A comparison without modifier.
  public static func compare(
    _ left: ExpressionTree, _ op: PredicateOperator, _ right: ExpressionTree,
    _ options: PredicateTextOptions = []
  ) -> PredicateTree {
    .comparison(PredicateComparison(left, op, right, options: options))
  }
}
