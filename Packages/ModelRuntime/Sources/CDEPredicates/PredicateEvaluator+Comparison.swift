internal import Foundation

extension PredicateEvaluator {
  func compare(
    _ left: PredicateValue, _ op: PredicateOperator, _ right: PredicateValue, _ options: PredicateTextOptions
  ) throws -> Bool {
    switch op {
    case .equal: return try equal(left, right, options)
    case .notEqual: return try !equal(left, right, options)
    case .less: return try order(left, right, options, op).map { $0 < 0 } ?? false
    case .lessOrEqual: return try order(left, right, options, op).map { $0 <= 0 } ?? false
    case .greater: return try order(left, right, options, op).map { $0 > 0 } ?? false
    case .greaterOrEqual: return try order(left, right, options, op).map { $0 >= 0 } ?? false
    case .between:
      guard let bounds = right.members, bounds.count == 2 else {
        throw PredicateTreeError(.operands, construct: "BETWEEN", "BETWEEN needs a list of two bounds")
      }
      guard let lower = try order(left, bounds[0], options, op), lower >= 0 else { return false }
      return try order(left, bounds[1], options, op).map { $0 <= 0 } ?? false
    case .in:
      // The common list of literals, without wrapping every member.
      if case .constant(.list(let list)) = right, case .constant(let constant) = left, left.members == nil {
        return list.contains { PredicateOrder.equal(constant, $0, options) }
      }
      if let members = right.members { return members.contains { same(left, $0, options) } }
      return try text(left, .contains, right, options, swapped: true)
    case .contains:
      if let members = left.members { return members.contains { same($0, right, options) } }
      return try text(left, op, right, options)
    case .beginsWith, .endsWith, .like, .matches: return try text(left, op, right, options)
    }
  }

  private func equal(_ left: PredicateValue, _ right: PredicateValue, _ options: PredicateTextOptions) throws
    -> Bool
  {
    switch (left.members, right.members) {
    case (nil, nil): return same(left, right, options)
    case (let left?, let right?):
      return left.allSatisfy { member in right.contains { same(member, $0, options) } }
        && right.allSatisfy { member in left.contains { same(member, $0, options) } }
    case (let members?, nil) where right.isNull: return members.isEmpty
    case (nil, let members?) where left.isNull: return members.isEmpty
    default:
      throw PredicateTreeError(
        .operands, construct: "==",
        "a collection is compared with a single value; quantify it with ANY or ALL")
    }
  }

  private func order(
    _ left: PredicateValue, _ right: PredicateValue, _ options: PredicateTextOptions, _ op: PredicateOperator
  ) throws -> Int? {
    guard left.members == nil, right.members == nil else {
      throw PredicateTreeError(
        .operands, construct: op.rawValue, "a collection has no order; quantify it with ANY or ALL")
    }
    guard case .constant(let left) = left, case .constant(let right) = right else { return nil }
    return PredicateOrder.compare(left, right, options)
  }

  private func text(
    _ left: PredicateValue, _ op: PredicateOperator, _ right: PredicateValue, _ options: PredicateTextOptions,
    swapped: Bool = false
  ) throws -> Bool {
    let (subject, other) = swapped ? (right, left) : (left, right)
    guard subject.members == nil, other.members == nil else {
      throw PredicateTreeError(
        .operands, construct: op.rawValue, "\(op.rawValue) on a collection; quantify it with ANY or ALL")
    }
    guard case .constant(.string(let text)) = subject, case .constant(.string(let pattern)) = other else {
      return false
    }
    switch op {
    case .beginsWith: return PredicateText.begins(text, with: pattern, options)
    case .endsWith: return PredicateText.ends(text, with: pattern, options)
    case .like, .matches:
      let prepared = try patterns?.pattern(op, pattern, options) ?? PredicatePattern(op, pattern, options)
      return prepared.matches(text)
    default: return PredicateText.contains(text, pattern, options)
    }
  }

  /// Equality of two single values.
  private func same(_ left: PredicateValue, _ right: PredicateValue, _ options: PredicateTextOptions) -> Bool
  {
    switch (left, right) {
    case (.constant(let left), .constant(let right)): return PredicateOrder.equal(left, right, options)
    case (.object(let left), .object(let right)):
      if let left = left.predicateReference, let right = right.predicateReference { return left == right }
      return Self.identity(left).map { $0 == Self.identity(right) } ?? false
    case (.object(let object), .constant(.object(let reference))),
      (.constant(.object(let reference)), .object(let object)):
      return object.predicateReference == reference
    default: return false
    }
  }

