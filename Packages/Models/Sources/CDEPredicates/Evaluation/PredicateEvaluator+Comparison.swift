@_spi(CDE) public import CDEOperators
internal import Foundation

extension PredicateEvaluator {
  func compare(
    _ left: PredicateValue, _ right: PredicateValue, in comparison: PredicateComparison
  ) throws -> Bool {
    let op = comparison.op
    switch op {
    case .equal: return try equal(left, right, comparison)
    case .notEqual: return try !equal(left, right, comparison)
    case .less: return try order(left, right, comparison).map { $0 < 0 } ?? false
    case .lessOrEqual: return try order(left, right, comparison).map { $0 <= 0 } ?? false
    case .greater: return try order(left, right, comparison).map { $0 > 0 } ?? false
    case .greaterOrEqual: return try order(left, right, comparison).map { $0 >= 0 } ?? false
    case .between:
      guard let bounds = right.members, bounds.count == 2 else {
        throw PredicateTreeError(.operands, construct: "BETWEEN", "BETWEEN needs a list of two bounds")
      }
      guard let lower = try order(left, bounds[0], comparison), lower >= 0 else { return false }
      return try order(left, bounds[1], comparison).map { $0 <= 0 } ?? false
    case .in:
      if case .constant(.list(let list)) = right, left.members == nil {
        return try isMember(left, of: list, comparison)
      }
      if let members = right.members { return try members.contains { try same(left, $0, comparison) } }
      return try text(right, .contains, left, comparison)
    case .contains:
      if let members = left.members { return try members.contains { try same($0, right, comparison) } }
      return try text(left, .contains, right, comparison)
    default:
      guard let ofTexts = op.ofTexts else {
        throw PredicateTreeError(
          .unsupported, construct: op.rawValue, "\(op.rawValue) can't be evaluated in memory")
      }
      return try text(left, ofTexts, right, comparison)
    }
  }

  private func equal(
    _ left: PredicateValue, _ right: PredicateValue, _ comparison: PredicateComparison
  ) throws -> Bool {
    switch (left.members, right.members) {
    case (nil, nil): return try same(left, right, comparison)
    case (let left?, let right?):
      return try left.allSatisfy { member in try right.contains { try same(member, $0, comparison) } }
        && right.allSatisfy { member in try left.contains { try same($0, member, comparison) } }
    case (let members?, nil) where right.isNull: return members.isEmpty
    case (nil, let members?) where left.isNull: return members.isEmpty
    default:
      throw PredicateTreeError(
        .operands, construct: "==",
        "a collection is compared with a single value; quantify it with ANY or ALL")
    }
  }

  private func order(
    _ left: PredicateValue, _ right: PredicateValue, _ comparison: PredicateComparison
  ) throws -> Int? {
    guard left.members == nil, right.members == nil else {
      throw PredicateTreeError(
        .operands, construct: comparison.op.rawValue,
        "a collection has no order; quantify it with ANY or ALL")
    }
    guard case .constant(let left) = left, case .constant(let right) = right else {
      try requireOneKind(left, right, comparison)
      return nil
    }
    if left.isComparable(with: right) { return PredicateOrder.compare(left, right, comparison.options) }
    guard let (left, right) = try converted(left, right, comparison) else { return nil }
    return PredicateOrder.compare(left, right, comparison.options)
  }

  private func text(
    _ subject: PredicateValue, _ op: TextOperator, _ other: PredicateValue,
    _ comparison: PredicateComparison
  ) throws -> Bool {
    guard subject.members == nil, other.members == nil else {
      throw PredicateTreeError(
        .operands, construct: comparison.op.rawValue,
        "\(comparison.op.rawValue) on a collection; quantify it with ANY or ALL")
    }
    guard case .constant(.string(let text)) = subject, case .constant(.string(let pattern)) = other else {
      if subject.isNull || other.isNull { return false }
      if isTyped, !comparison.left.isConstant || !comparison.right.isConstant {
        let value = subject.isText ? other : subject
        let expression =
          (comparison.op == .in) == subject.isText ? comparison.left : comparison.right
        throw PredicateTreeError(
          .operands, construct: comparison.op.rawValue,
          "\(comparison.op.rawValue) is for text, but \(expression.predicateFormat) is \(value.noun)")
      }
      return false
    }
    let isLeft = comparison.op != .in
    var keeping: TextOperator.Sides = []
    if (isLeft ? comparison.left : comparison.right).isConstant { keeping.insert(.text) }
    if (isLeft ? comparison.right : comparison.left).isConstant { keeping.insert(.part) }
    guard let holds = op.holds(text, pattern, comparison.options, cache, keeping: keeping) else {
      throw PredicateTreeError.malformedExpression
    }
    return holds
  }

