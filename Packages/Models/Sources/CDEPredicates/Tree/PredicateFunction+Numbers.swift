@_spi(CDE) public import CDEOperators

@_spi(CDE) extension PredicateFunction {
  /// The function of numbers; nil for functions of other values.
  public var ofNumbers: ConditionNumber.Function? {
    switch self {
    case .add: .add
    case .subtract: .subtract
    case .multiply: .multiply
    case .divide: .divide
    case .modulus: .modulus
    case .power: .power
    case .negate: .negate
    case .bitAnd: .bitAnd
    case .bitOr: .bitOr
    case .bitXor: .bitXor
    case .bitNot: .bitNot
    case .shiftLeft: .shiftLeft
    case .shiftRight: .shiftRight
    case .abs: .absolute
    case .floor: .floor
    case .ceiling: .ceiling
    case .truncate: .truncate
    case .squareRoot: .squareRoot
    case .exponential: .exponential
    case .naturalLogarithm: .naturalLogarithm
    case .logarithm: .logarithm
    case .lowercase, .uppercase, .canonical, .length, .coalesce, .now, .union, .intersect, .minus, .element:
      nil
    }
  }

  /// The number that a function of numbers gives.
  public enum NumberResult: Sendable {
    /// As its operands: a whole number of whole numbers.
    case operands
    /// A number without a fraction. A whole operand is returned unchanged.
    case whole
    /// A number with a fraction, also of whole numbers.
    case fraction
  }

  /// The number that the function gives, if it is of numbers.
  public var result: NumberResult {
    switch self {
    case .add, .subtract, .multiply, .divide, .modulus, .negate, .abs, .bitAnd, .bitOr, .bitXor, .bitNot,
      .shiftLeft,
      .shiftRight:
      .operands
    case .floor, .ceiling, .truncate: .whole
    case .power, .squareRoot, .exponential, .naturalLogarithm, .logarithm, .lowercase, .uppercase, .canonical,
      .length,
      .coalesce, .now, .union, .intersect, .minus, .element:
      .fraction
    }
  }
}
