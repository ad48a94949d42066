internal import Foundation

/// A number as conditions compare it and compute with it, by SQLite's rules.
@_spi(CDE) public enum ConditionNumber: Sendable {
  case whole(Int64)
  case real(Double)

  /// The number with a floating point, rounded if it has more than 53 bits.
  public var real: Double {
    switch self {
    case .whole(let value): Double(value)
    case .real(let value): value
    }
  }

  /// Negative, zero or positive if a number is less than another one, equal or greater; nil for what is no number.
  ///
  /// A whole number and one with a floating point are compared by their exact values: the first is not rounded.
  public static func order(_ left: ConditionNumber, _ right: ConditionNumber) -> Int? {
    switch (left, right) {
    case (.whole(let left), .whole(let right)): order(left, right)
    case (.real(let left), .real(let right)): left.isNaN || right.isNaN ? nil : order(left, right)
    case (.whole(let left), .real(let right)): mixed(left, right)
    case (.real(let left), .whole(let right)): mixed(right, left).map { -$0 }
    }
  }

  private static func order<Value: Comparable>(_ left: Value, _ right: Value) -> Int {
    left < right ? -1 : left == right ? 0 : 1
  }

  private static func mixed(_ left: Int64, _ right: Double) -> Int? {
    if right.isNaN { return nil }
    if right >= 0x1p63 { return -1 }
    if right < -0x1p63 { return 1 }
    let whole = right.rounded(.towardZero)
    let order = order(left, Int64(whole))
    return order != 0 ? order : self.order(whole, right)
  }
}

// MARK: Functions
extension ConditionNumber {
  /// A function of numbers. The raw values are the names that stores have for them.
  @_spi(CDE) public enum Function: String, Sendable {
    case add, subtract, multiply, divide, modulus, power
    case bitAnd, bitOr, bitXor, shiftLeft, shiftRight, bitNot
    case negate, absolute, floor, ceiling, truncate, squareRoot, exponential, naturalLogarithm, logarithm
    /// The nearest number of 15 decimal digits, as which a store has a decimal.
    case decimal

    /// The number of operands.
    public var operandCount: Int {
      switch self {
      case .add, .subtract, .multiply, .divide, .modulus, .power, .bitAnd, .bitOr, .bitXor, .shiftLeft,
        .shiftRight:
        2
      case .bitNot, .negate, .absolute, .floor, .ceiling, .truncate, .squareRoot, .exponential,
        .naturalLogarithm, .logarithm, .decimal:
        1
      }
    }
  }

  /// What a function needs, for the message of an error.
  @_spi(CDE) public struct Mismatch: Error {
    /// The operands that the function has, such as "two numbers".
    public let operands: String
  }

  /// The value of a function.
  ///
  /// A whole result beyond 64 bits is one with a floating point.
  ///
  /// - Returns: nil where SQLite has NULL: a division by zero, a root of a negative number, what is no number.
  /// - Throws: ``Mismatch`` for another number of operands, and for a fraction where bits are combined.
  public static func call(
    _ function: Function, _ operands: [ConditionNumber]
  ) throws(Mismatch) -> ConditionNumber? {
    switch function {
    case .bitAnd, .bitOr, .bitXor, .shiftLeft, .shiftRight:
      guard operands.count == 2, case .whole(let left) = operands[0], case .whole(let right) = operands[1]
      else {
        throw Mismatch(operands: "two whole numbers")
      }
      return .whole(bits(function, left, right))
    case .bitNot:
      guard operands.count == 1, case .whole(let value) = operands[0] else {
        throw Mismatch(operands: "one whole number")
      }
      return .whole(~value)
    default:
      guard operands.count == function.operandCount else {
        throw Mismatch(operands: function.operandCount == 1 ? "one number" : "two numbers")
      }
      return operands.count == 1 ? apply(function, operands[0]) : apply(function, operands[0], operands[1])
    }
  }

  // Swift's shifts treat large and negative distances as SQLite's do.
  private static func bits(_ function: Function, _ left: Int64, _ right: Int64) -> Int64 {
    switch function {
    case .bitAnd: left & right
    case .bitOr: left | right
    case .bitXor: left ^ right
    case .shiftLeft: left << right
    default: left >> right
    }
  }

  private static func apply(
    _ function: Function, _ left: ConditionNumber, _ right: ConditionNumber
  ) -> ConditionNumber? {
    if case .whole(let left) = left, case .whole(let right) = right {
      if right == 0, function == .divide || function == .modulus { return nil }
      if let result = whole(function, left, right) { return .whole(result) }
    }
    let (left, right) = (left.real, right.real)
    switch function {
    case .add: return number(left + right)
    case .subtract: return number(left - right)
    case .multiply: return number(left * right)
    case .divide: return right == 0 ? nil : number(left / right)
    case .modulus: return right == 0 ? nil : number(left.truncatingRemainder(dividingBy: right))
    case .power: return number(Foundation.pow(left, right))
    default: return nil
    }
  }

  private static func number(_ value: Double) -> ConditionNumber? { value.isNaN ? nil : .real(value) }

  /// Nil if the result has more than 64 bits or is no whole number.
  private static func whole(_ function: Function, _ left: Int64, _ right: Int64) -> Int64? {
    let result: (partialValue: Int64, overflow: Bool)
    switch function {
    case .add: result = left.addingReportingOverflow(right)
    case .subtract: result = left.subtractingReportingOverflow(right)
    case .multiply: result = left.multipliedReportingOverflow(by: right)
    case .divide: result = left.dividedReportingOverflow(by: right)
    case .modulus: result = (right == -1 ? 0 : left % right, false)
    default: return nil
    }
    return result.overflow ? nil : result.partialValue
  }

  private static func apply(_ function: Function, _ value: ConditionNumber) -> ConditionNumber? {
    if case .whole(let whole) = value {
      switch function {
      case .negate: return apply(.subtract, .whole(0), value)
      case .absolute: return whole < 0 ? apply(.subtract, .whole(0), value) : value
      case .floor, .ceiling, .truncate, .decimal: return value
      default: break
      }
    }
    let real = value.real
    switch function {
    // As SQLite: of zero it is zero, not negative zero.
    case .negate: return number(0 - real)
    case .absolute: return number(abs(real))
    case .floor: return number(real.rounded(.down))
    case .ceiling: return number(real.rounded(.up))
    case .truncate: return number(real.rounded(.towardZero))
    case .squareRoot: return real < 0 ? nil : number(real.squareRoot())
    case .exponential: return number(Foundation.exp(real))
    case .naturalLogarithm: return real > 0 ? .real(Foundation.log(real)) : nil
    case .logarithm: return real > 0 ? .real(Foundation.log10(real)) : nil
    case .decimal:
      if abs(real) < 1e15, real == real.rounded(.towardZero) { return value }
      return number(Double(String(format: "%.15g", real)) ?? real)
    default: return nil
    }
  }
}
