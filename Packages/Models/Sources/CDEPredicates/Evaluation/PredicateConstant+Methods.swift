internal import Foundation

extension PredicateConstant {
  /// The result of a method of `NSNumber` or `NSString` without arguments, which mapping models call by `FUNCTION(value, "stringValue")`.
  ///
  /// - Returns: nil if the value has no such method.
  func calling(_ selector: String) -> PredicateConstant? {
    switch self {
    case .null: Self.methods.contains(selector) ? .null : nil
    case .bool, .integer, .double, .decimal:
      (keyedScalar as? NSNumber).flatMap { Self.result(of: selector, $0) }
    case .string(let text): Self.result(of: selector, text)
    default: nil
    }
  }

  private static let methods: Set<String> = [
    "stringValue", "description", "boolValue", "intValue", "integerValue", "longLongValue", "floatValue",
    "doubleValue",
    "decimalValue", "length", "uppercaseString", "lowercaseString", "capitalizedString",
  ]

  private static func result(of selector: String, _ number: NSNumber) -> PredicateConstant? {
    switch selector {
    case "stringValue", "description": .string(number.stringValue)
    case "boolValue": .bool(number.boolValue)
    case "intValue", "integerValue", "longLongValue": .integer(number.int64Value)
    case "floatValue": .double(Double(number.floatValue))
    case "doubleValue": .double(number.doubleValue)
    case "decimalValue": .decimal(number.decimalValue)
    default: nil
    }
  }

  private static func result(of selector: String, _ text: String) -> PredicateConstant? {
    switch selector {
    case "description": .string(text)
    case "boolValue": .bool(NSString(string: text).boolValue)
    case "intValue", "integerValue", "longLongValue": .integer(NSString(string: text).longLongValue)
    case "floatValue": .double(Double(NSString(string: text).floatValue))
    case "doubleValue": .double(NSString(string: text).doubleValue)
    case "length": .integer(Int64(text.utf16.count))
    case "uppercaseString": .string(text.uppercased())
    case "lowercaseString": .string(text.lowercased())
    case "capitalizedString": .string(text.capitalized)
    default: nil
    }
  }
}