  /// A side of a comparison of texts. A constant side is folded once for all objects.
  private func folded(
    _ text: String, _ options: PredicateTextOptions, of side: ExpressionTree
  ) -> String {
    guard let cache, side.isConstant else { return TextComparison.folded(text, options) }
    return cache.folded(text, options)
  }

  /// Equality of two single values.
  func same(
    _ left: PredicateValue, _ right: PredicateValue, _ comparison: PredicateComparison
  ) throws -> Bool {
    switch (left, right) {
    case (.constant(let left), .constant(let right)): return try same(left, right, comparison)
    case (.object(let left), .object(let right)):
      if let left = left.predicateReference, let right = right.predicateReference { return left == right }
      return Self.identity(left).map { $0 == Self.identity(right) } ?? false
    case (.object(let object), .constant(.object(let reference))),
      (.constant(.object(let reference)), .object(let object)):
      return object.predicateReference == reference
    default:
      try requireOneKind(left, right, comparison)
      return false
    }
  }

  func same(
    _ left: PredicateConstant, _ right: PredicateConstant, _ comparison: PredicateComparison
  ) throws -> Bool {
    if left.isComparable(with: right) {
      if !comparison.options.isEmpty, case .string(let a) = left, case .string(let b) = right,
        !comparison.options.contains(.localized)
      {
        return folded(a, comparison.options, of: comparison.left).utf8.elementsEqual(
          folded(b, comparison.options, of: comparison.right).utf8)
      }
      return PredicateOrder.equal(left, right, comparison.options)
    }
    guard let (left, right) = try converted(left, right, comparison) else { return false }
    return PredicateOrder.equal(left, right, comparison.options)
  }

  /// Whether two members of collections are one. Values of different kinds are not.
  func isSame(_ left: PredicateValue, _ right: PredicateValue) -> Bool {
    if case .constant(let left) = left, case .constant(let right) = right {
      return PredicateOrder.equal(left, right, [])
    }
    let comparison = PredicateComparison(.constant(.null), .equal, .constant(.null))
    return (try? same(left, right, comparison)) ?? false
  }

  // MARK: Kinds

  /// Values of different kinds. A constant among them is converted to the kind of the other value.
  ///
  /// - Returns: nil if the two are unequal and unordered.
  @inline(never)
  private func converted(
    _ left: PredicateConstant, _ right: PredicateConstant, _ comparison: PredicateComparison
  ) throws -> (PredicateConstant, PredicateConstant)? {
    switch (comparison.left.isConstant, comparison.right.isConstant) {
    case (true, true):
      // A choice between a property and a constant has the property's kind, whichever it chose.
      if comparison.right.isWholeConstant, !comparison.left.isWholeConstant {
        return right.converted(toKindOf: left).map { (left, $0) }
      }
      if comparison.left.isWholeConstant, !comparison.right.isWholeConstant {
        return left.converted(toKindOf: right).map { ($0, right) }
      }
      return nil
    case (false, true): if let right = right.converted(toKindOf: left) { return (left, right) }
    case (true, false): if let left = left.converted(toKindOf: right) { return (left, right) }
    case (false, false): break
    }
    try requireOneKind(.constant(left), .constant(right), comparison)
    return nil
  }

  /// - Throws: ``PredicateTreeError`` if the object's properties have types and the values have different
  ///   kinds.
  @inline(never)
  private func requireOneKind(
    _ left: PredicateValue, _ right: PredicateValue, _ comparison: PredicateComparison
  ) throws {
    guard isTyped, !left.isNull, !right.isNull, !comparison.left.isConstant || !comparison.right.isConstant
    else { return }
    if case .object = left, case .object = right { return }
    if case .object = left, case .constant(.object) = right { return }
    if case .object = right, case .constant(.object) = left { return }
    if case .constant(let left) = left, case .constant(let right) = right, left.isComparable(with: right) {
      return
    }
    let (subject, value, other, otherValue) =
      comparison.left.isConstant
      ? (comparison.right, right, comparison.left, left) : (comparison.left, left, comparison.right, right)
    throw PredicateTreeError.kinds(
      comparison.op.rawValue, subject.predicateFormat, value.noun,
      other.isConstant ? otherValue.noun : "\(other.predicateFormat), which is \(otherValue.noun)")
  }

