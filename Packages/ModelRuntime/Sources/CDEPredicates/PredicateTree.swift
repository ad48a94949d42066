/// A predicate as a value: what `NSPredicate(format:)`, `#Predicate` and typed paths all become.
///
/// The tree names properties by key paths and knows neither models nor stores, so the same tree is
/// evaluated over plain objects in memory (`evaluate(with:)`) and translated to a store's query by the
/// layers above.
///
/// # Meaning: two values, never three
///
/// Every comparison is `true` or `false`, also when an operand is nil; there is no "unknown". `NOT` is
/// therefore plain negation, and memory and store agree as long as a store that knows NULL reproduces this
/// table for each *single* comparison (and not for the compound):
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
/// `BETWEEN` is false too when either bound is nil. `x != y` is exactly `NOT (x == y)`. In SQL, `x <> 5` is
/// to be written `(x <> 5 OR x IS NULL)` or `x IS NOT 5`, which is what Core Data generates; and the
/// negation of an ordering comparison is `NOT COALESCE(x < 5, 0)`, so `NOT (x < 5)` holds for a nil `x`.
///
/// - A key path through a nil to-one relationship is nil: `parent.name == nil` holds for an object without
///   a parent.
/// - Numbers are one kind: integers, doubles, decimals and booleans compare by numeric value. A constant takes the kind
///   of the attribute it is compared with where Core Data converts it: text that spells a number (`count == '5'`)
///   becomes the number, and a number (`created > 1500`) the date so many seconds after the reference date. Any other
///   comparison of values of different kinds throws where properties have types, which is in every fetch and for
///   managed objects: it can hold for no object. Of a value that has no type (nil, a dictionary's) it is false, and
///   `!=` is true.
/// - `ANY` holds if some element satisfies the comparison, and is false over an empty collection. `ALL`
///   holds if every element does, and is true over an empty one. `NONE` is parsed as `NOT ANY`. An element
///   whose attribute is nil takes part by the table above.
/// - A collection compared without a modifier: `tags == nil` holds if it is empty, `tags == {…}` if it has
///   the same members, `tags CONTAINS x` and `x IN tags` by membership. Any other comparison of a
///   collection is an error.
/// - Text without options is compared by its UTF-8 bytes (SQLite's BINARY collation); with `[c]`, `[d]` and
///   `[cd]` both sides are folded first by `PredicateText.fold(_:options:)`, and composed and decomposed characters
///   are the same.
public indirect enum PredicateTree: Sendable, Hashable {
  /// `TRUEPREDICATE` or `FALSEPREDICATE`.
  case constant(Bool)
  case comparison(PredicateComparison)
  /// Holds if all hold; an empty conjunction is true.
  case and([PredicateTree])
  /// Holds if one holds; an empty disjunction is false.
  case or([PredicateTree])
  case not(PredicateTree)
}

/// One comparison of two expressions.
public struct PredicateComparison: Sendable, Hashable {
  /// What is compared; with a ``modifier`` other than `.direct`, a path over a collection.
  public var left: ExpressionTree
  /// How the two sides are compared.
  public var op: PredicateOperator
  /// What the left side is compared with; for `.between` a list of two bounds.
  public var right: ExpressionTree
  /// Whether the comparison has to hold for the left side itself, or for any or all of its members.
  public var modifier: PredicateModifier
  /// Which differences of text do not count; comparisons of other values ignore them.
  public var options: PredicateTextOptions

  /// - Parameters:
  ///   - left: What is compared.
  ///   - op: How.
  ///   - right: What it is compared with.
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

/// The operators of Core Data's predicates; the raw value is how a format string spells it.
public enum PredicateOperator: String, Sendable, Hashable, CaseIterable {
  case equal = "=="
  case notEqual = "!="
  case less = "<"
  case lessOrEqual = "<="
  case greater = ">"
  case greaterOrEqual = ">="
  /// The right side is a list of two: the lower and the upper bound, both included.
  case between = "BETWEEN"
  /// The right side is a list, a collection, or text that contains the left side.
  case `in` = "IN"
  case beginsWith = "BEGINSWITH"
  case endsWith = "ENDSWITH"
  /// Text contains text, or a collection contains a member.
  case contains = "CONTAINS"
  /// `*` stands for any run of characters, `?` for one; a backslash takes the next character literally.
  case like = "LIKE"
  /// The whole left side matches the regular expression (ICU syntax) on the right.
  case matches = "MATCHES"
}

/// The options in brackets after an operator.
public struct PredicateTextOptions: OptionSet, Sendable, Hashable {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// `[c]`: case differences are ignored.
  public static let caseInsensitive = PredicateTextOptions(rawValue: 1)
  /// `[d]`: diacritic marks are ignored.
  public static let diacriticInsensitive = PredicateTextOptions(rawValue: 2)
  /// `[n]`: the text is taken as it is stored, byte by byte. As in Core Data it replaces `[c]` and `[d]`.
  public static let normalized = PredicateTextOptions(rawValue: 4)
  /// `[l]`: the comparison of the user's locale; only in memory, a store is expected to refuse it.
  public static let localized = PredicateTextOptions(rawValue: 8)
}

extension PredicateTree {
  /// A comparison without modifier.
  public static func compare(
    _ left: ExpressionTree, _ op: PredicateOperator, _ right: ExpressionTree,
    _ options: PredicateTextOptions = []
  ) -> PredicateTree {
    .comparison(PredicateComparison(left, op, right, options: options))
  }
}
