@_spi(CDE) internal import CDEOperators
@_spi(CDE) internal import CDEPredicates
internal import CDEStore

extension QueryResolver {
  func compare(
    _ left: QueryOperand, _ op: PredicateOperator, _ right: QueryOperand, _ options: PredicateTextOptions,
    _ depth: Int
  ) throws -> StoreFilter {
    if case .entity(let row, _) = left { return try entity(of: row, left, op, right, options) }
    if case .entity(let row, _) = right { return try entity(of: row, left, op, right, options) }
    switch op {
    case .equal: return try equal(left, right, options, depth)
    case .notEqual: return try equal(left, right, options, depth).opposite
    case .less: return try order(left, .less, right, op, options)
    case .lessOrEqual: return try order(left, .lessOrEqual, right, op, options)
    case .greater: return try order(left, .greater, right, op, options)
    case .greaterOrEqual: return try order(left, .greaterOrEqual, right, op, options)
    case .between:
      guard case .members(.list(let bounds)) = right, bounds.count == 2 else {
        throw PredicateTreeError(.operands, construct: "BETWEEN", "BETWEEN needs a list of two bounds")
      }
      return try between(left, bounds[0], bounds[1], options)
    case .in:
      if case .members(let members) = right { return try contains(members, left, op, options, depth) }
      return try text(right, .contains, left, op, options)
    case .contains:
      if case .members(let members) = left { return try contains(members, right, op, options, depth) }
      return try text(left, .contains, right, op, options)
    default:
      guard let ofTexts = op.ofTexts else {
        throw PredicateTreeError(
          .unsupported, construct: op.rawValue,
          "a store has no \(op.rawValue); evaluate the predicate in memory")
      }
      return try text(left, ofTexts, right, op, options)
    }
  }

  // MARK: Equality

  private func equal(
    _ left: QueryOperand, _ right: QueryOperand, _ options: PredicateTextOptions, _ depth: Int
  ) throws -> StoreFilter {
    switch (left, right) {
    case (.members(let a), .members(let b)):
      return .every([try isPart(a, of: b, options, depth), try isPart(b, of: a, options, depth)])
    case (.members(let members), .constant(.null)), (.constant(.null), .members(let members)):
      return try any(members, depth) { _, _ in .constant(true) }.opposite
    default: return try same(left, right, options, "==")
    }
  }

  private func isPart(
    _ part: QueryMembers, of whole: QueryMembers, _ options: PredicateTextOptions, _ depth: Int
  ) throws -> StoreFilter {
    try any(part, depth) { member, inner in
      try contains(whole.lifted(from: depth, to: inner), member, .equal, options, inner).opposite
    }.opposite
  }

  /// Equality of two single values.
  private func same(
    _ left: QueryOperand, _ right: QueryOperand, _ options: PredicateTextOptions, _ construct: String
  ) throws -> StoreFilter {
    switch (left, right) {
    case (.constant(let a), .constant(let b)): return try constant(a, .equal, b, options)
    case (.constant(.null), let other), (let other, .constant(.null)): return try isNil(other)
    default: break
    }
    guard let (a, b) = try paired(left, right, construct) else {
      return .every([try isNil(left), try isNil(right)])
    }
    if a.isNaN || b.isNaN { return .constant(false) }
    if let key = Self.key(of: left, equal: b) ?? Self.key(of: right, equal: a) { return .keys([key]) }
    let (first, second) = Self.aligned(a, b)
    return .comparison(first, .equal, second, Self.options(options, a.kind))
  }

  /// The key that a condition on the fetched row itself requires, if any. A look-up then replaces the
  /// comparison.
  private static func key(of operand: QueryOperand, equal value: QueryValue) -> Int64? {
    guard case .row(let row) = operand, row.scope == 0, row.hops.isEmpty,
      case .value(.reference(_, let key)) = value.expression
    else { return nil }
    return key
  }

  /// The condition for `SELF IN` a list that contains only objects; nil for other lists. No operand is made
  /// for each object, because such lists are long.
  func keys(of list: ExpressionTree, for operand: QueryOperand) throws -> StoreFilter? {
    guard case .constant(.list(let constants)) = list, case .row(let row) = operand, row.scope == 0,
      row.hops.isEmpty
    else { return nil }
    let root = schema.entities[row.entity].root
    var keys: [Int64] = []
    keys.reserveCapacity(constants.count)
    for constant in constants {
      guard case .object(let object) = constant, case .reference(let entity, let key) = try reference(object)
      else { return nil }
      if schema.entities[entity].root == root { keys.append(key) }
    }
    return keys.isEmpty ? .constant(false) : .keys(keys)
  }