  private static func identity(_ object: any PredicateValueProviding) -> ObjectIdentifier? {
    let subject: Any = (object as? ReflectedObject)?.subject ?? object
    guard type(of: subject) is AnyClass else { return nil }
    return ObjectIdentifier(subject as AnyObject)
  }
}

extension PredicateValue {
  fileprivate var isText: Bool {
    if case .constant(.string) = self { return true }
    return false
  }

  fileprivate var noun: String {
    switch self {
    case .constant(let constant): constant.kindNoun
    case .object: "an object"
    case .collection: "a collection"
    }
  }
}

extension ExpressionTree {
  /// Whether the expression is a constant, is computed from constants alone, or may have a constant as its
  /// result.
  var isConstant: Bool {
    switch self {
    case .constant: true
    case .list(let members): members.allSatisfy(\.isConstant)
    case .function(_, let arguments): arguments.allSatisfy(\.isConstant)
    case .conditional(_, let first, let second): first.isConstant || second.isConstant
    default: false
    }
  }
}

extension ExpressionTree {
  /// Whether the expression is computed from constants alone.
  fileprivate var isWholeConstant: Bool {
    switch self {
    case .constant: true
    case .list(let members): members.allSatisfy(\.isWholeConstant)
    case .function(_, let arguments): arguments.allSatisfy(\.isWholeConstant)
    default: false
    }
  }
}

/// The order and equality of constants. Comparisons and sort orders use this one definition.
@_spi(CDE) public enum PredicateOrder {
  /// Whether two constants are equal. Nil equals only nil.
  public static func equal(
    _ left: PredicateConstant, _ right: PredicateConstant, _ options: PredicateTextOptions
  )
    -> Bool
  {
    switch (left, right) {
    case (.integer(let a), .integer(let b)): a == b
    case (.null, .null): true
    case (.string(let a), .string(let b)): TextComparison.equal(a, b, options)
    case (.object(let a), .object(let b)): a == b
    case (.list(let a), .list(let b)):
      a.count == b.count && zip(a, b).allSatisfy { equal($0, $1, options) }
    default: compare(left, right, options) == 0
    }
  }

  /// nil when the two have no order: nil operands, values of different kinds, objects, NaN.
  public static func compare(
    _ left: PredicateConstant, _ right: PredicateConstant, _ options: PredicateTextOptions
  ) -> Int? {
    switch (left, right) {
    case (.integer(let a), .integer(let b)): order(a, b)
    case (.string(let a), .string(let b)): TextComparison.order(a, b, options)
    case (.date(let a), .date(let b)): order(a, b)
    case (.data(let a), .data(let b)): TextComparison.byteOrder(a, b)
    case (.uuid(let a), .uuid(let b)):
      withUnsafeBytes(of: a.uuid) { a in
        withUnsafeBytes(of: b.uuid) { TextComparison.byteOrder(a, $0) }
      }
    case (.url(let a), .url(let b)):
      TextComparison.byteOrder(a.absoluteString.utf8, b.absoluteString.utf8)
    default: numbers(left, right)
    }
  }

  private static func order<T: Comparable>(_ left: T, _ right: T) -> Int {
    left < right ? -1 : left == right ? 0 : 1
  }

  private static func numbers(_ left: PredicateConstant, _ right: PredicateConstant) -> Int? {
    if let a = left.integerValue, let b = right.integerValue { return order(a, b) }
    if let a = left.decimalValue, let b = right.decimalValue { return a.isNaN || b.isNaN ? nil : order(a, b) }
    guard let a = left.stored, let b = right.stored else { return nil }
    return ConditionNumber.order(a, b)
  }
}

extension PredicateConstant {
  /// The number as stores keep it: a decimal without a fraction is a whole number.
  fileprivate var stored: ConditionNumber? { wholeValue.map { .whole($0) } ?? number }
}
