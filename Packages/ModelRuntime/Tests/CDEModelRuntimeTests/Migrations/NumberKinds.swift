import CDEManagedModel
import Foundation

/// What becomes of a number whose attribute gets another type: a plain model of the rules, with extreme values.
enum NumberKinds {
  enum Fit { case same, rounded, unfit }

  static let types: [NSAttributeType] = [
    .booleanAttributeType, .integer16AttributeType, .integer32AttributeType, .integer64AttributeType,
    .floatAttributeType, .doubleAttributeType, .decimalAttributeType,
  ]

  static func extremes(of type: NSAttributeType) -> [NSNumber] {
    switch type {
    case .booleanAttributeType: [true, false]
    case .integer16AttributeType: [Int16.min, -1, 0, 1, 2, Int16.max].map { NSNumber(value: $0) }
    case .integer32AttributeType:
      [Int32.min, -32_769, -32_768, 0, 1, 32_767, 32_768, 16_777_217, Int32.max].map { NSNumber(value: $0) }
    case .integer64AttributeType:
      [
        Int64.min, -2_147_483_649, -1, 0, 1, 16_777_216, 16_777_217, 2_147_483_648, 1 << 53, (1 << 53) + 1,
        Int64.max,
      ].map { NSNumber(value: $0) }
    case .floatAttributeType:
      [
        0, 1, -1.5, 0.1, 32_767.5, -32_768.5, 2_147_483_648, 9.223372e18, -9.223372e18, 1e30,
        .leastNonzeroMagnitude, .greatestFiniteMagnitude, .infinity, -.infinity,
      ].map { (value: Float) in NSNumber(value: value) }
    case .doubleAttributeType:
      [
        0, 1, 0.1, 0.1 + 0.2, 32_767.9, -32_768.9, 32_768, 2_147_483_647.5, 9_223_372_036_854_774_784,
        -9_223_372_036_854_775_808, 9_223_372_036_854_775_808, 3.4028235677973362e38, 3.4028235677973366e38,
        7.1e-46, 7e-46, 9.87654321098765e126, 1e127, 1e-109, 1e-111, .leastNonzeroMagnitude, 1e300, .infinity,
        -.infinity,
      ].map { (value: Double) in NSNumber(value: value) }
    default:
      [
        "0", "1", "0.1", "-0.5", "12.75", "32767.99", "40000.5", "-2147483649", "9223372036854775807", "1e18",
        "1e30", "-1e100", "1e-100",
      ].map { NSDecimalNumber(string: $0) }
    }
  }

  /// The new value, nil for an unfit one.
  static func converted(_ value: NSNumber, to type: NSAttributeType) -> (value: NSNumber?, fit: Fit) {
    switch type {
    case .booleanAttributeType:
      return value.doubleValue == 0 || value.doubleValue == 1
        ? (NSNumber(value: value.doubleValue == 1), .same) : (nil, .unfit)
    case .integer16AttributeType: return whole(value, Int16.self)
    case .integer32AttributeType: return whole(value, Int32.self)
    case .integer64AttributeType: return whole(value, Int64.self)
    case .floatAttributeType:
      let number = integer(value).map { Float($0) } ?? Float(real(value))
      if number.isInfinite, real(value).isFinite { return (nil, .unfit) }
      return (NSNumber(value: number), isSame(Double(number), value) ? .same : .rounded)
    case .doubleAttributeType:
      let number = integer(value).map { Double($0) } ?? real(value)
      return (NSNumber(value: number), isSame(number, value) ? .same : .rounded)
    default:
      if value is NSDecimalNumber { return (value, .same) }
      if let integer = integer(value) { return (NSDecimalNumber(decimal: Decimal(integer)), .same) }
      let number = value.doubleValue
      if abs(number) >= 1e127 { return (nil, .unfit) }
      if abs(number) < 1e-110 { return (NSDecimalNumber.zero, number == 0 ? .same : .rounded) }
      let digits = String(format: "%.15g", number)
      return (NSDecimalNumber(string: digits), Double(digits) == number ? .same : .rounded)
    }
  }

  private static func whole<Integer: FixedWidthInteger>(
    _ value: NSNumber, _: Integer.Type
  ) -> (value: NSNumber?, fit: Fit) {
    if let exact = integer(value) {
      return Integer(exactly: exact) == nil ? (nil, .unfit) : (NSNumber(value: exact), .same)
    }
    let cut = real(value).rounded(.towardZero)
    guard let number = Integer(exactly: cut) else { return (nil, .unfit) }
    return (NSNumber(value: Int64(number)), cut == real(value) ? .same : .rounded)
  }

  private static func isSame(_ number: Double, _ value: NSNumber) -> Bool {
    integer(value).map { Int64(exactly: number) == $0 } ?? (number == real(value))
  }

  /// The value if it is a whole number of 64 bits that is not held as a floating-point one.
  private static func integer(_ value: NSNumber) -> Int64? {
    if value is NSDecimalNumber { return Int64(value.stringValue) }
    return ["d", "f"].contains(String(cString: value.objCType)) ? nil : value.int64Value
  }

  private static func real(_ value: NSNumber) -> Double {
    value is NSDecimalNumber ? Double(value.stringValue)! : value.doubleValue
  }
}
