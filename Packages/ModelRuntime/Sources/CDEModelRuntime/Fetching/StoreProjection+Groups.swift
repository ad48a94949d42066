internal import CDEStore

extension StoreProjection {
  /// Whether the results are of groups of rows.
  var isGrouped: Bool { !grouping.isEmpty || columns.contains(where: \.hasGroup) }

  /// Whether the results are as many as the rows that the condition finds.
  var hasOneResultForEachRow: Bool { !isGrouped && !isDistinct }
}

extension StoreProjection.Column {
  fileprivate var hasGroup: Bool {
    if case .value(let expression) = self { return expression.hasGroup }
    return false
  }

  /// The column as a value that rows are grouped by.
  var expression: StoreExpression {
    switch self {
    case .value(let expression): expression
    case .object(let path): .path(path)
    }
  }
}

extension StoreExpression {
  /// Whether the value contains an aggregate over the rows of a group.
  var hasGroup: Bool { contains { if case .group = $0 { true } else { false } } }

  /// Whether the value is computed from some values alone: from those that rows are grouped by, or those of a
  /// distinct result.
  func isMade(of values: Set<StoreExpression>) -> Bool {
    if values.contains(self) { return true }
    switch self {
    case .value, .group: return true
    case .path, .count, .aggregate, .countWhere: return false
    case .list(let members), .function(_, let members): return members.allSatisfy { $0.isMade(of: values) }
    case .conditional(let test, let first, let second):
      return test.isMade(of: values) && first.isMade(of: values) && second.isMade(of: values)
    }
  }

  fileprivate func contains(_ isFound: (StoreExpression) -> Bool) -> Bool {
    if isFound(self) { return true }
    switch self {
    case .value, .path, .count, .aggregate: return false
    // Conditions on elements of a relationship have no groups.
    case .countWhere: return false
    case .group(_, let inner): return inner.contains(isFound)
    case .list(let members), .function(_, let members): return members.contains { $0.contains(isFound) }
    case .conditional(let test, let first, let second):
      return test.contains(isFound) || first.contains(isFound) || second.contains(isFound)
    }
  }
}

extension StoreFilter {
  /// Whether the condition is one on some values alone; see `StoreExpression.isMade(of:)`.
  func isMade(of values: Set<StoreExpression>) -> Bool {
    switch self {
    case .constant: true
    case .and(let parts), .or(let parts): parts.allSatisfy { $0.isMade(of: values) }
    case .not(let part): part.isMade(of: values)
    case .rules(let rules, let otherwise):
      rules.allSatisfy { $0.condition.isMade(of: values) } && otherwise.isMade(of: values)
    case .comparison(let left, _, let right, _): left.isMade(of: values) && right.isMade(of: values)
    case .any, .keys, .entity: false
    }
  }

  fileprivate func contains(_ isFound: (StoreExpression) -> Bool) -> Bool {
    switch self {
    case .constant, .keys, .any, .entity: false
    case .and(let parts), .or(let parts): parts.contains { $0.contains(isFound) }
    case .not(let part): part.contains(isFound)
    case .rules(let rules, let otherwise):
      rules.contains { $0.condition.contains(isFound) } || otherwise.contains(isFound)
    case .comparison(let left, _, let right, _): left.contains(isFound) || right.contains(isFound)
    }
  }
}
