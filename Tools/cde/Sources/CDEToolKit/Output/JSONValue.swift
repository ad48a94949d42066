import Foundation

/// A JSON value whose objects keep the order of their keys, so that answers are the same each time.
public indirect enum JSONValue: Hashable, Sendable {
  case null
  case bool(Bool)
  /// A number as it is written.
  case number(String)
  case string(String)
  case array([JSONValue])
  case object([Member])

  /// A key of an object with its value.
  public struct Member: Hashable, Sendable {
    public var key: String
    public var value: JSONValue

    public init(_ key: String, _ value: JSONValue) {
      self.key = key
      self.value = value
    }
  }

  public static func int(_ value: Int) -> JSONValue { .number(String(value)) }

  /// The value of a key of an object; nil for another value, and for a key that the object lacks.
  public subscript(key: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.key == key }?.value
  }

  /// The value as text with an indentation of two spaces; on one line without.
  public func text(indented: Bool = true) -> String {
    var result = ""
    write(to: &result, indented ? 0 : nil)
    return result
  }

  private func write(to result: inout String, _ depth: Int?) {
    switch self {
    case .null: result += "null"
    case .bool(let value): result += value ? "true" : "false"
    case .number(let value): result += value
    case .string(let value): Self.quote(value, to: &result)
    case .array(let values):
      Self.list(values, "[", "]", to: &result, depth) { value, result, depth in
        value.write(to: &result, depth)
      }
    case .object(let members):
      Self.list(members, "{", "}", to: &result, depth) { member, result, depth in
        Self.quote(member.key, to: &result)
        result += depth == nil ? ":" : ": "
        member.value.write(to: &result, depth)
      }
    }
  }

  private static func list<Element>(
    _ elements: [Element], _ open: String, _ close: String, to result: inout String, _ depth: Int?,
    _ write: (Element, inout String, Int?) -> Void
  ) {
    result += open
    for (position, element) in elements.enumerated() {
      if position > 0 { result += "," }
      if let depth { result += "\n" + String(repeating: "  ", count: depth + 1) }
      write(element, &result, depth.map { $0 + 1 })
    }
    if let depth, !elements.isEmpty { result += "\n" + String(repeating: "  ", count: depth) }
    result += close
  }

  private static func quote(_ text: String, to result: inout String) {
    result += "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case let other where other.value < 0x20 || (0x7F...0x9F).contains(other.value):
        let hex = String(other.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
      default: result.unicodeScalars.append(scalar)
      }
    }
    result += "\""
  }
}
