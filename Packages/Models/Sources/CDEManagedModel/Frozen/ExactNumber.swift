@_spi(CDE) internal import CDEOperators
public import Foundation

/// Converts numbers of any type for attributes, exactly or not at all.
///
/// Foundation's own conversions always return a number: the low bits of a number that is too large, and the
/// smallest integer for an invalid number.
@_spi(CDE) public enum ExactNumber {
  /// The whole number equal to a value; nil for fractions, for numbers beyond 64 bits, and for values that
  /// are no numbers.
  public static func integer(_ value: Any) -> Int64? {
    if let decimal = plainDecimal(value) { return integer(decimal) }
    switch value {
    case let number as NSNumber: return integer(number)
    case let value as any BinaryInteger: return Int64(exactly: value)
    default: return nil
    }
  }

  private static func integer(_ number: NSNumber) -> Int64? {
    switch NumberKind(number) {
    case .floating, .decimal: Int64(exactly: number.doubleValue)
    case .unsigned: Int64(exactly: number.uint64Value)
    case .signed, .boolean: number.int64Value
    }
  }

  private static func integer(_ decimal: Decimal) -> Int64? {
    // A larger exponent gives more digits than any 64-bit integer has.
    decimal.isNaN || decimal.exponent > 18 ? nil : Int64(NSDecimalNumber(decimal: decimal).stringValue)
  }

  /// The truth value of a boolean, 0 or 1; nil for other values.
  public static func boolean(_ value: Any) -> Bool? {
    switch integer(value) {
    case 0: false
    case 1: true
    default: nil
    }
  }

  /// The nearest floating-point number; nil for an integer without an equal one, for NaN, and for values that
  /// are no numbers.
  public static func double(_ value: Any) -> Double? {
    if let decimal = plainDecimal(value) {
      // By its digits, because Foundation's own conversion does not return the nearest number.
      return decimal.isNaN ? nil : Double(NSDecimalNumber(decimal: decimal).stringValue)
    }
    switch value {
    case let number as NSNumber:
      switch NumberKind(number) {
      case .floating, .decimal: return number.doubleValue.isNaN ? nil : number.doubleValue
      case .unsigned: return Double(exactly: number.uint64Value)
      case .signed, .boolean: return Double(exactly: number.int64Value)
      }
    case let value as any BinaryInteger: return Double(exactly: value)
    default: return nil
    }
  }

  /// The same with 32 bits; nil also for a number outside the range.
  public static func float(_ value: Any) -> Float? {
    guard let double = double(value) else { return nil }
    let float = Float(double)
    if double.isFinite != float.isFinite { return nil }
    // A fraction may be rounded. A whole number must be exact.
    return integer(value) != nil && Double(float) != double ? nil : float
  }

  /// The decimal number of a value, if a store can store it.
  public static func decimal(_ value: Any) -> Decimal? {
    let decimal: Decimal
    if let decimal = plainDecimal(value) { return isStorable(decimal) ? decimal : nil }
    switch value {
    case let number as NSNumber:
      switch NumberKind(number) {
      case .floating, .decimal:
        let double = number.doubleValue
        guard double.isFinite else { return nil }
        decimal = number.decimalValue
        let back = NSDecimalNumber(decimal: decimal).doubleValue
        guard !decimal.isNaN, abs(back - double) <= abs(double) * 1e-14 else { return nil }
      case .unsigned: decimal = Decimal(number.uint64Value)
      case .signed, .boolean: decimal = Decimal(number.int64Value)
      }
    case let value as any BinaryInteger:
      guard let integer = Int64(exactly: value) else { return nil }
      decimal = Decimal(integer)
    default: return nil
    }
    return isStorable(decimal) ? decimal : nil
  }

  /// Whether a decimal number can be read back from its column.
  ///
  /// As in Core Data, a column stores a decimal as an integer or a floating-point number with 15 digits. The
  /// position of the last digit may be outside the range of `Decimal`.
  public static func isStorable(_ decimal: Decimal) -> Bool {
    if decimal.isNaN { return false }
    if (-100...100).contains(decimal.exponent) { return true }
    let double = NSDecimalNumber(decimal: decimal).doubleValue
    let text = String(format: "%.15g", double)
    return double.isFinite && Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")) != nil
  }

  /// Whether a value is a number of any type, booleans included.
  public static func isNumber(_ value: Any) -> Bool {
    value is NSNumber || value is Decimal || value is any BinaryInteger
  }

  /// A decimal number that was given as a decimal. Numbers of other types can be cast to decimals, too.
  private static func plainDecimal(_ value: Any) -> Decimal? {
    type(of: value) == Decimal.self ? value as? Decimal : (value as? NSDecimalNumber)?.decimalValue
  }
}
