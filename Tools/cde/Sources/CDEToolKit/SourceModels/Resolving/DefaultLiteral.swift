import CDEManagedModel
import Foundation

/// The default of an attribute as Swift text.
enum DefaultLiteral {
  /// The text in a form that `@PersistentModel` reads; nil if there is no default, or none that can be written.
  static func text(of attribute: NSAttributeDescription) -> String? {
    guard let value = attribute.defaultValue else { return nil }
    switch attribute.attributeType {
    case .booleanAttributeType: return (value as? NSNumber).map { $0.boolValue ? "true" : "false" }
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
      return (value as? NSNumber).map { "\($0.int64Value)" }
    case .doubleAttributeType: return (value as? NSNumber).flatMap { number($0.doubleValue) }
    case .floatAttributeType: return (value as? NSNumber).flatMap { number($0.floatValue) }
    case .decimalAttributeType: return (value as? NSNumber).flatMap { decimal($0.decimalValue) }
    case .stringAttributeType: return (value as? String).map { string($0) }
    case .dateAttributeType: return (value as? Date).flatMap(date)
    case .UUIDAttributeType: return (value as? UUID).map { "UUID(uuidString: \"\($0.uuidString)\")!" }
    case .URIAttributeType: return (value as? URL).map { "URL(string: \(string($0.absoluteString)))!" }
    case .binaryDataAttributeType:
      return (value as? Data).map {
        $0.isEmpty ? "Data()" : "Data(base64Encoded: \"\($0.base64EncodedString())\")!"
      }
    default: return nil
    }
  }

  private static func number(_ value: some BinaryFloatingPoint & CustomStringConvertible) -> String? {
    value.isFinite ? value.description : nil
  }

  private static func decimal(_ value: Decimal) -> String? {
    guard !value.isNaN else { return nil }
    let text = value.description
    // An integer literal beyond Int does not compile.
    return text.contains(".") || Int(text) != nil ? text : text + ".0"
  }

  private static func date(_ value: Date) -> String? {
    if value == .distantPast { return ".distantPast" }
    if value == .distantFuture { return ".distantFuture" }
    return number(value.timeIntervalSinceReferenceDate).map { "Date(timeIntervalSinceReferenceDate: \($0))" }
  }

  /// A string literal.
  static func string(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case let other where other.value < 0x20 || (0x7F...0x9F).contains(other.value):
        result += "\\u{\(String(other.value, radix: 16))}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }

  /// Whether a text is `true`, `false`, a number or a string literal, so that another one may take its place.
  static func isLiteral(_ text: String) -> Bool {
    ["true", "false"].contains(text) || text.hasPrefix("\"") || plainNumber(text) != nil
  }

  /// Whether two default texts have the same value.
  static func isSame(_ one: String?, _ other: String?) -> Bool {
    switch (one.map(normalized), other.map(normalized)) {
    case (nil, nil): return true
    case (let one?, let other?):
      if one == other { return true }
      if let one = plainNumber(one), let other = plainNumber(other) {
        return Decimal(string: one) == Decimal(string: other)
      }
      return false
    default: return false
    }
  }

  /// The text of a number without signs for people, and of a hexadecimal, octal or binary one as decimal.
  private static func plainNumber(_ text: String) -> String? {
    let isNegative = text.hasPrefix("-")
    let digits = text.drop { $0 == "-" || $0 == "+" }.filter { $0 != "_" }
    for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] where digits.hasPrefix(prefix) {
      return Int(digits.dropFirst(2), radix: radix).map { isNegative ? "-\($0)" : "\($0)" }
    }
    guard digits.first?.isNumber == true,
      digits.allSatisfy({ $0.isASCII && ($0.isNumber || "+-.eE".contains($0)) })
    else { return nil }
    return (isNegative ? "-" : "") + digits
  }

  /// One spelling of the forms that `@PersistentModel` reads.
  private static func normalized(_ text: String) -> String {
    guard !text.hasPrefix("\"") else { return text }
    var result = text.filter { !$0.isWhitespace }
    if result.hasPrefix("Foundation.") { result.removeFirst("Foundation.".count) }
    if result.hasSuffix(")!") { result.removeLast() }
    for type in ["Date", "UUID", "URL", "Data", "Decimal"] {
      if result.hasPrefix("\(type).init(") { result = type + result.dropFirst(type.count + 5) }
      if result == "\(type).distantPast" || result == "\(type).distantFuture" {
        result = String(result.dropFirst(type.count))
      }
      for label in ["uuidString", "string"] {
        // A literal alone and a call with it have the same value.
        let head = "\(type)(\(label):\""
        if type != "Data", result.hasPrefix(head), result.hasSuffix("\")") {
          result = String(result.dropFirst(head.count - 1).dropLast())
        }
      }
    }
    if let open = result.firstIndex(of: ":"), result.hasPrefix("Date("), result.hasSuffix(")"),
      let seconds = Double(result[result.index(after: open)...].dropLast().filter({ $0 != "_" }))
    {
      let isUnix = result.contains("Since1970")
      return "Date@\(isUnix ? Date(timeIntervalSince1970: seconds).timeIntervalSinceReferenceDate : seconds)"
    }
    return result
  }
}