  private static func identity(_ object: any PredicateValueProviding) -> ObjectIdentifier? {
    let subject: Any = (object as? ReflectedObject)?.subject ?? object
    guard type(of: subject) is AnyClass else { return nil }
    return ObjectIdentifier(subject as AnyObject)
  }
}

/// The order and equality of constants, the one definition for comparing and for sorting.
enum PredicateOrder {
  static func equal(_ left: PredicateConstant, _ right: PredicateConstant, _ options: PredicateTextOptions)
    -> Bool
  {
    switch (left, right) {
    case (.integer(let a), .integer(let b)): a == b
    case (.null, .null): true
    case (.string(let a), .string(let b)): PredicateText.equal(a, b, options)
    case (.object(let a), .object(let b)): a == b
    case (.list(let a), .list(let b)):
      a.count == b.count && zip(a, b).allSatisfy { equal($0, $1, options) }
    default: compare(left, right, options) == 0
    }
  }

  /// nil when the two have no order: nil operands, values of different kinds, objects, NaN.
  static func compare(
    _ left: PredicateConstant, _ right: PredicateConstant, _ options: PredicateTextOptions
  ) -> Int? {
    switch (left, right) {
    case (.integer(let a), .integer(let b)): order(a, b)
    case (.string(let a), .string(let b)): PredicateText.order(a, b, options)
    case (.date(let a), .date(let b)): order(a, b)
    case (.data(let a), .data(let b)): bytes(a, b)
    case (.uuid(let a), .uuid(let b)):
      withUnsafeBytes(of: a.uuid) { a in withUnsafeBytes(of: b.uuid) { bytes(a, $0) } }
    case (.url(let a), .url(let b)): bytes(a.absoluteString.utf8, b.absoluteString.utf8)
    default: numbers(left, right)
    }
  }

  private static func order<T: Comparable>(_ left: T, _ right: T) -> Int {
    left < right ? -1 : left == right ? 0 : 1
  }

  private static func bytes(_ left: some Sequence<UInt8>, _ right: some Sequence<UInt8>) -> Int {
    if left.elementsEqual(right) { return 0 }
    return left.lexicographicallyPrecedes(right) ? -1 : 1
  }

  private static func numbers(_ left: PredicateConstant, _ right: PredicateConstant) -> Int? {
    switch (left.integerValue, right.integerValue) {
    case (let a?, let b?): return order(a, b)
    case (let a?, nil):
      if case .double(let b) = right { return mixed(a, b) }
    case (nil, let b?):
      if case .double(let a) = left { return mixed(b, a).map { -$0 } }
    default: break
    }
    if case .double(let a) = left, case .double(let b) = right {
      return a.isNaN || b.isNaN ? nil : order(a, b)
    }
    if let a = left.decimalValue, let b = right.decimalValue { return a.isNaN || b.isNaN ? nil : order(a, b) }
    guard let a = left.doubleValue, let b = right.doubleValue, !a.isNaN, !b.isNaN else { return nil }
    return order(a, b)
  }

  // A 64-bit integer and a double compare by their exact values, as in SQLite, and not after rounding the
  // integer.
  private static func mixed(_ left: Int64, _ right: Double) -> Int? {
    if right.isNaN { return nil }
    if right >= 0x1p63 { return -1 }
    if right < -0x1p63 { return 1 }
    let whole = right.rounded(.towardZero)
    let order = order(left, Int64(whole))
    return order != 0 ? order : self.order(whole, right)
  }
}

extension PredicateConstant {
  var isNumber: Bool {
    switch self {
    case .bool, .integer, .double, .decimal: true
    default: false
    }
  }

  var integerValue: Int64? {
    switch self {
    case .bool(let value): value ? 1 : 0
    case .integer(let value): value
    default: nil
    }
  }

  /// Exact values only: integers and decimals.
  var decimalValue: Decimal? {
    if case .decimal(let value) = self { return value }
    return integerValue.map { Decimal($0) }
  }

  var doubleValue: Double? {
    switch self {
    case .double(let value): value
    case .decimal(let value): NSDecimalNumber(decimal: value).doubleValue
    default: integerValue.map { Double($0) }
    }
  }
}
