internal import Foundation

extension PredicateExpressions.Equal: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws(PredicateTreeError) -> Node {
    .predicate(
      try conversion.equality(lhs, rhs, ofMembers: PredicateConversion.areMembers(LHS.Output.self)))
  }
}

extension PredicateExpressions.NotEqual: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws(PredicateTreeError) -> Node {
    switch try conversion.equality(lhs, rhs, ofMembers: PredicateConversion.areMembers(LHS.Output.self)) {
    case .comparison(var comparison) where comparison.op == .equal && comparison.modifier == .direct:
      comparison.op = .notEqual
      return .predicate(.comparison(comparison))
    case let tree: return .predicate(.not(tree))
    }
  }
}

extension PredicateExpressions.Comparison: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws(PredicateTreeError) -> Node {
    let operation: PredicateOperator
    switch op {
    case .lessThan: operation = .less
    case .lessThanOrEqual: operation = .lessOrEqual
    case .greaterThan: operation = .greater
    case .greaterThanOrEqual: operation = .greaterOrEqual
    @unknown default: throw PredicateConversion.unsupported("Comparison")
    }
    return .predicate(.compare(try conversion.expression(lhs), operation, try conversion.expression(rhs)))
  }
}

extension PredicateExpressions.Conjunction: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws(PredicateTreeError) -> Node {
    let left = try conversion.predicate(lhs)
    let right = try conversion.predicate(rhs)
    // Swift's operator is binary. A chain becomes one conjunction.
    if case .and(let parts) = left { return .predicate(.and(parts + [right])) }
    return .predicate(.and([left, right]))
  }
}

extension PredicateExpressions.Disjunction: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws(PredicateTreeError) -> Node {
    let left = try conversion.predicate(lhs)
    let right = try conversion.predicate(rhs)
    if case .or(let parts) = left { return .predicate(.or(parts + [right])) }
    return .predicate(.or([left, right]))
  }
}

extension PredicateExpressions.Negation: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws(PredicateTreeError) -> Node {
    .predicate(.not(try conversion.predicate(wrapped)))
  }
}

extension PredicateExpressions.Conditional: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws(PredicateTreeError) -> Node {
    let condition = try conversion.predicate(test)
    if Output.self == Bool.self {
      let first = try conversion.predicate(trueBranch)
      let second = try conversion.predicate(falseBranch)
      return .predicate(.or([.and([condition, first]), .and([.not(condition), second])]))
    }
    return .expression(
      .conditional(
        condition, then: try conversion.expression(trueBranch), else: try conversion.expression(falseBranch)))
  }
}

extension PredicateExpressions.Arithmetic: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws(PredicateTreeError) -> Node {
    let function: PredicateFunction
    switch op {
    case .add: function = .add
    case .subtract: function = .subtract
    case .multiply: function = .multiply
    @unknown default: throw PredicateConversion.unsupported("Arithmetic")
    }
    return .expression(.function(function, [try conversion.expression(lhs), try conversion.expression(rhs)]))
  }
}

extension PredicateExpressions.IntDivision: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws(PredicateTreeError) -> Node {
    .expression(.function(.divide, [try conversion.expression(lhs), try conversion.expression(rhs)]))
  }
}

extension PredicateExpressions.FloatDivision: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws(PredicateTreeError) -> Node {
    .expression(.function(.divide, [try conversion.expression(lhs), try conversion.expression(rhs)]))
  }
}

extension PredicateExpressions.IntRemainder: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws(PredicateTreeError) -> Node {
    .expression(.function(.modulus, [try conversion.expression(lhs), try conversion.expression(rhs)]))
  }
}

extension PredicateExpressions.UnaryMinus: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws(PredicateTreeError) -> Node {
    switch try conversion.expression(wrapped) {
    case .constant(let constant) where constant.isNumber:
      return .expression(.constant(try Self.negated(constant)))
    case let tree: return .expression(.function(.negate, [tree]))
    }
  }

  private static func negated(_ constant: PredicateConstant) throws(PredicateTreeError) -> PredicateConstant {
    do {
      return try PredicateArithmetic.call(.negate, [constant])
    } catch {
      throw PredicateConversion.unsupported("-", "of a value that is no number")
    }
  }
}
