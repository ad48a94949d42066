/// An expression inside a predicate: a constant, a key path, or a value computed from these.
public indirect enum ExpressionTree: Sendable, Hashable {
  case constant(PredicateConstant)
  /// `SELF`: the object that the predicate is evaluated with.
  case evaluatedObject
  /// Property names starting at the evaluated object, never empty: attributes, relationships, composite
  /// leaves. Over a to-many relationship the value is the flattened collection of values.
  case keyPath([String])
  /// `$name`: a subquery's variable, or a variable that substitution must replace before evaluation.
  case variable(String)
  /// `$name.a.b`; the path is never empty.
  case variableKeyPath(String, [String])
  /// A key path on a computed collection, such as `SUBQUERY(…).score`. The path is never empty.
  case projection(of: ExpressionTree, [String])
  /// `tags.@count`, `tags.@max.score`: one value computed from a collection. The collection of `@max.score`
  /// on `tags` is `keyPath(["tags", "score"])`.
  case aggregate(PredicateAggregate, of: ExpressionTree)
  /// The members of `collection` for which `where` is true when `variable` is bound to the member.
  case subquery(collection: ExpressionTree, variable: String, where: PredicateTree)
  case function(PredicateFunction, [ExpressionTree])
  /// `{a, b}` with a member that is not constant. A list of constants is `constant(.list)`.
  case list([ExpressionTree])
  /// `FUNCTION(target, "selector:", a, b)`: a method of an object. Only a ``PredicateCallable`` in memory can
  /// answer it.
  case call(target: ExpressionTree, selector: String, [ExpressionTree])
  /// `TERNARY(condition, a, b)`.
  case conditional(PredicateTree, then: ExpressionTree, else: ExpressionTree)
}

/// A value computed from a collection. Nil members are omitted, as in SQL.
public enum PredicateAggregate: String, Sendable, Hashable, CaseIterable {
  /// The number of members. Objects are counted, so a nil attribute value counts.
  case count = "@count"
  /// 0 for an empty collection.
  case sum = "@sum"
  /// nil for an empty collection.
  case average = "@avg"
  /// nil for an empty collection.
  case minimum = "@min"
  /// nil for an empty collection.
  case maximum = "@max"
}

/// A function of scalar expressions. If an argument is nil, the result is nil, except for `coalesce` and
/// `now`.
///
/// `add`, `subtract`, `multiply`, `negate` and `abs` of integers give integers, and so do `divide` and
/// `modulus` (truncated towards zero, as in C and SQLite). If an operand is a double or decimal, the result
/// is one, too. As in SQLite, division by zero gives nil, and an integer overflow gives a double.
///
/// A date plus or minus a number is the date that many seconds later or earlier. A date minus a date is the number of
/// seconds between them.
///
/// The bit operations need integers. A shift by a negative number goes the other way, as in SQLite. `UNION`,
/// `INTERSECT` and `MINUS` are of collections, in memory only, and give the members without duplicates.
public enum PredicateFunction: String, Sendable, Hashable, CaseIterable {
  case add = "+"
  case subtract = "-"
  case multiply = "*"
  case divide = "/"
  case modulus = "modulus"
  case power = "**"
  case negate = "negate"
  case bitAnd = "&"
  case bitOr = "|"
  case bitXor = "^"
  case shiftLeft = "<<"
  case shiftRight = ">>"
  case bitNot = "~"
  case abs = "abs"
  case floor = "floor"
  case ceiling = "ceiling"
  case truncate = "trunc"
  case squareRoot = "sqrt"
  case exponential = "exp"
  /// The natural logarithm; nil for what is not above 0.
  case naturalLogarithm = "ln"
  /// The decimal logarithm; nil for what is not above 0.
  case logarithm = "log"
  case lowercase = "lowercase"
  case uppercase = "uppercase"
  /// Case and diacritics folded, as in comparisons with `[cd]`. Core Data's derived attributes write
  /// `canonical:`.
  case canonical = "canonical"
  /// The number of Unicode scalars, as SQLite's `length` returns.
  case length = "length"
  /// The first argument that is not nil.
  case coalesce = "coalesce"
  /// The time of the evaluation, a date.
  case now = "now"
  /// The members of either collection.
  case union = "UNION"
  /// The members of both collections.
  case intersect = "INTERSECT"
  /// The members of the first collection that the second lacks.
  case minus = "MINUS"
  /// `tags[0]`, `tags[LAST]`: a member of a collection by its index, where -1 is the last, or a dictionary's value by
  /// its key. Nil beyond the collection. In memory only.
  case element = "objectFrom:withIndex:"
}

extension ExpressionTree {
  /// The expression as keys and what they start at; nil for what has no path.
  var steps: (root: ExpressionTree, keys: [String])? {
    switch self {
    case .keyPath(let path): (.evaluatedObject, path)
    case .variableKeyPath(let name, let path): (.variable(name), path)
    case .projection(let base, let path): (base, path)
    case .evaluatedObject, .variable, .subquery: (self, [])
    default: nil
    }
  }

  /// The value behind further keys; nil if the expression's value has no keys.
  func appending(_ keys: [String]) -> ExpressionTree? {
    switch self {
    case .evaluatedObject: .keyPath(keys)
    case .keyPath(let path): .keyPath(path + keys)
    case .variable(let name): .variableKeyPath(name, keys)
    case .variableKeyPath(let name, let path): .variableKeyPath(name, path + keys)
    case .subquery, .function(.element, _): .projection(of: self, keys)
    case .projection(let base, let path): .projection(of: base, path + keys)
    default: nil
    }
  }

  /// A list of constants is itself a constant.
  static func list(of members: [ExpressionTree]) -> ExpressionTree {
    var constants: [PredicateConstant] = []
    for member in members {
      guard case .constant(let constant) = member else { return .list(members) }
      constants.append(constant)
    }
    return .constant(.list(constants))
  }
}

/// An object that stands for an expression where a format string takes an argument.
protocol ExpressionArgument: AnyObject {
  /// The expression, or the error of making it.
  var result: Result<ExpressionTree, PredicateTreeError> { get }
}
