internal import Foundation

/// How a message writes a number with a fraction.
public struct OSLogFloatFormatting: Sendable {
  let format: String

  /// Digits without an exponent, six of them behind the point.
  public static var fixed: OSLogFloatFormatting { fixed() }
  /// Digits without an exponent.
  ///
  /// - Parameters:
  ///   - precision: the number of digits behind the point.
  ///   - explicitPositiveSign: whether a positive number gets a sign.
  ///   - uppercase: whether what is no number is written in capitals.
  public static func fixed(
    precision: @autoclosure () -> Int = 6, explicitPositiveSign: Bool = false, uppercase: Bool = false
  ) -> OSLogFloatFormatting {
    OSLogFloatFormatting(format: "%\(explicitPositiveSign ? "+" : "").\(precision())\(uppercase ? "F" : "f")")
  }
  /// One digit before the point, and an exponent.
  public static var exponential: OSLogFloatFormatting { exponential() }
  /// One digit before the point, and an exponent.
  public static func exponential(
    precision: @autoclosure () -> Int = 6, explicitPositiveSign: Bool = false, uppercase: Bool = false
  ) -> OSLogFloatFormatting {
    OSLogFloatFormatting(format: "%\(explicitPositiveSign ? "+" : "").\(precision())\(uppercase ? "E" : "e")")
  }
  /// The shorter of the two others.
  public static var hybrid: OSLogFloatFormatting { OSLogFloatFormatting(format: "%g") }
}

/// How a message writes an integer.
public struct OSLogIntegerFormatting: Sendable {
  private let radix: Int
  private let prefix: String
  private let isUppercase: Bool
  private let digits: Int

  /// To the base 10.
  public static var decimal: OSLogIntegerFormatting { decimal() }
  /// To the base 10, with zeros in front.
  public static func decimal(
    explicitPositiveSign: Bool = false, minDigits: @autoclosure () -> Int = 1
  ) -> OSLogIntegerFormatting {
    OSLogIntegerFormatting(
      radix: 10, prefix: explicitPositiveSign ? "+" : "", isUppercase: false, digits: minDigits())
  }
  /// To the base 16.
  public static var hex: OSLogIntegerFormatting { hex() }
  /// To the base 16, with zeros in front.
  public static func hex(
    explicitPositiveSign: Bool = false, includePrefix: Bool = false, uppercase: Bool = false,
    minDigits: @autoclosure () -> Int = 1
  ) -> OSLogIntegerFormatting {
    OSLogIntegerFormatting(
      radix: 16, prefix: includePrefix ? "0x" : "", isUppercase: uppercase, digits: minDigits())
  }
  /// To the base 8.
  public static var octal: OSLogIntegerFormatting {
    OSLogIntegerFormatting(radix: 8, prefix: "", isUppercase: false, digits: 1)
  }

  func text(_ value: some FixedWidthInteger) -> String {
    let text = String(value.magnitude, radix: radix, uppercase: isUppercase)
    let zeros = String(repeating: "0", count: max(0, digits - text.count))
    return "\(value < 0 ? "-" : prefix)\(zeros)\(text)"
  }
}

/// The width of a value in a message, and its side.
public struct OSLogStringAlignment: Sendable {
  private let width: Int
  private let isRight: Bool

  /// As wide as the value.
  public static var none: OSLogStringAlignment { OSLogStringAlignment(width: 0, isRight: false) }
  /// At the right side of a column.
  public static func right(columns: @autoclosure () -> Int = 0) -> OSLogStringAlignment {
    OSLogStringAlignment(width: columns(), isRight: true)
  }
  /// At the left side of a column.
  public static func left(columns: @autoclosure () -> Int = 0) -> OSLogStringAlignment {
    OSLogStringAlignment(width: columns(), isRight: false)
  }

  func aligned(_ text: String) -> String {
    let blanks = String(repeating: " ", count: max(0, width - text.count))
    return isRight ? blanks + text : text + blanks
  }
}
