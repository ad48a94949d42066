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
