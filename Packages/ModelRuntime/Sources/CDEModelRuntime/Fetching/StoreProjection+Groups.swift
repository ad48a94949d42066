@_spi(CDE) internal import CDEStore

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
  var hasGroup: Bool { !QueryPart.expression(self).groupAggregates.isEmpty }
}

extension QueryPart {
  /// Whether the part is computed from some values alone: from those that rows are grouped by, or those of a
  /// distinct result.
  func isMade(of values: Set<StoreExpression>) -> Bool {
    switch self {
    case .expression(let expression) where values.contains(expression): true
    case .expression(.group): true
    case .expression(.path), .expression(.count), .expression(.aggregate), .expression(.countWhere): false
    case .filter(.any), .filter(.keys), .filter(.entity): false
    default: parts.allSatisfy { $0.isMade(of: values) }
    }
  }
}
