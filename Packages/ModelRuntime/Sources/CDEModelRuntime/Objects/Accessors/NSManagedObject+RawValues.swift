@_spi(CDE) internal import CDEExecutors
internal import CDERuntimeABI
internal import CDEStore
internal import Foundation

// Called by accessors of raw storage. Inlined where a model is declared, so that an enumeration costs as much
// as its raw value and its `init(rawValue:)`.
extension NSManagedObject {
  /// An optional value. The fallback is returned for no value and for a raw value without a case.
  @inlinable
  public final func _cdRaw<Value: RawRepresentable>(
    _ ordinal: CDOrdinal, fallback: @autoclosure () -> Value? = nil
  ) -> Value? where Value.RawValue: CDPrimitive {
    if let known: Value = _knownRaw(ordinal) { return known }
    guard let raw: Value.RawValue = _cdValue(ordinal) else { return fallback() }
    return _decodeRaw(ordinal, raw) ?? fallback()
  }

  /// A value that is not optional.
  @inlinable
  public final func _cdRaw<Value: RawRepresentable>(
    _ ordinal: CDOrdinal, default fallback: @autoclosure () -> Value
  ) -> Value where Value.RawValue: CDPrimitive {
    if let known: Value = _knownRaw(ordinal) { return known }
    guard let raw: Value.RawValue = _cdValue(ordinal) else { return fallback() }
    return _decodeRaw(ordinal, raw) ?? fallback()
  }

  /// The same, with an assertion that the raw value has a case.
  @inlinable
  public final func _cdRaw<Value: RawRepresentable>(
    _ ordinal: CDOrdinal, default fallback: @autoclosure () -> Value, asserts: Bool
  ) -> Value where Value.RawValue: CDPrimitive {
    _cdRaw(ordinal, asserts: asserts) ?? fallback()
  }

  @inlinable
  public final func _cdRaw<Value: RawRepresentable>(
    _ ordinal: CDOrdinal, asserts: Bool
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
    _ ordinal: CDOrdinal, asserts: Bool = false
  ) -> Value where Value.RawValue: CDPrimitive {
    if let known: Value = _knownRaw(ordinal) { return known }
    if let raw: Value.RawValue = _cdValue(ordinal), let value: Value = _decodeRaw(ordinal, raw) {
      return value
    }
    return _missingRaw(ordinal)
  }

  @usableFromInline
  final func _missingRaw<Value: RawRepresentable>(_ ordinal: CDOrdinal) -> Value
  where Value.RawValue: CDPrimitive {
    missingRaw(_binding.places[ordinal.rawValue].slot.index, propertyName(ordinal), _cdValue(ordinal))
  }

  /// The value of a property without a default in code whose raw value has no case: the model's default, the
  /// case of zero, or the first case.
  private func missingRaw<Value: RawRepresentable>(
    _ slot: SlotIndex, _ name: @autoclosure () -> String, _ stored: Value.RawValue?
  ) -> Value where Value.RawValue: CDPrimitive {
    if stored == nil, lacksValue(slot) {
      if cde_is_assigned_by_key_path() != 0,
        let value = RawFallback.value(of: Value.self, zero: Value.RawValue._zero)
      {
        return value
      }
      failPrecondition(
        "\(_binding.name).\(name()) is required and has no value. Set it before reading, give it a default, "
          + "or declare it optional.")
    }
    let known =
      slot < 0 ? nil : _binding.properties[slot].defaultValue.converted(for: Value.RawValue._cellKind)
    let declared = known.flatMap { Value.RawValue._read($0) }.flatMap { Value(rawValue: $0) }
    guard
      let value = declared ?? RawFallback.value(of: Value.self, zero: Value.RawValue._zero)
    else {
      failPrecondition(noCase(name(), stored.map { "\($0)" } ?? "nothing", Value.self))
    }
    if !isDeletedOrGone {
      let reason = noCase(name(), stored.map { "\($0)" } ?? "nothing", Value.self)
      reportUnfit(slot, "holds what is no \(Value.self): \(value) is read. \(reason)")
      // No declaration gives the value this meaning.
      if declared == nil { noteUnread(name(), StoreError(.unreadable, reason)) }
    }
    return value
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
    return missingRaw(_binding.layout.slot(named: key) ?? -1, key, stored)
  }

  @usableFromInline
  final func propertyName(_ ordinal: CDOrdinal) -> String {
    let slot = _binding.places[ordinal.rawValue].slot.index
    return slot >= 0 ? _binding.properties[slot].name : "property \(ordinal.rawValue)"
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

/// A value of a raw type to return when there is none.
enum RawFallback {
  static func value<Value: RawRepresentable>(of type: Value.Type, zero: Value.RawValue?) -> Value? {
    if let zero = zero.flatMap({ Value(rawValue: $0) }) { return zero }
    if let type = type as? any CaseIterable.Type, let first = firstCase(type) as? Value { return first }
    // In an enumeration without associated values the first case has only zero bits.
    guard isEnumeration(type), _isPOD(type), MemoryLayout<Value>.size <= MemoryLayout<UInt64>.size else {
      return nil
    }
    var zeros: UInt64 = 0
    return withUnsafeBytes(of: &zeros) { $0.load(as: Value.self) }
  }

  private static func firstCase<Cases: CaseIterable>(_ type: Cases.Type) -> Any? { type.allCases.first }

  /// Whether the runtime metadata of a type describes an enumeration.
  private static func isEnumeration(_ type: Any.Type) -> Bool {
    unsafeBitCast(type, to: UnsafePointer<Int>.self).pointee == 0x201
  }
}