  /// Whether a collection contains a member.
  private func contains(
    _ members: QueryMembers, _ element: QueryOperand, _ op: PredicateOperator,
    _ options: PredicateTextOptions, _ depth: Int
  ) throws -> StoreFilter {
    if case .members(let inner) = element {
      throw PredicateTreeError(
        .operands, construct: op.rawValue,
        "\(name(of: inner)) is a collection; quantify it with ANY or ALL")
    }
    guard case .list(let list) = members else {
      return try any(members, depth) { member, inner in
        try same(member, element.lifted(from: depth, to: inner), options, op.rawValue)
      }
    }
    return try isIn(element, list, options)
  }

  private func isIn(
    _ element: QueryOperand, _ list: [QueryOperand], _ options: PredicateTextOptions
  ) throws -> StoreFilter {
    var parts: [StoreFilter] = []
    var keys: [Int64] = []
    var values: [StoreExpression] = []
    var kind: QueryKind?
    for member in list {
      let part = try same(element, member, options, "IN")
      switch part {
      case .keys(let more): keys += more
      case .comparison(let left, .equal, let right, _):
        // One list instead of many comparisons, but only if the element itself is compared.
        if let value = try plain(element), value.expression == left {
          kind = value.kind
          if !Self.isBetweenRealNumbers(right, of: value) { values.append(right) }
        } else {
          parts.append(part)
        }
      default: parts.append(part)
      }
    }
    if !keys.isEmpty { parts.append(.keys(keys)) }
    if let value = try plain(element), !values.isEmpty {
      parts.append(
        values.count == 1
          ? .comparison(value.expression, .equal, values[0], Self.options(options, kind ?? value.kind))
          : .comparison(value.expression, .in, .list(values), Self.options(options, kind ?? value.kind)))
    }
    return .some(parts)
  }

  /// Whether a whole number equals no value of an attribute with a floating point. In a list, SQLite would round it to the nearest one.
  private static func isBetweenRealNumbers(_ member: StoreExpression, of element: QueryValue) -> Bool {
    guard case .path = element.expression, element.kind == .number(.real),
      case .value(.integer(let whole)) = member
    else { return false }
    return Double(exactly: whole) == nil
  }

  /// The element of a membership test if the store computes it; nil for constants.
  private func plain(_ operand: QueryOperand) throws -> QueryValue? {
    switch operand {
    case .value(let value): value
    case .row: try single(operand, for: "IN")
    case .constant, .composite, .members, .entity: nil
    }
  }

  // MARK: Order

  private func order(
    _ left: QueryOperand, _ comparison: StoreFilter.Comparison, _ right: QueryOperand,
    _ op: PredicateOperator, _ options: PredicateTextOptions
  ) throws -> StoreFilter {
    if case .constant(let a) = left, case .constant(let b) = right {
      return try constant(a, op, b, options)
    }
    guard let (a, b) = try ordered(left, right, op) else { return .constant(false) }
    let (first, second) = Self.aligned(a, b)
    return .comparison(first, comparison, second, Self.options(options, a.kind))
  }

  private func between(
    _ left: QueryOperand, _ lower: QueryOperand, _ upper: QueryOperand, _ options: PredicateTextOptions
  ) throws -> StoreFilter {
    if case .constant = left {
      return .every([
        try order(left, .greaterOrEqual, lower, .greaterOrEqual, options),
        try order(left, .lessOrEqual, upper, .lessOrEqual, options),
      ])
    }
    guard let (a, b) = try ordered(left, lower, .between), let (_, c) = try ordered(left, upper, .between)
    else { return .constant(false) }
    let bounds = [Self.aligned(a, b).1, Self.aligned(a, c).1]
    return .comparison(a.expression, .between, .list(bounds), Self.options(options, a.kind))
  }

  /// Both sides; nil when they have no order: nil, values of different kinds, objects, NaN.
  private func ordered(
    _ left: QueryOperand, _ right: QueryOperand, _ op: PredicateOperator
  ) throws -> (QueryValue, QueryValue)? {
    if case .constant(.null) = left { return nil }
    if case .constant(.null) = right { return nil }
    guard let (a, b) = try paired(left, right, op.rawValue), !a.isNaN, !b.isNaN else { return nil }
    switch a.kind {
    case .object, .opaque: return nil
    default: return (a, b)
    }
  }

  // MARK: Kinds

