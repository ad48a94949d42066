internal import CDEStore
internal import Foundation

/// A stored value of any spelling (a Swift value, `NSNumber`, `NSDate`, …) as a value of a primitive type;
/// nil when it is of another kind. What expansions read dictionaries with.
public func _cdPrimitive<Value: CDPrimitive>(_ value: Any?) -> Value? {
  guard let value = _PropertyValue.unwrap(value) else { return nil }
  // The exact type first: bridging through NSNumber costs an allocation, and loses what Decimal holds.
  if let exact = value as? Value { return exact }
  guard let converted = try? _PropertyValue(any: value, as: Value._attributeType) else { return nil }
  return Value._read(converted)
}

extension CDPrimitive {
  fileprivate static var _attributeType: StoreAttributeType {
    switch Self.self {
    case is Bool.Type: .boolean
    case is Double.Type, is Float.Type: .double
    case is Date.Type: .date
    case is String.Type: .string
    case is Data.Type: .binary
    case is UUID.Type: .uuid
    case is URL.Type: .uri
    case is Decimal.Type: .decimal
    default: .integer64
    }
  }
}

extension CDPrimitive {
  /// The type's zero, as `Any` because the protocol can't name it generically.
  static var _zero: Any {
    switch Self.self {
    case is Bool.Type: false
    case is Int.Type: 0
    case is Int16.Type: Int16(0)
    case is Int32.Type: Int32(0)
    case is Int64.Type: Int64(0)
    case is Double.Type: 0.0
    case is Float.Type: Float(0)
    case is Decimal.Type: Decimal(0)
    case is String.Type: ""
    case is Data.Type: Data()
    case is Date.Type: Date(timeIntervalSinceReferenceDate: 0)
    case is UUID.Type: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    default: URL(string: "about:blank")!
    }
  }
}
