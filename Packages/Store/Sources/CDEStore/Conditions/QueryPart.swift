/// A condition or a value of a query, for walks over all of it.
@_spi(CDE) public enum QueryPart {
  case filter(StoreFilter)
  case expression(StoreExpression)

  /// The conditions and values that the part is made of, without the parts of these.
  public var parts: [QueryPart] {
    switch self {
    case .filter(let filter):
      switch filter {
      case .constant, .keys, .entity: []
      case .and(let parts), .or(let parts): parts.map { .filter($0) }
      case .not(let part), .any(_, let part): [.filter(part)]
      case .rules(let rules, let otherwise): rules.map { .filter($0.condition) } + [.filter(otherwise)]
      case .comparison(let left, _, let right, _): [.expression(left), .expression(right)]
      }
    case .expression(let expression):
      switch expression {
      case .value, .path, .count, .aggregate: []
      case .list(let parts), .function(_, let parts): parts.map { .expression($0) }
      case .countWhere(_, let condition): [.filter(condition)]
      case .conditional(let test, let first, let second):
        [.filter(test), .expression(first), .expression(second)]
      case .group(_, let inner): [.expression(inner)]
      }
    }
  }

  /// The aggregates over groups of rows in the part, from left to right.
  public var groupAggregates: [StoreExpression] {
    if case .expression(let expression) = self, case .group = expression { return [expression] }
    return parts.flatMap(\.groupAggregates)
  }
}
