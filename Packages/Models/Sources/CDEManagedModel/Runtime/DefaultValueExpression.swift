internal import Foundation

/// Parses a default value from its source text: literals, and some initialisers and constants that need no
/// other information.
enum DefaultValueExpression {
  /// - Returns: the value as a value of the primitive's Swift type, or `nil` when the text has none of the
  ///   supported forms.
  static func value(of text: String, as type: CDRuntimePrimitiveAttributeType) -> Any? {
    let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
    switch type {
    case .string: return stringLiteral(text)
    case .bool:
      switch text {
      case "true": return true
      case "false": return false
      default: return nil
      }
    case .int16: return integer(text, Int16.self)
    case .int32: return integer(text, Int32.self)
    case .int64: return integer(text, Int64.self)
    case .float: return floating(text, Float.self)
    case .double: return floating(text, Double.self)
    case .decimal: return decimal(text)
    case .date: return date(text)
    case .data: return data(text)
    case .uuid: return uuid(text)
    case .url: return url(text)
    }
  }

  static func isNil(_ text: String?) -> Bool {
    guard let text = text?.trimmingCharacters(in: .whitespacesAndNewlines) else { return true }
    return ["nil", ".none", "Optional.none", ""].contains(text)
  }

  // MARK: Numbers

  /// The text of a decimal literal, without separators.
  private static func number(_ text: String) -> String? {
    let unsigned = text.hasPrefix("-") || text.hasPrefix("+") ? text.dropFirst() : text[...]
    guard let first = unsigned.first, first.isASCII, first.isNumber else { return nil }
    let plain = text.filter { $0 != "_" }
    guard plain.allSatisfy({ $0.isASCII && ($0.isNumber || "+-.eE".contains($0)) }) else { return nil }
    return plain
  }

