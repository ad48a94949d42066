internal import Foundation

extension PredicateConversion {
  /// The condition on the members of a collection, with the closure's parameter as a subquery variable.
  mutating func condition(
    _ variable: PredicateExpressions.VariableID, _ test: some Any
  ) throws(PredicateTreeError) -> (name: String, test: PredicateTree) {
    let name = freshName()
    let test = try binding(variable, to: .variable(name)) { conversion throws(PredicateTreeError) in
      try conversion.predicate(test)
    }
    return (name, test)
  }

  /// The condition for each member of a captured list; nil for another collection.
  ///
  /// A query has no rows for these members, so the condition stands once for each of them.
  mutating func conditions(
    onCaptured collection: ExpressionTree, _ variable: PredicateExpressions.VariableID, _ test: some Any
  ) throws(PredicateTreeError) -> [PredicateTree]? {
    guard case .constant(.list(let members)) = collection else { return nil }
    var conditions: [PredicateTree] = []
    for member in members {
      conditions.append(
        try binding(variable, to: .constant(member)) { conversion throws(PredicateTreeError) in
          try conversion.predicate(test)
        })
    }
    return conditions
  }

  static func count(
    _ collection: ExpressionTree, _ name: String, _ test: PredicateTree, _ op: PredicateOperator
  ) -> Node {
    .predicate(
      .compare(
        .aggregate(.count, of: .subquery(collection: collection, variable: name, where: test)), op,
        .constant(.integer(0))))
  }
}

extension PredicateExpressions.SequenceContains: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws(PredicateTreeError) -> Node {
    let collection = try conversion.expression(sequence)
    let member = try conversion.expression(element)
    if LHS.Output.self == String.self { return .predicate(.compare(collection, .contains, member)) }
    return .predicate(.compare(member, .in, collection))
  }
}

extension PredicateExpressions.SequenceContainsWhere: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws(PredicateTreeError) -> Node {
    let collection = try conversion.expression(sequence)
    if let conditions = try conversion.conditions(onCaptured: collection, variable.key, test) {
      return .predicate(conditions.isEmpty ? .constant(false) : .or(conditions))
    }
    let (name, test) = try conversion.condition(variable.key, test)
    return PredicateConversion.count(collection, name, test, .greater)
  }
}

extension PredicateExpressions.SequenceAllSatisfy: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws(PredicateTreeError) -> Node {
    let collection = try conversion.expression(sequence)
    if let conditions = try conversion.conditions(onCaptured: collection, variable.key, test) {
      return .predicate(conditions.isEmpty ? .constant(true) : .and(conditions))
    }
    let (name, test) = try conversion.condition(variable.key, test)
    return PredicateConversion.count(collection, name, .not(test), .equal)
  }
}

extension PredicateExpressions.Filter: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws(PredicateTreeError) -> Node {
    let collection = try conversion.expression(sequence)
    let (name, test) = try conversion.condition(variable.key, filter)
    return .filter(collection: collection, variable: name, test)
  }
}

extension PredicateExpressions.SequenceMaximum: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws(PredicateTreeError) -> Node {
    .expression(.aggregate(.maximum, of: try conversion.expression(elements)))
  }
}

extension PredicateExpressions.SequenceMinimum: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws(PredicateTreeError) -> Node {
    .expression(.aggregate(.minimum, of: try conversion.expression(elements)))
  }
}

extension PredicateExpressions.SequenceStartsWith: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws(PredicateTreeError) -> Node {
    guard Base.Output.self == String.self else {
      throw PredicateConversion.unsupported("starts(with:)", "it is understood for texts alone")
    }
    return .predicate(
      .compare(try conversion.expression(base), .beginsWith, try conversion.expression(self.prefix)))
  }
}

extension PredicateExpressions.CollectionContainsCollection: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws(PredicateTreeError) -> Node {
    guard Base.Output.self == String.self else {
      throw PredicateConversion.unsupported("contains", "a part of a collection is looked for in texts alone")
    }
    return .predicate(.compare(try conversion.expression(base), .contains, try conversion.expression(other)))
  }
}

extension PredicateExpressions.StringContainsRegex: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws(PredicateTreeError) -> Node {
    guard case .regex(let pattern) = try conversion.node(regex) else {
      throw PredicateConversion.unsupported("contains", "the regular expression is not a literal")
    }
    // MATCHES applies to the whole text.
    return .predicate(
      .compare(
        try conversion.expression(subject), .matches, .constant(.string("(?s:.*)(?:\(pattern))(?s:.*)"))))
  }
}

extension PredicateExpressions.Range: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws(PredicateTreeError) -> Node {
    .range(lower: try conversion.expression(lower), upper: try conversion.expression(upper), closed: false)
  }
}

extension PredicateExpressions.ClosedRange: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws(PredicateTreeError) -> Node {
    .range(lower: try conversion.expression(lower), upper: try conversion.expression(upper), closed: true)
  }
}

extension PredicateExpressions.RangeExpressionContains: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws(PredicateTreeError) -> Node {
    guard case .range(let lower, let upper, let closed) = try conversion.node(range) else {
      throw PredicateConversion.unsupported("contains", "of a range that is no range of values")
    }
    let element = try conversion.expression(element)
    if let lower, let upper, closed {
      return .predicate(.compare(element, .between, ExpressionTree.list(of: [lower, upper])))
    }
    var parts: [PredicateTree] = []
    if let lower { parts.append(.compare(element, .greaterOrEqual, lower)) }
    if let upper { parts.append(.compare(element, closed ? .lessOrEqual : .less, upper)) }
    return .predicate(parts.count == 1 ? parts[0] : .and(parts))
  }
}
