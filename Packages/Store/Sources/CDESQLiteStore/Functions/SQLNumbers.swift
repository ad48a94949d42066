@_spi(CDE) import CDESQL
import CDESQLite
import CDEStore
import Foundation

/// Functions that give the numbers of a migrated attribute their new type.
enum SQLNumbers {
  /// The new value of a number; NULL for one that has no place in the new type.
  static let converted = "cde_number"
  /// How a number becomes one of the new type: a ``Fit``.
  static let fit = "cde_number_fit"

  /// What becomes of a number.
  enum Fit: Int32 {
    case same = 0
    case rounded = 1
    case unfit = 2
  }

  /// The types as the functions get them, in their second argument.
  static let types: [StoreAttributeType] = [
    .boolean, .integer16, .integer32, .integer64, .float, .double, .decimal,
  ]

  static func register(on handle: OpaquePointer) throws(StoreError) {
    try SQLFunctions.register(converted, 2, on: handle) { context, _, values in
      switch SQLNumbers.number(values) {
      case (.integer(let value), _)?: sqlite3_result_int64(context, value)
      case (.real(let value), _)?: sqlite3_result_double(context, value)
      default: sqlite3_result_null(context)
      }
    }
    try SQLFunctions.register(fit, 2, on: handle) { context, _, values in
      guard let fit = SQLNumbers.number(values)?.1 else { return sqlite3_result_null(context) }
      sqlite3_result_int(context, fit.rawValue)
    }
  }

  /// The first argument as a number of the type in the second one; nil for NULL.
  private static func number(
    _ values: UnsafeMutablePointer<OpaquePointer?>?
  ) -> (StoreValue, Fit)? {
    guard let values, sqlite3_value_type(values[0]) != SQLITE_NULL else { return nil }
    let type = types[Int(sqlite3_value_int(values[1]))]
    switch sqlite3_value_numeric_type(values[0]) {
    case SQLITE_INTEGER: return number(sqlite3_value_int64(values[0]), type)
    case SQLITE_FLOAT: return number(sqlite3_value_double(values[0]), type)
    // A decimal that is NaN is a text, and other programs may have left anything.
    default: return (.null, .unfit)
    }
  }

  private static func number(_ value: Int64, _ type: StoreAttributeType) -> (StoreValue, Fit) {
    func real(_ number: Double) -> (StoreValue, Fit) {
      (.real(number), Int64(exactly: number) == value ? .same : .rounded)
    }
    switch type {
    case .float: return real(Double(Float(value)))
    case .double: return real(Double(value))
    case .boolean: return value == 0 || value == 1 ? (.integer(value), .same) : (.null, .unfit)
    default: return range(of: type).contains(value) ? (.integer(value), .same) : (.null, .unfit)
    }
  }

  private static func number(_ value: Double, _ type: StoreAttributeType) -> (StoreValue, Fit) {
    switch type {
    case .double: return (.real(value), .same)
    case .float:
      let number = Double(Float(value))
      if number.isFinite != value.isFinite { return (.null, .unfit) }
      return (.real(number), number == value ? .same : .rounded)
    case .decimal:
      guard abs(value) < NumberChange.greatestDecimal else { return (.null, .unfit) }
      if abs(value) < NumberChange.leastDecimal { return (.real(0), value == 0 ? .same : .rounded) }
      // So many digits are those of the number, and more would be those of its binary form.
      let digits = String(format: "%.15g", value)
      let number = Double(digits) ?? value
      // The column makes an integer of a whole number, with all digits of the binary form.
      let whole = Decimal(string: digits, locale: Locale(identifier: "en_US_POSIX")).flatMap {
        Int64(NSDecimalNumber(decimal: $0).stringValue)
      }
      return (whole.map { .integer($0) } ?? .real(number), number == value ? .same : .rounded)
    default:
      guard let whole = Int64(exactly: value.rounded(.towardZero)) else { return (.null, .unfit) }
      let isWhole = Double(whole) == value
      if type == .boolean, !isWhole { return (.null, .unfit) }
      let (number, fit) = number(whole, type)
      return (number, fit == .same && !isWhole ? .rounded : fit)
    }
  }

  private static func range(of type: StoreAttributeType) -> ClosedRange<Int64> {
    switch type {
    case .integer16: Int64(Int16.min)...Int64(Int16.max)
    case .integer32: Int64(Int32.min)...Int64(Int32.max)
    default: Int64.min...Int64.max
    }
  }
}
