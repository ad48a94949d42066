@_spi(CDE) internal import CDEOperators
@_spi(CDE) internal import CDEPredicates
internal import CDEStore

extension QueryResolver {
  /// An expression of constants, evaluated at once.
  static func inMemory(_ expression: ExpressionTree) throws -> QueryOperand {
    guard case .constant(let constant) = try expression.evaluate(with: [String: Any]()) else {
      return .constant(.null)
    }
    return .constant(constant)
  }

  func call(
    _ function: PredicateFunction, _ arguments: [ExpressionTree], _ scope: Scope
  ) throws -> QueryOperand {
    let operands = try arguments.map { try operand($0, scope) }
    if function == .element { return try element(operands) }
    let constants = operands.compactMap { operand in
      if case .constant(let constant) = operand { constant } else { PredicateConstant?.none }
    }
    if constants.count == operands.count {
      return try Self.inMemory(.function(function, constants.map { .constant($0) }))
    }
    if function == .coalesce { return try coalesce(operands) }
    if constants.contains(.null) { return .constant(.null) }
    let values = try operands.map { try single($0, for: function.rawValue) }
    switch function {
    case .bitXor: return try exclusiveOr(values)
    case .lowercase: return try text(.lowercase, function, values, .text)
    case .uppercase: return try text(.uppercase, function, values, .text)
    case .length: return try text(.length, function, values, .number(.integer))
    case .canonical: return try text(.canonical, function, values, .text)
    default:
      guard let store = function.ofNumbers.flatMap({ StoreExpression.Function(rawValue: $0.rawValue) }) else {
        throw unsupported(function, values, "evaluate the predicate in memory")
      }
      switch function.result {
      case .operands: return try arithmetic(store, function, values)
      case .whole where try Self.form(function, values) == .integer: return operands[0]
      case .whole, .fraction: return try real(store, function, values)
      }
    }
  }

  /// A function whose result is a number with a fraction.
  private func real(
    _ store: StoreExpression.Function, _ function: PredicateFunction, _ values: [QueryValue]
  ) throws -> QueryOperand {
    _ = try Self.form(function, values)
    return Self.result(store, function, values.map(\.expression), .number(.real))
  }

  private static func result(
    _ store: StoreExpression.Function, _ function: PredicateFunction, _ arguments: [StoreExpression],
    _ kind: QueryKind
  ) -> QueryOperand {
    .value(QueryValue(expression: .function(store, arguments), kind: kind, name: function.rawValue))
  }

  private func element(_ operands: [QueryOperand]) throws -> QueryOperand {
    if operands.count == 2, case .members(.list(let members)) = operands[0],
      case .constant(.integer(let index)) = operands[1]
    {
      let place = index == -1 ? members.count - 1 : Int(clamping: index)
      return members.indices.contains(place) ? members[place] : .constant(.null)
    }
    throw PredicateTreeError(
      .unsupported, construct: "[]",
      "a member by its index has no form in a store; quantify the relationship with ANY, compare an aggregate such as "
        + "@max, or evaluate the predicate in memory")
  }

  private func unsupported(
    _ function: PredicateFunction, _ values: [QueryValue], _ remedy: String
  ) -> PredicateTreeError {
    let names = values.map(\.name).joined(separator: ", ")
    return PredicateTreeError(
      .unsupported, construct: function.rawValue,
      "\(function.rawValue) of \(names) has no form in a store; \(remedy)")
  }

  // MARK: Numbers and text

  /// The form of a function's result.
  private static func form(
    _ function: PredicateFunction, _ values: [QueryValue]
  ) throws -> QueryKind.Number {
    var result = QueryKind.Number.integer
    for value in values {
      guard case .number(let form) = value.kind, !value.isNaN else {
        throw PredicateTreeError(
          .operands, construct: function.rawValue,
          "\(function.rawValue) is for numbers, but \(value.name) is "
            + (value.isNaN ? "none" : value.kind.noun)
        )
      }
      result = result.joined(form)
    }
    return result
  }

  private func arithmetic(
    _ store: StoreExpression.Function, _ function: PredicateFunction, _ values: [QueryValue]
  ) throws -> QueryOperand {
    var arguments = values.map(\.expression)
    if let kind = Self.kindOfDates(function, values) {
      return Self.result(store, function, arguments, kind)
    }
    let form = try Self.form(function, values)
    if function == .modulus, form != .integer { return try real(.remainder, function, values) }
    // SQLite's operator cuts off fractions, and a computed integer becomes a fraction where it overflows.
    let store = function == .modulus && !arguments.allSatisfy(\.isGiven) ? .remainder : store
    if function.isOfBits, form != .integer {
      throw unsupported(function, values, "a store has the bits of integers alone")
    }
    if function == .divide, form == .decimal {
      // A whole decimal is an integer in the column, and a division of integers would lose the fraction.
      arguments[0] = .function(.multiply, [arguments[0], .value(.real(1))])
    }
    let result = QueryValue(
      expression: .function(store, arguments), kind: .number(form), name: function.rawValue)
    // Memory computes decimals with each other exactly, and with floating-point numbers as these. A sign rounds nothing.
    let isExact = values.count == 1 || values.contains { $0.kind == .number(.real) }
    return .value(isExact ? result : result.asDecimal)
  }

