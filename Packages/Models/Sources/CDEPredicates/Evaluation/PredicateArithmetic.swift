@_spi(CDE) internal import CDEOperators
internal import Foundation

/// The scalar functions of predicates (see ``PredicateFunction``): those of conditions, and of decimals and dates.
@_spi(CDE) public enum PredicateArithmetic {
  /// The value of a function. The caller handles nil arguments.
  ///
  /// - Throws: ``PredicateTreeError`` with code `operands` if an argument is of the wrong kind.
  public static func call(_ function: PredicateFunction, _ values: [PredicateConstant]) throws
    -> PredicateConstant
  {
    switch function {
    case .lowercase, .uppercase, .canonical, .length:
      guard values.count == 1, case .string(let text) = values[0] else {
        throw mismatch(function, "one text")
      }
      switch function {
      case .lowercase: return .string(text.lowercased())
      case .uppercase: return .string(text.uppercased())
      case .length: return .integer(Int64(text.unicodeScalars.count))
      default: return .string(TextComparison.canonical(text))
      }
    default:
      guard let ofNumbers = function.ofNumbers else { throw mismatch(function, "its own evaluation") }
      if let result = dates(function, values) ?? decimals(function, values) { return result }
      let numbers = values.compactMap(\.number)
      do {
        // What is no number is a missing operand.
        return PredicateConstant(
          try ConditionNumber.call(ofNumbers, numbers.count == values.count ? numbers : []))
      } catch {
        throw mismatch(function, error.operands)
      }
    }
  }

  private static func mismatch(_ function: PredicateFunction, _ needs: String) -> PredicateTreeError {
    PredicateTreeError(.operands, construct: function.rawValue, "\(function.rawValue) needs \(needs)")
  }

  /// A date and a number of seconds, or the seconds between two dates; nil for other operands.
  private static func dates(
    _ function: PredicateFunction, _ values: [PredicateConstant]
  ) -> PredicateConstant? {
    guard values.count == 2 else { return nil }
    func moved(_ date: Date, by seconds: Double?) -> PredicateConstant {
      guard let seconds, !seconds.isNaN else { return .null }
      return .date(date.addingTimeInterval(seconds))
    }
    switch (function, values[0], values[1]) {
    case (.subtract, .date(let left), .date(let right)): return .double(left.timeIntervalSince(right))
    case (.add, .date(let date), let other) where other.isNumber: return moved(date, by: other.doubleValue)
    case (.add, let other, .date(let date)) where other.isNumber: return moved(date, by: other.doubleValue)
    case (.subtract, .date(let date), let other) where other.isNumber:
      return moved(date, by: other.doubleValue.map { -$0 })
    default: return nil
    }
  }

  /// A function of decimals, or of decimals and whole numbers; nil for other operands and functions.
  ///
  /// A result that no decimal holds is a floating-point number, as stores compute it.
  private static func decimals(
    _ function: PredicateFunction, _ values: [PredicateConstant]
  ) -> PredicateConstant? {
    let operands = values.compactMap(\.decimalValue)
    guard operands.count == values.count, values.contains(where: { $0.integerValue == nil }) else {
      return nil
    }
    func fitting(_ result: Decimal, _ operation: (Double, Double) -> Double) -> PredicateConstant {
      guard result.isNaN, !operands.contains(where: \.isNaN), let left = values[0].doubleValue,
        let right = values[1].doubleValue
      else { return .decimal(result) }
      return .double(operation(left, right))
    }
    switch (function, operands.count) {
    case (.add, 2): return fitting(operands[0] + operands[1], +)
    case (.subtract, 2): return fitting(operands[0] - operands[1], -)
    case (.multiply, 2):
      // Foundation's multiplication traps below the least exponent, and has no result above the greatest one.
      let hasExponent = operands[0].exponent + operands[1].exponent >= -128
      return fitting(hasExponent ? operands[0] * operands[1] : .nan, *)
    case (.divide, 2): return operands[1].isZero ? .null : fitting(operands[0] / operands[1], /)
    case (.modulus, 2):
      guard let left = values[0].wholeValue, let right = values[1].wholeValue else { return nil }
      return PredicateConstant(try? ConditionNumber.call(.modulus, [.whole(left), .whole(right)]))
    case (.negate, 1): return .decimal(-operands[0])
    case (.abs, 1): return .decimal(abs(operands[0]))
    case (.floor, 1), (.ceiling, 1), (.truncate, 1): return values[0].wholeValue.map { .integer($0) }
    default: return nil
    }
  }
}

extension PredicateConstant {
  /// The number that stores have for the constant, if it has a kind of number.
  var number: ConditionNumber? { integerValue.map { .whole($0) } ?? doubleValue.map { .real($0) } }

  fileprivate init(_ number: ConditionNumber?) {
    self =
      switch number {
      case .whole(let value): .integer(value)
      case .real(let value): .double(value)
      case nil: .null
      }
  }
}
