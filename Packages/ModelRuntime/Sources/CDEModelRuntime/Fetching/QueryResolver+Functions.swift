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
    case .add: return try arithmetic(.add, function, values)
    case .subtract: return try arithmetic(.subtract, function, values)
    case .multiply: return try arithmetic(.multiply, function, values)
    case .divide: return try arithmetic(.divide, function, values)
    case .modulus: return try arithmetic(.modulus, function, values)
    case .negate: return try arithmetic(.negate, function, values)
    case .abs: return try arithmetic(.absolute, function, values)
    case .lowercase: return try text(.lowercase, function, values, .text)
    case .uppercase: return try text(.uppercase, function, values, .text)
    case .length: return try text(.length, function, values, .number(.integer))
    case .floor, .ceiling, .truncate:
      if try Self.form(function, values) == .integer { return operands[0] }
      throw unsupported(function, values, "evaluate the predicate in memory")
    case .canonical: throw unsupported(function, values, "compare with the option [cd] instead")
    case .power, .squareRoot, .coalesce, .now:
      throw unsupported(function, values, "evaluate the predicate in memory")
    }
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
    let form = try Self.form(function, values)
    var arguments = values.map(\.expression)
    if function == .modulus, form != .integer {
      throw unsupported(function, values, "a store has the remainder of integers alone")
    }
    if function == .divide, form == .decimal {
      // A whole decimal is an integer in the column, and a division of integers would lose the fraction.
      arguments[0] = .function(.multiply, [arguments[0], .value(.real(1))])
    }
    return .value(
      QueryValue(
        expression: .function(store, arguments), kind: .number(form), name: function.rawValue))
  }

  private func text(
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

extension QueryKind.Number {
  fileprivate func joined(_ other: Self) -> Self {
    self == other ? self : self == .decimal || other == .decimal ? .decimal : .real
  }
}