  /// The kind of a date moved by seconds, or of the seconds between two dates; nil for other operands.
  private static func kindOfDates(_ function: PredicateFunction, _ values: [QueryValue]) -> QueryKind? {
    guard values.count == 2, !values[0].isNaN, !values[1].isNaN else { return nil }
    switch (function, values[0].kind, values[1].kind) {
    case (.subtract, .date, .date): return .number(.real)
    case (.add, .date, .number), (.add, .number, .date), (.subtract, .date, .number): return .date
    default: return nil
    }
  }

  // SQL has no operator for it: the bits of either without the bits of both.
  private func exclusiveOr(_ values: [QueryValue]) throws -> QueryOperand {
    guard case .value(let either) = try arithmetic(.bitOr, .bitXor, values),
      case .value(let both) = try arithmetic(.bitAnd, .bitXor, values)
    else { return .constant(.null) }
    return try arithmetic(.subtract, .bitXor, [either, both])
  }

  func text(
    _ store: StoreExpression.Function, _ function: PredicateFunction, _ values: [QueryValue],
    _ kind: QueryKind
  ) throws -> QueryOperand {
    guard values.count == 1, values[0].kind == .text else {
      throw PredicateTreeError(
        .operands, construct: function.rawValue,
        "\(function.rawValue) is for one text, but \(values[0].name) is \(values[0].kind.noun)")
    }
    return .value(
      QueryValue(
        expression: .function(store, [values[0].expression]), kind: kind,
        name: "\(function.rawValue) of \(values[0].name)"))
  }

  // MARK: Choices

  private func coalesce(_ operands: [QueryOperand]) throws -> QueryOperand {
    var choices: [QueryOperand] = []
    for operand in operands {
      let isNil = try isNil(operand)
      if isNil == .constant(true) { continue }
      choices.append(operand)
      // A value that is never nil hides all following values.
      if isNil == .constant(false) { break }
    }
    guard choices.count > 1 else { return choices.first ?? .constant(.null) }
    let values = try choices.map { try single($0, for: "coalesce") }
    return .value(
      QueryValue(
        expression: .function(.firstNonNil, values.map(\.expression)),
        kind: try kind(of: values, "coalesce"), name: "coalesce"))
  }

  func conditional(
    _ condition: PredicateTree, _ first: ExpressionTree, _ second: ExpressionTree, _ scope: Scope
  ) throws -> QueryOperand {
    let test = try filter(condition, scope)
    let (first, second) = (try operand(first, scope), try operand(second, scope))
    if case .constant(let holds) = test { return holds ? first : second }
    let operands = [first, second]
    let values = try operands.map { try single($0, for: "TERNARY") }
    let known = try zip(operands, values).compactMap { operand, value in
      try isNil(operand) == .constant(true) ? nil : value
    }
    guard !known.isEmpty else { return .constant(.null) }
    return .value(
      QueryValue(
        expression: .conditional(test, values[0].expression, values[1].expression),
        kind: try kind(of: known, "TERNARY"), name: "TERNARY"))
  }

  /// The common kind of the values that an expression selects from.
  private func kind(of values: [QueryValue], _ construct: String) throws -> QueryKind {
    var result = values[0].kind
    for value in values.dropFirst() {
      guard result.isComparable(with: value.kind), !value.isNaN else {
        throw PredicateTreeError(
          .operands, construct: construct,
          "\(construct) chooses between values of one kind, but \(values[0].name) is \(result.noun) "
            + "and \(value.name) is \(value.kind.noun)")
      }
      if case .number(let a) = result, case .number(let b) = value.kind { result = .number(a.joined(b)) }
    }
    return result
  }
}

extension PredicateFunction {
  fileprivate var isOfBits: Bool {
    [.bitAnd, .bitOr, .bitXor, .bitNot, .shiftLeft, .shiftRight].contains(self)
  }
}

extension QueryKind.Number {
  fileprivate func joined(_ other: Self) -> Self {
    self == other ? self : self == .decimal || other == .decimal ? .decimal : .real
  }
}

extension QueryValue {
  /// A computed decimal as the number that stores have for it; other values unchanged.
  var asDecimal: QueryValue {
    guard kind == .number(.decimal) else { return self }
    var result = self
    result.expression = .function(.decimal, [expression])
    return result
  }
}

extension StoreExpression {
  /// Whether the value is a constant or in a column.
  fileprivate var isGiven: Bool {
    switch self {
    case .value, .path: true
    default: false
    }
  }
}
