internal import Foundation

// What accessors of raw storage call. Inlined where a model is declared, so that an enumeration costs what
// its raw value costs, and its `init(rawValue:)`.
extension NSManagedObject {
  /// An optional value; the fallback stands for nothing and for a raw value of no case.
  @inlinable
  public final func _cdRaw<Value: RawRepresentable>(
    _ ordinal: Int, fallback: @autoclosure () -> Value? = nil
  ) -> Value? where Value.RawValue: CDPrimitive {
    if let known: Value = _knownRaw(ordinal) { return known }
    guard let raw: Value.RawValue = _cdValue(ordinal) else { return fallback() }
    return _decodeRaw(ordinal, raw) ?? fallback()
  }

  /// A value that is not optional.
  @inlinable
  public final func _cdRaw<Value: RawRepresentable>(
    _ ordinal: Int, default fallback: @autoclosure () -> Value
  ) -> Value where Value.RawValue: CDPrimitive {
    if let known: Value = _knownRaw(ordinal) { return known }
    guard let raw: Value.RawValue = _cdValue(ordinal) else { return fallback() }
    return _decodeRaw(ordinal, raw) ?? fallback()
  }

  /// The same, with an assertion over a raw value of no case.
  @inlinable
  public final func _cdRaw<Value: RawRepresentable>(
    _ ordinal: Int, default fallback: @autoclosure () -> Value, asserts: Bool
  ) -> Value where Value.RawValue: CDPrimitive {
    _cdRaw(ordinal, asserts: asserts) ?? fallback()
  }

  @inlinable
  public final func _cdRaw<Value: RawRepresentable>(
    _ ordinal: Int, asserts: Bool
  ) -> Value? where Value.RawValue: CDPrimitive {
    if let known: Value = _knownRaw(ordinal) { return known }
    guard let raw: Value.RawValue = _cdValue(ordinal) else { return nil }
    let value: Value? = _decodeRaw(ordinal, raw)
    if asserts, value == nil { _assertRaw(propertyName(ordinal), "\(raw)", Value.self) }
    return value
  }

  /// A value that is not optional and has no default.
  ///
  /// - Precondition: the store has a raw value of one of the cases.
  @inlinable
  public final func _cdRequiredRaw<Value: RawRepresentable>(
    _ ordinal: Int, asserts: Bool = false
  ) -> Value where Value.RawValue: CDPrimitive {
    if let known: Value = _knownRaw(ordinal) { return known }
    if let raw: Value.RawValue = _cdValue(ordinal), let value: Value = _decodeRaw(ordinal, raw) {
      return value
    }
    return _missingRaw(ordinal)
  }

  @usableFromInline
  final func _missingRaw<Value: RawRepresentable>(_ ordinal: Int) -> Value
  where Value.RawValue: CDPrimitive {
    let stored: Value.RawValue? = _cdValue(ordinal)
    if stored == nil, let value = Value(rawValue: _missingValue(ordinal)) { return value }
    fatalError(noCase(propertyName(ordinal), stored.map { "\($0)" } ?? "nothing", Value.self))
  }

  // MARK: By key, for classes that are no models

  public final func _cdRaw<Value: RawRepresentable>(
    forKey key: String, fallback: @autoclosure () -> Value? = nil
  ) -> Value? where Value.RawValue: CDPrimitive {
    let raw: Value.RawValue? = _cdPrimitive(value(forKey: key))
    return raw.flatMap { Value(rawValue: $0) } ?? fallback()
  }

  public final func _cdRaw<Value: RawRepresentable>(
    forKey key: String, default fallback: @autoclosure () -> Value, asserts: Bool = false
  ) -> Value where Value.RawValue: CDPrimitive {
    _cdRaw(forKey: key, asserts: asserts) ?? fallback()
  }

  public final func _cdRaw<Value: RawRepresentable>(
    forKey key: String, asserts: Bool
  ) -> Value? where Value.RawValue: CDPrimitive {
    guard let raw: Value.RawValue = _cdPrimitive(value(forKey: key)) else { return nil }
    let value = Value(rawValue: raw)
    if asserts, value == nil { _assertRaw(key, "\(raw)", Value.self) }
    return value
  }

  public final func _cdRequiredRaw<Value: RawRepresentable>(
    forKey key: String, asserts: Bool = false
  ) -> Value where Value.RawValue: CDPrimitive {
    let stored: Value.RawValue? = _cdPrimitive(value(forKey: key))
    if let value = stored.flatMap({ Value(rawValue: $0) }) { return value }
    fatalError(noCase(key, stored.map { "\($0)" } ?? "nothing", Value.self))
  }

  @usableFromInline
  final func propertyName(_ ordinal: Int) -> String {
    let slot = Int(_binding.places[ordinal].slot)
    return slot >= 0 ? _binding.properties[slot].name : "property \(ordinal)"
  }

  @usableFromInline
  final func _assertRaw(_ name: String, _ raw: String, _ type: Any.Type) {
    assertionFailure(noCase(name, raw, type))
  }

  private func noCase(_ name: String, _ raw: String, _ type: Any.Type) -> String {
    "\(_binding.name).\(name) holds \(raw), which is no raw value of \(type). Give the property a default, "
      + "declare it optional, or add the case."
  }
}
