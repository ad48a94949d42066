@_spi(CDE) internal import CDEManagedModel
internal import Foundation

// Accessors of a class's own, which key-value coding calls.
extension NSManagedObject {
  /// What an accessor of the class returns for a key; nil for a key without one. An enumeration has its raw value, as for
  /// Objective-C.
  final func accessorValue(_ key: String) -> Any?? {
    guard let found = _cdComputedValue(forKey: key) else { return nil }
    guard let value = found as? any RawRepresentable else { return .some(found) }
    return .some(value.rawValue)
  }

  /// What an accessor of the class returned, in the form of key-value coding. A value that is not of the property's type stays as
  /// it is.
  final func keyValue(_ value: Any?, _ info: PropertyInfo) -> Any? {
    guard let value = _PropertyValue.unwrap(value) else { return nil }
    switch info.kind {
    case .attribute(let type): return (try? _PropertyValue(any: value, as: type))?.any(as: type) ?? value
    case .toMany(let isOrdered):
      guard let objects = value as? [NSManagedObject] ?? (value as? Set<NSManagedObject>).map(Array.init)
      else {
        return value
      }
      return isOrdered ? NSOrderedSet(array: objects) : NSSet(array: objects)
    case .composite, .toOne: return value
    }
  }

  /// Gives a value of any form to a variable of the class, for key-value coding. Rewritten sources call it.
  ///
  /// - Parameters:
  ///   - value: a value as ``setValue(_:forKey:)`` takes it.
  ///   - key: the variable's key.
  ///   - assign: sets the variable. It is not called for a value of another type.
  /// - Returns: false if the model has the property and the value is of another type. The property's own rules decide then.
  public final func _cdAssign<Value>(_ value: Any?, forKey key: String, _ assign: (Value) -> Void) -> Bool {
    let info = _binding.property(key)
    guard let value: Value = assignable(value, info) else { return info == nil }
    assign(value)
    return true
  }

  private func assignable<Value>(_ value: Any?, _ info: PropertyInfo?) -> Value? {
    if let value = value as? Value { return value }
    guard let given = _PropertyValue.unwrap(value), !(given is NSNull) else {
      return Optional<Any>.none as? Value
    }
    // A number of another type than the variable's.
    if let value = given as AnyObject as? Value { return value }
    if let type = Value.self as? any RawRepresentable.Type { return Self.raw(given, type) as? Value }
    switch info?.kind {
    case .attribute(let type)?: return (try? _PropertyValue(any: given, as: type))?.any(as: type) as? Value
    case .toMany?:
      let members = CollectedValues.elements(of: given).compactMap { $0 as? NSManagedObject }
      let forms: [Any] = [members, Set(members), NSSet(array: members), NSOrderedSet(array: members)]
      return forms.lazy.compactMap { $0 as? Value }.first
    case .composite?, .toOne?, nil: return nil
    }
  }

  private static func raw<Value: RawRepresentable>(_ value: Any, _ type: Value.Type) -> Any? {
    (value as? Value.RawValue ?? value as AnyObject as? Value.RawValue).flatMap { Value(rawValue: $0) }
  }
}
