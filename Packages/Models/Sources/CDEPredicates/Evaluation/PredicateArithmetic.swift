internal import Foundation

/// The scalar functions of predicates, with SQLite's rules for integers (see ``PredicateFunction``).
@_spi(CDE) public enum PredicateArithmetic {
  /// The value of a function. The caller handles nil arguments.
  ///
  /// - Throws: ``PredicateTreeError`` with code `operands` if an argument is of the wrong kind.
  public static func call(_ function: PredicateFunction, _ values: [PredicateConstant]) throws
    -> PredicateConstant
  {
    switch function {
    case .add, .subtract, .multiply, .divide, .modulus, .power:
      if values.count == 2, let result = dates(function, values[0], values[1]) { return result }
      guard values.count == 2, values[0].isNumber, values[1].isNumber else {
        throw mismatch(function, "two numbers")
      }
      return apply(function, values[0], values[1])
    case .bitAnd, .bitOr, .bitXor, .shiftLeft, .shiftRight:
      guard values.count == 2, let a = values[0].integerValue, let b = values[1].integerValue else {
        throw mismatch(function, "two whole numbers")
      }
      return .integer(bits(function, a, b))
    case .bitNot:
      guard values.count == 1, let value = values[0].integerValue else {
        throw mismatch(function, "one whole number")
      }
      return .integer(~value)
    case .negate, .abs, .floor, .ceiling, .truncate, .squareRoot, .exponential, .naturalLogarithm,
      .logarithm:
      guard values.count == 1, values[0].isNumber else { throw mismatch(function, "one number") }
      return unary(function, values[0])
    case .lowercase, .uppercase, .canonical, .length:
      guard values.count == 1, case .string(let text) = values[0] else {
        throw mismatch(function, "one text")
      }
      switch function {
      case .lowercase: return .string(text.lowercased())
      case .uppercase: return .string(text.uppercased())
      case .length: return .integer(Int64(text.unicodeScalars.count))
      default: return .string(PredicateText.fold(text, [.caseInsensitive, .diacriticInsensitive]))
      }
    case .coalesce, .now, .union, .intersect, .minus, .element: throw mismatch(function, "its own evaluation")
    }
  }

  /// A date and a number of seconds, or the seconds between two dates; nil for other operands.
  private static func dates(
    _ function: PredicateFunction, _ left: PredicateConstant, _ right: PredicateConstant
  ) -> PredicateConstant? {
    func moved(_ date: Date, by seconds: Double?) -> PredicateConstant {
      guard let seconds, !seconds.isNaN else { return .null }
      return .date(date.addingTimeInterval(seconds))
    }
    switch (function, left, right) {
    case (.subtract, .date(let left), .date(let right)): return .double(left.timeIntervalSince(right))
    case (.add, .date(let date), _) where right.isNumber: return moved(date, by: right.doubleValue)
    case (.add, _, .date(let date)) where left.isNumber: return moved(date, by: left.doubleValue)
    case (.subtract, .date(let date), _) where right.isNumber:
      return moved(date, by: right.doubleValue.map { -$0 })
    default: return nil
    }
  }

  // Swift's shifts treat large and negative distances as SQLite's do.
  private static func bits(_ function: PredicateFunction, _ a: Int64, _ b: Int64) -> Int64 {
    switch function {
    case .bitAnd: a & b
    case .bitOr: a | b
    case .bitXor: a ^ b
    case .shiftLeft: a << b
    default: a >> b
    }
  }

  private static func mismatch(_ function: PredicateFunction, _ needs: String) -> PredicateTreeError {
    PredicateTreeError(.operands, construct: function.rawValue, "\(function.rawValue) needs \(needs)")
  }

  static func apply(
    _ function: PredicateFunction, _ left: PredicateConstant, _ right: PredicateConstant
  ) -> PredicateConstant {
    if let a = left.integerValue, let b = right.integerValue, let result = integers(function, a, b) {
      return result
    }
    if function == .modulus, let a = left.wholeValue, let b = right.wholeValue {
      return integers(function, a, b) ?? .null
    }
    // Two integers come here where they overflow. As in SQLite, their result is a double.
    if left.integerValue == nil || right.integerValue == nil, let a = left.decimalValue,
      let b = right.decimalValue, let result = decimals(function, a, b)
    {
      return result
    }
    guard let a = left.doubleValue, let b = right.doubleValue else { return .null }
    let result: Double
    switch function {
    case .add: result = a + b
    case .subtract: result = a - b
    case .multiply: result = a * b
    case .divide: result = b == 0 ? .nan : a / b
    case .modulus: result = b == 0 ? .nan : a.truncatingRemainder(dividingBy: b)
    case .power: result = Foundation.pow(a, b)
    default: return .null
    }
    // SQLite has no value for it either.
    return result.isNaN ? .null : .double(result)
  }

  // nil when the result is no 64-bit integer. The caller then computes with doubles.
  private static func integers(_ function: PredicateFunction, _ a: Int64, _ b: Int64) -> PredicateConstant? {
    let result: (partialValue: Int64, overflow: Bool)
    switch function {
    case .add: result = a.addingReportingOverflow(b)
    case .subtract: result = a.subtractingReportingOverflow(b)
    case .multiply: result = a.multipliedReportingOverflow(by: b)
    case .divide:
      if b == 0 { return .null }
      result = a.dividedReportingOverflow(by: b)
    case .modulus:
      if b == 0 { return .null }
      if b == -1 { return .integer(0) }
      result = (a % b, false)
    default: return nil
    }
    return result.overflow ? nil : .integer(result.partialValue)
  }

  private static func decimals(_ function: PredicateFunction, _ a: Decimal, _ b: Decimal)
    -> PredicateConstant?
  {
    switch function {
    case .add: return .decimal(a + b)
    case .subtract: return .decimal(a - b)
    case .multiply: return .decimal(a * b)
    case .divide: return b.isZero ? .null : .decimal(a / b)
    default: return nil
    }
  }

  private static func unary(_ function: PredicateFunction, _ value: PredicateConstant) -> PredicateConstant {
    if let integer = value.integerValue {
      switch function {
      case .negate: return apply(.subtract, .integer(0), value)
      case .abs: return integer < 0 ? apply(.subtract, .integer(0), value) : .integer(integer)
      case .floor, .ceiling, .truncate: return .integer(integer)
      default: break
      }
    }
    if case .decimal(let decimal) = value {
      switch function {
      case .floor, .ceiling, .truncate: if let whole = value.wholeValue { return .integer(whole) }
      case .negate: return .decimal(-decimal)
      case .abs: return .decimal(abs(decimal))
      default: break
      }
    }
    guard let double = value.doubleValue else { return .null }
    switch function {
    // As SQLite: of zero it is zero, not negative zero.
    case .negate: return .double(0 - double)
    case .abs: return .double(abs(double))
    case .floor: return .double(double.rounded(.down))
    case .ceiling: return .double(double.rounded(.up))
    case .truncate: return .double(double.rounded(.towardZero))
    // SQLite has no square root of a negative number either.
    case .squareRoot: return double < 0 ? .null : .double(double.squareRoot())
    case .exponential: return .double(Foundation.exp(double))
    case .naturalLogarithm: return double > 0 ? .double(Foundation.log(double)) : .null
    case .logarithm: return double > 0 ? .double(Foundation.log10(double)) : .null
    default: return .null
    }
  }
}