  /// Both sides as single values of one kind. A constant is converted to the kind of the other side.
  ///
  /// - Returns: nil for objects of different trees and for two constants.
  /// - Throws: ``PredicateTreeError`` that names the sides and their kinds if no object can satisfy the
  ///   comparison.
  private func paired(
    _ left: QueryOperand, _ right: QueryOperand, _ construct: String
  ) throws -> (QueryValue, QueryValue)? {
    let (a, b) = (try single(left, for: construct), try single(right, for: construct))
    if a.kind.isComparable(with: b.kind) { return (a, b) }
    switch (left, right) {
    case (.constant, .constant): return nil
    case (_, .constant(let constant)):
      if let converted = try converted(constant, to: a.kind, construct) { return (a, converted) }
      if case .object = a.kind, case .object = b.kind { return nil }
      throw PredicateTreeError.kinds(construct, a.name, a.kind.noun, b.kind.noun)
    case (.constant(let constant), _):
      if let converted = try converted(constant, to: b.kind, construct) { return (converted, b) }
      if case .object = a.kind, case .object = b.kind { return nil }
      throw PredicateTreeError.kinds(construct, b.name, b.kind.noun, a.kind.noun)
    default:
      if case .object = a.kind, case .object = b.kind { return nil }
      throw PredicateTreeError.kinds(construct, a.name, a.kind.noun, "\(b.name), which is \(b.kind.noun)")
    }
  }

  private func converted(
    _ constant: PredicateConstant, to kind: QueryKind, _ construct: String
  ) throws -> QueryValue? {
    let target: PredicateConversionTarget
    switch kind {
    case .number(.decimal): target = .decimal
    case .number: target = .number
    case .date: target = .date
    default: return nil
    }
    return try constant.converted(to: target).map { try single(.constant($0), for: construct) }
  }

  // MARK: Text

  private func text(
    _ subject: QueryOperand, _ ofTexts: TextOperator, _ other: QueryOperand,
    _ op: PredicateOperator, _ options: PredicateTextOptions
  ) throws -> StoreFilter {
    guard let whole = try side(subject, op), let part = try side(other, op) else { return .constant(false) }
    if ofTexts.hasPattern, case .constant(.string(let pattern)) = other,
      ofTexts.pattern(pattern, options) == nil
    {
      // Before any row is read.
      throw PredicateTreeError.malformedExpression
    }
    if case .constant(let a) = subject, case .constant(let b) = other {
      return op == .in ? try constant(b, op, a, options) : try constant(a, op, b, options)
    }
    return .comparison(whole.expression, .text(ofTexts), part.expression, Self.options(options, .text))
  }

  /// A side of a text operator; nil if its value is nil.
  private func side(_ operand: QueryOperand, _ op: PredicateOperator) throws -> QueryValue? {
    if case .constant(.null) = operand { return nil }
    let value = try single(operand, for: op.rawValue)
    guard value.kind == .text else {
      throw PredicateTreeError(
        .operands, construct: op.rawValue,
        "\(op.rawValue) is for text, but \(value.isConstant ? "it is given" : "\(value.name) is") "
          + value.kind.noun)
    }
    return value
  }

  // MARK: Details

  /// Compares two constants by the common definition.
  private func constant(
    _ left: PredicateConstant, _ op: PredicateOperator, _ right: PredicateConstant,
    _ options: PredicateTextOptions
  ) throws -> StoreFilter {
    .constant(
      try PredicateTree.compare(.constant(left), op, .constant(right), options)
        .evaluate(with: PredicateValue.null))
  }

  private static func options(_ options: PredicateTextOptions, _ kind: QueryKind) -> StoreFilter.TextOptions {
    guard kind == .text, !options.contains(.normalized) else { return [] }
    return options.intersection([.caseInsensitive, .diacriticInsensitive])
  }

  /// The two expressions. A fraction that is compared with a decimal has that decimal's form.
  private static func aligned(
    _ left: QueryValue, _ right: QueryValue
  ) -> (StoreExpression, StoreExpression) {
    (left.expression(comparedWith: right), right.expression(comparedWith: left))
  }
}

extension QueryValue {
  fileprivate var isConstant: Bool {
    if case .value = expression { return true }
    return false
  }

  var isNaN: Bool {
    if case .value(.real(let value)) = expression { return value.isNaN }
    return false
  }

  fileprivate func expression(comparedWith other: QueryValue) -> StoreExpression {
    guard case .value(.real(let value)) = expression, value.isFinite, value != value.rounded(.towardZero),
      other.kind == .number(.decimal)
    else { return expression }
    switch other.expression {
    // A store converts the digits of a column to its numbers itself, and not always to the double that Swift finds nearest.
    // It converts a text in the same way.
    case .path: return .value(.text("\(value)"))
    case .function(.decimal, _):
      guard case .real(let rounded)? = try? ConditionNumber.call(.decimal, [.real(value)]) else {
        return expression
      }
      return .value(.real(rounded))
    default: return expression
    }
  }
}