  private static func integer<Value: FixedWidthInteger>(_ text: String, _ type: Value.Type) -> Value? {
    let isNegative = text.hasPrefix("-")
    let digits = text.drop { $0 == "-" || $0 == "+" }.filter { $0 != "_" }
    for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] where digits.hasPrefix(prefix) {
      return Value((isNegative ? "-" : "") + digits.dropFirst(2), radix: radix)
    }
    return number(text).flatMap { Value($0) }
  }

  private static func floating<Value: BinaryFloatingPoint & LosslessStringConvertible>(
    _ text: String, _ type: Value.Type
  ) -> Value? {
    if let decimal = number(text) { return Value(decimal) }
    if let whole = integer(text, Int64.self) { return Value(whole) }
    // Fractions and exponents in hexadecimal notation, such as 0x1.8p4.
    let unsigned = text.drop { $0 == "-" || $0 == "+" }
    return unsigned.hasPrefix("0x") ? Value(text.filter { $0 != "_" }) : nil
  }

  private static func decimal(_ text: String) -> Decimal? {
    if let inner = argument(of: text, in: ["Decimal", ".init"], label: "string") {
      return stringLiteral(inner).flatMap { number($0) }
        .flatMap { Decimal(string: $0, locale: Locale(identifier: "en_US_POSIX")) }
    }
    if let inner = argument(of: text, in: ["Decimal", ".init"], label: nil) { return decimal(inner) }
    if let decimal = number(text) {
      return Decimal(string: decimal, locale: Locale(identifier: "en_US_POSIX"))
    }
    return integer(text, Int64.self).map { Decimal($0) } ?? floating(text, Double.self).map { Decimal($0) }
  }

  // MARK: Dates, data, identifiers

  private static func date(_ text: String) -> Date? {
    switch text {
    case ".distantPast", "Date.distantPast", "Foundation.Date.distantPast": return .distantPast
    case ".distantFuture", "Date.distantFuture", "Foundation.Date.distantFuture": return .distantFuture
    default: break
    }
    let types = ["Date", "Foundation.Date", ".init", "Date.init"]
    if let inner = argument(of: text, in: types, label: "timeIntervalSince1970") {
      return floating(inner, Double.self).map { Date(timeIntervalSince1970: $0) }
    }
    if let inner = argument(of: text, in: types, label: "timeIntervalSinceReferenceDate") {
      return floating(inner, Double.self).map { Date(timeIntervalSinceReferenceDate: $0) }
    }
    return nil
  }

  private static func data(_ text: String) -> Data? {
    let types = ["Data", "Foundation.Data", ".init", "Data.init"]
    if types.contains(where: { text == "\($0)()" }) { return Data() }
    return argument(of: unwrapped(text), in: types, label: "base64Encoded").flatMap(stringLiteral)
      .flatMap { Data(base64Encoded: $0) }
  }

  private static func uuid(_ text: String) -> UUID? {
    if let literal = stringLiteral(text) { return UUID(uuidString: literal) }
    return argument(
      of: unwrapped(text), in: ["UUID", "Foundation.UUID", ".init", "UUID.init"], label: "uuidString"
    ).flatMap(stringLiteral).flatMap { UUID(uuidString: $0) }
  }

  private static func url(_ text: String) -> URL? {
    if let literal = stringLiteral(text) { return URL(string: literal) }
    let text = unwrapped(text)
    let types = ["URL", "Foundation.URL", ".init", "URL.init"]
    if let inner = argument(of: text, in: types, label: "string") {
      return stringLiteral(inner).flatMap { URL(string: $0) }
    }
    return argument(of: text, in: types, label: "fileURLWithPath").flatMap(stringLiteral)
      .map { URL(fileURLWithPath: $0) }
  }

  // MARK: Syntax

  /// Removes the `!` of a failable initialiser.
  private static func unwrapped(_ text: String) -> String {
    text.hasSuffix("!") ? String(text.dropLast()) : text
  }

  /// The only argument of a call of one of `types`, if it has the given label.
  private static func argument(of text: String, in types: [String], label: String?) -> String? {
    guard text.hasSuffix(")"), let open = text.firstIndex(of: "(") else { return nil }
    let callee = text[..<open].trimmingCharacters(in: .whitespaces)
    guard types.contains(callee) else { return nil }
    let inner = text[text.index(after: open)...].dropLast().trimmingCharacters(in: .whitespaces)
    guard let label else { return inner }
    guard inner.hasPrefix(label) else { return nil }
    let rest = inner.dropFirst(label.count).drop { $0.isWhitespace }
    guard rest.first == ":" else { return nil }
    return rest.dropFirst().trimmingCharacters(in: .whitespaces)
  }

  // MARK: Text

  /// The value of a string literal without interpolation: of one line or of several, raw or not.
  static func stringLiteral(_ text: String) -> String? {
    let hashes = text.prefix { $0 == "#" }
    let inner = text.dropFirst(hashes.count)
    guard inner.count >= hashes.count + 2, inner.first == "\"", inner.hasSuffix("\"" + hashes) else {
      return nil
    }
    let body = inner.dropFirst().dropLast(hashes.count + 1)
    let hasLines =
      body.hasPrefix("\"\"") && body.hasSuffix("\"\"") && body.dropFirst(2).first?.isNewline == true
    if !hasLines { return unescaped(body, "\\" + hashes, allowsQuotes: !hashes.isEmpty) }
    guard let lines = unindented(body.dropFirst(3).dropLast(2)) else { return nil }
    return unescaped(lines[...], "\\" + hashes, allowsQuotes: true)
  }

  /// The lines of a literal of several lines, without the space that stands before its end.
  private static func unindented(_ text: Substring) -> String? {
    var lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    guard let indentation = lines.popLast(), indentation.allSatisfy(\.isWhitespace) else { return nil }
    for (index, line) in lines.enumerated() {
      if line.hasPrefix(indentation) {
        lines[index] = line.dropFirst(indentation.count)
      } else if line.allSatisfy(\.isWhitespace) {
        lines[index] = ""
      } else {
        return nil
      }
    }
    return lines.joined(separator: "\n")
  }

  private static func unescaped(_ text: Substring, _ escape: String, allowsQuotes: Bool) -> String? {
    var result = ""
    var rest = text
    while let character = rest.first {
      guard rest.hasPrefix(escape) else {
        if character == "\"", !allowsQuotes { return nil }
        result.append(character)
        rest = rest.dropFirst()
        continue
      }
      rest = rest.dropFirst(escape.count)
      switch rest.popFirst() {
      case "n": result.append("\n")
      case "t": result.append("\t")
      case "r": result.append("\r")
      case "0": result.append("\0")
      case "\\": result.append("\\")
      case "\"": result.append("\"")
      case "'": result.append("'")
      case "u":
        guard rest.popFirst() == "{", let end = rest.firstIndex(of: "}"),
          let scalar = UInt32(rest[..<end], radix: 16).flatMap(Unicode.Scalar.init)
        else { return nil }
        result.unicodeScalars.append(scalar)
        rest = rest[rest.index(after: end)...]
      case let next? where next.isWhitespace:
        // The line goes on in the next one.
        if !next.isNewline {
          rest = rest.drop { $0.isWhitespace && !$0.isNewline }
          guard rest.popFirst()?.isNewline == true else { return nil }
        }
      default: return nil
      }
    }
    return result
  }
}
