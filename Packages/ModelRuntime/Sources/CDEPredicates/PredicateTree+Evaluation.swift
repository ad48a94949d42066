extension PredicateTree {
  /// Whether the predicate holds for an object, with the meaning stated at ``PredicateTree``.
  ///
  /// Runs on the caller's isolation and reads the object there.
  ///
  /// - Parameters:
  ///   - object: What the keys of the predicate are looked up in.
  ///   - variables: Values for `$NAME`s that were not substituted.
  /// - Throws: ``PredicateTreeError`` for unknown keys, missing variables and operands that cannot be
  ///   compared, and whatever the object throws.
  public func evaluate(
    with object: some PredicateValueProviding, variables: [String: PredicateValue] = [:]
  ) throws -> Bool {
    try evaluate(with: .object(object), variables: variables, patterns: nil)
  }

  /// Whether the predicate holds for a value, which may be a scalar: `SELF BEGINSWITH "a"`.
  public func evaluate(with value: PredicateValue, variables: [String: PredicateValue] = [:]) throws -> Bool {
    try evaluate(with: value, variables: variables, patterns: nil)
  }

  /// The same for many objects in turn, with what is prepared once for all of them.
  @_spi(CDE) public func evaluate(
    with value: PredicateValue, variables: [String: PredicateValue] = [:], patterns: PredicatePatternCache?
  ) throws -> Bool {
    try PredicateEvaluator(subject: value, variables: variables, patterns: patterns).holds(self)
  }
}

extension ExpressionTree {
  /// What the expression gives for an object, such as a derived attribute's value.
  ///
  /// - Throws: As evaluating a ``PredicateTree`` does.
  public func evaluate(
    with object: some PredicateValueProviding, variables: [String: PredicateValue] = [:]
  ) throws -> PredicateValue {
    try PredicateEvaluator(subject: .object(object), variables: variables, patterns: nil)
      .value(self)
  }
}
