internal import Foundation

/// The kinds to which a predicate's constant can be converted, depending on the compared attribute, as in
/// Core Data.
@_spi(CDE) public enum PredicateConversionTarget: Sendable {
  /// A whole or floating-point number, or a boolean.
  case number
  case decimal
  case date
}

extension PredicateConstant {
  /// The constant in the form of the attribute that it is compared with. Text that contains a number becomes
  /// the number. A number becomes the date that many seconds after the reference date.
  ///
  /// - Returns: nil if the constant has no such form. Core Data then ends the program or compares with zero.
  @_spi(CDE) public func converted(to target: PredicateConversionTarget) -> PredicateConstant? {
    switch (self, target) {
    case (.string(let text), .number): return Self.number(text)
    case (.string(let text), .decimal):
      return Self.number(text).map { number in
        if case .double = number, let decimal = Decimal(string: text) { return .decimal(decimal) }
        return number
      }
    case (.integer, .date), (.double, .date), (.decimal, .date):
      guard let seconds = doubleValue, !seconds.isNaN else { return nil }
      return .date(Date(timeIntervalSinceReferenceDate: seconds))
    default: return nil
    }
  }

  // Only decimal notation. Swift would also read hexadecimal numbers, "inf" and "nan".
  private static func number(_ text: String) -> PredicateConstant? {
    if let integer = Int64(text) { return .integer(integer) }
    let isDecimal = text.utf8.allSatisfy { byte in
      switch byte {
      case 0x30...0x39, UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "e"),
        UInt8(ascii: "E"):
        true
      default: false
      }
    }
    guard isDecimal, let double = Double(text), double.isFinite else { return nil }
    return .double(double)
  }

  /// The same constant in the kind of a value that it is compared with.
  func converted(toKindOf value: PredicateConstant) -> PredicateConstant? {
    switch value {
    case .bool, .integer, .double: converted(to: .number)
    case .decimal: converted(to: .decimal)
    case .date: converted(to: .date)
    default: nil
    }
  }

  /// Whether the constants are of one kind and can therefore be equal. Nil belongs to each kind.
  func isComparable(with other: PredicateConstant) -> Bool {
    switch (self, other) {
    case (.null, _), (_, .null), (.string, .string), (.date, .date), (.data, .data), (.uuid, .uuid),
      (.url, .url),
      (.object, .object), (.list, .list):
      true
    default: isNumber && other.isNumber
    }
  }
}

extension PredicateTreeError {
  /// The error for a pattern of `MATCHES` that is no regular expression.
  @_spi(CDE) public static var malformedExpression: PredicateTreeError {
    PredicateTreeError(
      .malformedPattern, construct: "MATCHES",
      "the pattern of MATCHES is not a regular expression in ICU's syntax")
  }

  /// The error for a comparison that can never be true, because its sides are of different kinds.
  ///
  /// - Parameters:
  ///   - name: The attribute or the computed value.
  ///   - noun: Its kind.
  ///   - other: The other side, with its kind.
  @_spi(CDE) public static func kinds(
    _ op: String, _ name: String, _ noun: String, _ other: String
  ) -> PredicateTreeError {
    PredicateTreeError(
      .operands, construct: name,
      "\(op) compares \(name), which is \(noun), with \(other); compare it with \(noun)")
  }
}
