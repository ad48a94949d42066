/// An expression inside a predicate: a constant, a key path, or something computed of these.
public indirect enum ExpressionTree: Sendable, Hashable {
  case constant(PredicateConstant)
  /// `SELF`: the object that the predicate is evaluated with.
  case evaluatedObject
  /// Property names from the evaluated object on, never empty: attributes, relationships, composite leaves.
  /// Over a to-many relationship it stands for the flattened collection of values.
  case keyPath([String])
  /// `$name`: a subquery's variable, or one that substitution has to replace before evaluation.
  case variable(String)
  /// `$name.a.b`; the path is never empty.
  case variableKeyPath(String, [String])
  /// A key path on a computed collection, such as `SUBQUERY(…).score`; the path is never empty.
  case projection(of: ExpressionTree, [String])
  /// `tags.@count`, `tags.@max.score`: one value computed over a collection. The collection of `@max.score`
  /// on `tags` is `keyPath(["tags", "score"])`.
  case aggregate(PredicateAggregate, of: ExpressionTree)
  /// The members of `collection` for which `where` holds with `variable` bound to the member.
  case subquery(collection: ExpressionTree, variable: String, where: PredicateTree)
  case function(PredicateFunction, [ExpressionTree])
  /// `{a, b}` with a member that is not constant; a list of constants is `constant(.list)`.
  case list([ExpressionTree])
  /// `TERNARY(condition, a, b)`.
  case conditional(PredicateTree, then: ExpressionTree, else: ExpressionTree)
}

/// A value computed over a collection; nil members are left out, and so they are in SQL.
public enum PredicateAggregate: String, Sendable, Hashable, CaseIterable {
  /// The number of members; a nil attribute value counts, since it is the objects that are counted.
  case count = "@count"
  /// 0 over an empty collection.
  case sum = "@sum"
  /// nil over an empty collection.
  case average = "@avg"
  /// nil over an empty collection.
  case minimum = "@min"
  /// nil over an empty collection.
  case maximum = "@max"
}

/// A function of scalar expressions. Except for `coalesce` and `now`, the result is nil when an argument is
/// nil.
///
/// Integers stay integers under `add`, `subtract`, `multiply`, `negate` and `abs`, and under `divide` and
/// `modulus` (truncated towards zero, as in C and SQLite); a double or decimal operand makes the result
/// one. Division by zero is nil, as in SQLite. An integer overflow turns into a double, as in SQLite.
public enum PredicateFunction: String, Sendable, Hashable, CaseIterable {
  case add = "+"
  case subtract = "-"
  case multiply = "*"
  case divide = "/"
  case modulus = "modulus"
  case power = "**"
  case negate = "negate"
  case abs = "abs"
  case floor = "floor"
  case ceiling = "ceiling"
  case truncate = "trunc"
  case squareRoot = "sqrt"
  case lowercase = "lowercase"
  case uppercase = "uppercase"
  /// Case and diacritics folded, as `[cd]` compares; Core Data's derived attributes spell it `canonical:`.
  case canonical = "canonical"
  /// The number of Unicode scalars, as SQLite's `length` counts.
  case length = "length"
  /// The first argument that is not nil.
  case coalesce = "coalesce"
  /// The moment of evaluation, a date.
  case now = "now"
}
