@_spi(CDE) public import CDEOperators

extension PredicateTree {
  /// Whether the predicate is true for an object, with the meaning defined at ``PredicateTree``.
  ///
  /// Runs on the caller's isolation and reads the object there.
  ///
  /// - Parameters:
  ///   - object: The object in which the keys of the predicate are looked up.
  ///   - variables: Values for `$NAME` variables that were not substituted.
  /// - Throws: ``PredicateTreeError`` for unknown keys, missing variables and operands that can't be
  ///   compared, and the errors of the object.
  public func evaluate(
    with object: some PredicateValueProviding, variables: [String: PredicateValue] = [:]
  ) throws -> Bool {
    try evaluate(with: .object(object), variables: variables, cache: nil)
  }

  /// Whether the predicate is true for a value, which may be a scalar: `SELF BEGINSWITH "a"`.
  public func evaluate(with value: PredicateValue, variables: [String: PredicateValue] = [:]) throws -> Bool {
    try evaluate(with: value, variables: variables, cache: nil)
  }

  /// Whether a predicate object with this tree is true for an object.
  func holds(
    for object: Any?, _ variables: [String: Any], _ cache: ConditionCache
  ) throws -> Bool {
    try evaluate(
      with: PredicateValue(object),
      variables: variables.isEmpty ? [:] : variables.mapValues { try PredicateValue($0) }, cache: cache)
  }

  /// The same for many objects, with a common cache.
  @_spi(CDE) public func evaluate(
    with value: PredicateValue, variables: [String: PredicateValue] = [:], cache: ConditionCache?
  ) throws -> Bool {
    try PredicateEvaluator(subject: value, variables: variables, cache: cache).holds(self)
  }
}

extension ExpressionTree {
  /// The value of the expression for an object, such as a derived attribute's value.
  ///
  /// - Throws: The same errors as the evaluation of a ``PredicateTree``.
  public func evaluate(
    with object: some PredicateValueProviding, variables: [String: PredicateValue] = [:]
  ) throws -> PredicateValue {
    try PredicateEvaluator(subject: .object(object), variables: variables, cache: nil)
      .value(self)
  }
}
