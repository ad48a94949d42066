@_spi(CDE) internal import CDEExecutors
internal import CDEStore
internal import Foundation

// Called by accessors of codable and transformed storage. A value is decoded once, then kept.
extension NSManagedObject {
  // MARK: Codable

  /// The decoded value of JSON data; nil if there is none, and for data that can't be decoded.
  public final func _cdCodable<Value: Decodable>(_ ordinal: CDOrdinal, asserts: Bool = false) -> Value? {
    codable(info(at: ordinal), asserts)
  }

  public final func _cdCodable<Value: Decodable>(forKey key: String, asserts: Bool = false) -> Value? {
    codable(declaredInfo(forKey: key), asserts)
  }

  /// Stores JSON with sorted keys. If JSON can't represent the value, stores nil and reports this.
  public final func _cdSetCodable<Value: Encodable>(
    _ ordinal: CDOrdinal, _ value: Value?, asserts: Bool = false
  ) {
    setCodable(info(at: ordinal), value, asserts)
  }

  public final func _cdSetCodable<Value: Encodable>(
    forKey key: String, _ value: Value?, asserts: Bool = false
  ) {
    setCodable(declaredInfo(forKey: key), value, asserts)
  }

  private func codable<Value: Decodable>(_ info: PropertyInfo, _ asserts: Bool) -> Value? {
    let cell = info.isDirect ? info.cells.lowerBound : -1
    guard let data: Data = _slowValue(info.slot, cell) else { return nil }
    return decoded(info, .data(data), asserts) { try JSONDecoder().decode(Value.self, from: data) }
  }

  private func setCodable<Value: Encodable>(_ info: PropertyInfo, _ value: Value?, _ asserts: Bool) {
    guard let value else { return _setAttribute(info.slot, .null) }
    do {
      let encoder = JSONEncoder()
      // Equal values give equal bytes, so stores and histories can be compared.
      encoder.outputFormatting = .sortedKeys
      _setAttribute(info.slot, .data(try encoder.encode(value)))
    } catch {
      let message = "\(_binding.name).\(info.name) can't be encoded as JSON, so nil is stored: \(error)"
      Diagnostics.report(message)
      if asserts { assertionFailure(message) }
      _setAttribute(info.slot, .null)
    }
  }

  // MARK: Transformed

  /// The value that the transformer decodes from the stored data; nil if there is none, and for a value of
  /// another type.
  public final func _cdTransformed<Value>(_ ordinal: CDOrdinal, asserts: Bool = false) -> Value? {
    transformed(info(at: ordinal), asserts)
  }

  public final func _cdTransformed<Value>(forKey key: String, asserts: Bool = false) -> Value? {
    transformed(declaredInfo(forKey: key), asserts)
  }

  public final func _cdSetTransformed<Value>(_ ordinal: CDOrdinal, _ value: Value?) {
    _setAttribute(info(at: ordinal).slot, value.map { .object(_ObjectBox($0)) } ?? .null)
  }

  public final func _cdSetTransformed<Value>(forKey key: String, _ value: Value?) {
    _setAttribute(declaredInfo(forKey: key).slot, value.map { .object(_ObjectBox($0)) } ?? .null)
  }

  private func transformed<Value>(_ info: PropertyInfo, _ asserts: Bool) -> Value? {
    guard case .object(let box) = attributeValue(info) else {
      if asserts, holdsData(info) {
        assertionFailure("\(_binding.name).\(info.name): the transformer makes nothing of what is stored.")
      }
      return nil
    }
    return decoded(info, .object(box), asserts) { box.value as? Value }
  }

  private func holdsData(_ info: PropertyInfo) -> Bool {
    guard let cell = info.cells.first, _overlay?.values[info.slot].isUnset != false else { return false }
    return !_batch.isNull(Int(_row), cell)
  }

  /// A value that other code decodes from what key-value coding returns, kept until that changes.
  @_spi(CDE) public final func _cdDecoded<Value>(
    _ ordinal: CDOrdinal, _ decode: (Any?) throws -> Value
  ) rethrows -> Value {
    let info = info(at: ordinal)
    let source: DecodedValue.Source
    switch attributeValue(info) {
    case .object(let box): source = .object(box)
    case .data(let data): source = .data(data)
    default: return try decode(anyValue(info))
    }
    if let kept = _overlay?.decoded[info.slot], kept.isMade(of: source), let value = kept.value as? Value {
      return value
    }
    let value = try decode(anyValue(info))
    // A caller could change a decoded object. Each caller therefore gets an object of its own.
    if !(type(of: value) is AnyClass) { overlay.decoded[info.slot] = DecodedValue(source, value) }
    return value
  }

  // MARK: Common

  final func info(at ordinal: CDOrdinal) -> PropertyInfo {
    let slot = _binding.places[ordinal.rawValue].slot.index
    guard slot >= 0 else { missingProperty() }
    return _binding.properties[slot]
  }

  final func declaredInfo(forKey key: String) -> PropertyInfo {
    guard let info = _binding.property(key) else {
      failPrecondition(
        "The entity \(_binding.name) is not key value coding-compliant for the key \"\(key)\". "
          + "Use the name the model gives the property.")
    }
    return info
  }

  final func decoded<Value>(
    _ info: PropertyInfo, _ source: DecodedValue.Source, _ asserts: Bool, decode: () throws -> Value?
  ) -> Value? {
    if let kept = _overlay?.decoded[info.slot], kept.isMade(of: source), let value = kept.value as? Value {
      return value
    }
    var reason = "what is stored is another type."
    do {
      if let value = try decode() {
        // A caller could change a decoded object. Each caller therefore gets an object of its own.
        if type(of: value) is AnyClass { return value }
        overlay.decoded[info.slot] = DecodedValue(source, value)
        return value
      }
    } catch {
      reason = "\(error)"
    }
    if asserts {
      assertionFailure("\(_binding.name).\(info.name) holds no value of \(Value.self): \(reason)")
    }
    return nil
  }
}
