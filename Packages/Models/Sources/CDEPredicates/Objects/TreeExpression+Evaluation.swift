public import Foundation

extension TreeExpression {
  /// The value of the expression for an object, or nil if it can't be computed.
  ///
  /// Numbers are `NSNumber`, collections are arrays with `NSNull` for nil members.
  /// ``value(for:substitutionVariables:)`` throws the reason instead.
  ///
  /// - Parameters:
  ///   - object: The object in which keys are looked up, as in `NSPredicate.evaluate(with:)`.
  ///   - context: Values for `$NAME` variables, by name.
  public func expressionValue(with object: Any?, context: NSMutableDictionary?) -> Any? {
    var variables: [String: Any] = [:]
    for (key, value) in context ?? [:] {
      if let name = key as? String { variables[name] = value }
    }
    return try? value(for: object, substitutionVariables: variables)
  }

  /// The value of the expression for an object.
  ///
  /// - Parameters:
  ///   - object: The object in which keys are looked up, as in `NSPredicate.evaluate(with:)`.
  ///   - variables: Values for `$NAME` variables, by name.
  /// - Throws: ``PredicateTreeError``, and the errors of the object.
  public func value(for object: Any?, substitutionVariables variables: [String: Any] = [:]) throws -> Any? {
    let evaluator = PredicateEvaluator(
      subject: try PredicateValue(object),
      variables: try variables.mapValues { try PredicateValue($0) }, cache: nil)
    return try evaluator.value(try result.get()).plainValue
  }

  /// Does nothing. Core Data disables expressions from archives until the call; a decoded expression here
  /// calls no code by name.
  public func allowEvaluation() {}
}

extension PredicateValue {
  /// The value in the form in which key-value coding returns it.
  @_spi(CDE) public var plainValue: Any? {
    switch self {
    case .constant(let constant): constant.plainValue
    case .object(let object): (object as? ReflectedObject)?.subject ?? object
    case .collection(let members): members.map { $0.plainValue ?? NSNull() }
    }
  }
}

extension PredicateConstant {
  /// The constant as a Foundation value: numbers as `NSNumber`, lists as arrays with `NSNull` for nil.
  @_spi(CDE) public var plainValue: Any? {
    switch self {
    case .object(let value): value.reference
    case .list(let members): members.map { $0.plainValue ?? NSNull() }
    default: keyedScalar
    }
  }
}
