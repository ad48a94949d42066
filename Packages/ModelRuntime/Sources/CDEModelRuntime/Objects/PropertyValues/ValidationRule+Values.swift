@_spi(CDE) internal import CDEPredicates
internal import CDEStore
internal import Foundation

extension ValidationRule {
  /// Whether a value that is not nil satisfies the rule.
  ///
  /// - Throws: when the predicate can't be evaluated with such a value.
  func holds(for value: _PropertyValue, as type: StoreAttributeType) throws -> Bool {
    switch check {
    case .bound(let op, .integer(let bound)):
      switch value {
      case .integer(let value) where type != .boolean: return Self.compare(value, op, bound)
      case .real(let value) where type != .date: return Self.compare(value, op, Double(bound))
      case .decimal(let value): return Self.compare(value, op, Decimal(bound))
      default: break
      }
    case .bound(let op, .double(let bound)):
      switch value {
      case .integer(let value) where type != .boolean: return Self.compare(Double(value), op, bound)
      case .real(let value) where type != .date: return Self.compare(value, op, bound)
      default: break
      }
    case .bound(let op, .date(let bound)):
      if case .real(let value) = value, type == .date {
        return Self.compare(value, op, bound.timeIntervalSinceReferenceDate)
      }
    case .length(let op, let bound):
      // Counted in UTF-16 units, because the predicate uses `length` of NSString.
      if case .text(let text) = value { return Self.compare(text.utf16.count, op, bound) }
      if case .data(let data) = value { return Self.compare(data.count, op, bound) }
    default: break
    }
    return try predicate.matches(value.any(as: type))
  }

  private static func compare<Value: Comparable>(
    _ value: Value, _ op: PredicateOperator, _ bound: Value
  ) -> Bool {
    switch op {
    case .less: value < bound
    case .lessOrEqual: value <= bound
    case .greater: value > bound
    case .greaterOrEqual: value >= bound
    default: value == bound
    }
  }
}
