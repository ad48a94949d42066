public import CDEStore
internal import Synchronization

extension NSManagedObject {
  /// The value of a raw text that was read before; nil for a text that was not, and for a value that is no
  /// text.
  @inlinable @inline(__always)
  final func _knownRaw<Value: RawRepresentable>(_ ordinal: CDOrdinal) -> Value?
  where Value.RawValue: CDPrimitive {
    guard RawTexts.canHold(Value.self), let texts = _binding.places[ordinal.rawValue].texts else {
      return nil
    }
    let entry =
      _flags.isDisjoint(with: .slowRead)
      ? Borrowed(_batch).with {
        texts.entry(
          $0.bytes(Int(_row), _binding.places[ordinal.rawValue].cell.index), ObjectIdentifier(Value.self))
      }
      : _slowlyKnownRaw(_binding.places[ordinal.rawValue], ObjectIdentifier(Value.self))
    guard let entry else { return nil }
    return withUnsafeBytes(of: entry.pointee.bits) { $0.load(as: Value.self) }
  }

  /// The same for an object that may be a fault, changed, or used on the wrong isolation.
  @usableFromInline
  final func _slowlyKnownRaw(_ place: EntityBinding.Place, _ type: ObjectIdentifier) -> UnsafePointer<
    RawTexts.Entry
  >? {
    guard let texts = place.texts else { return nil }
    willAccess()
    guard let overlay = _overlay, !overlay.values[place.slot.index].isUnset else {
      return texts.entry(_batch.bytes(Int(_row), place.cell.index), type)
    }
    guard case .text(var text) = overlay.values[place.slot.index] else { return nil }
    return text.withUTF8 { texts.entry(UnsafeRawBufferPointer($0), type) }
  }

  /// Decodes a raw value, and records the value of a text.
  @inlinable @inline(__always)
  final func _decodeRaw<Value: RawRepresentable>(_ ordinal: CDOrdinal, _ raw: Value.RawValue) -> Value?
  where Value.RawValue: CDPrimitive {
    guard let value = Value(rawValue: raw) else { return nil }
    if RawTexts.canHold(Value.self), let text = raw as? String,
      let texts = _binding.places[ordinal.rawValue].texts
    {
      var bits: UInt64 = 0
      withUnsafeMutableBytes(of: &bits) { bits in withUnsafeBytes(of: value) { bits.copyMemory(from: $0) } }
      texts.add(text, ObjectIdentifier(Value.self), bits)
    }
    return value
  }
}
