@_spi(CDE) internal import CDEPredicates
internal import Foundation

/// Values of properties in the form of key-value coding, and back.
///
/// | shape | stored as |
/// |---|---|
/// | a scalar, or a type that encodes one | the number, text, date, data, UUID or URL |
/// | an enumeration with raw values | a dictionary with the raw value under the attribute's name |
/// | an enumeration without | a dictionary with one key, the case, to its name or its associated values as JSON |
/// | a struct | a dictionary by coding keys, nested structs as dictionaries in it, collections as JSON |
/// | other values | JSON |
/// | a collection as a property | a property list, or data with JSON |
enum ValueCoding {
  /// The stored form of a value.
  ///
  /// - Parameters:
  ///   - value: the value, or an optional of it.
  ///   - shape: the shape of its type.
  ///   - name: the name of the attribute.
  /// - Returns: nil for an optional without a value.
  /// - Throws: `SwiftDataError` with code `.valueCoding`, whose cause may be an error of the value's own code.
  static func encode(_ value: Any, _ shape: ValueShape, name: String) throws -> Any? {
    guard let value = unwrap(value) else { return nil }
    func mismatch() -> SwiftDataError {
      SwiftDataError(
        .valueCoding,
        "\(name) is stored as \(shape.title), but its value is of type \(type(of: value)). Make the schema anew after "
          + "a type has changed.", property: name)
    }
    if case .scalar = shape {
      guard let scalar = value as? any StoredScalar else { throw mismatch() }
      return scalar.stored
    }
    guard let value = value as? any Encodable else {
      throw SwiftDataError(
        .valueCoding,
        "\(name) is stored as \(shape.title), but \(type(of: value)) can't be encoded here. If the type or its module belongs to the "
          + "main actor by default, declare it as nonisolated: contexts of other actors encode it, too.",
        property: name)
    }
    do {
      switch shape {
      case .scalar: throw mismatch()
      case .wrapped: return try ScalarTarget.scalar(of: value)
      case .rawEnumeration:
        guard let raw = value as? any RawRepresentable, let scalar = rawValue(of: raw) else {
          throw mismatch()
        }
        return [name: scalar]
      case .enumeration(let cases): return try EnumerationCoding.encode(value, cases)
      case .composite(let elements):
        let target = CompositeTarget(elements, "\(type(of: value))")
        try value.encode(to: TargetEncoder(target: target))
        return target.values
      case .json: return try JSONForm.data(of: value)
      case .archive:
        guard let collection = value as? any ArchivedCollection, type(of: collection).isPropertyList else {
          return try JSONForm.data(of: value)
        }
        return collection.propertyList
      }
    } catch let error as SwiftDataError {
      throw error
    } catch {
      throw SwiftDataError(
        .valueCoding,
        "\(name) can't be stored, because its type \(type(of: value)) can't be encoded. The cause says why.",
        property: name, cause: error)
    }
  }

  /// The value of a stored form.
  ///
  /// - Parameters:
  ///   - stored: what ``encode(_:_:name:)`` returned, or a row has.
  ///   - type: the type of the property.
  ///   - shape: the shape of that type.
  ///   - name: the name of the attribute.
  /// - Throws: `SwiftDataError` with code `.valueCoding`, for a missing value also, unless the type is an optional.
  static func decode<T>(_ stored: Any?, as type: T.Type, _ shape: ValueShape, name: String) throws -> T {
    if TypeFields.isOptional(type), let optional = type as? any OptionalValue.Type {
      guard let stored = unwrap(stored as Any) else { return optional.missing as! T }
      let value = try decodeAny(stored, as: optional.wrappedType, shape, name: name)
      return optional.present(value) as! T
    }
    return try decodeAny(unwrap(stored as Any), as: type, shape, name: name) as! T
  }

  private static func decodeAny(
    _ stored: Any?, as type: Any.Type, _ shape: ValueShape, name: String
  ) throws -> Any {
    if TypeFields.isOptional(type), let optional = type as? any OptionalValue.Type {
      guard let stored else { return optional.missing }
      return optional.present(try decodeAny(stored, as: optional.wrappedType, shape, name: name))
    }
    guard let decodable = type as? any Decodable.Type else {
      throw SwiftDataError(.valueCoding, "\(type) of \(name) is not Decodable. Conform it.", property: name)
    }
    return try decode(decodable, stored, shape, name)
  }

  /// The value of a type that is no optional.
  static func decode<T: Decodable>(
    _ type: T.Type, _ stored: Any?, _ shape: ValueShape, _ name: String
  ) throws -> T {
    // A struct of which all parts are optional may have no value in any column.
    var stored = stored
    if stored == nil, case .composite = shape { stored = [String: Any]() }
    guard let stored else {
      throw SwiftDataError(
        .valueCoding, "\(name) has no stored value, and \(type) is not optional. Make the property optional.",
        property: name)
    }
    do {
      if let value = try decodeForm(type, stored, shape, name) { return value }
    } catch let error as SwiftDataError {
      throw error
    } catch {
      throw SwiftDataError(
        .valueCoding,
        "The stored value of \(name) can't be decoded as \(type). Another version of the type wrote it, or another "
          + "program. The cause says what is missing.", property: name, cause: error)
    }
    throw SwiftDataError(
      .valueCoding,
      "The stored value of \(name) is of type \(Swift.type(of: stored)), and not \(shape.title) as \(type) needs. "
        + "Migrate the store to the new type.", property: name)
  }

  /// Returns nil if the stored value is of another form.
  private static func decodeForm<T: Decodable>(
    _ type: T.Type, _ stored: Any, _ shape: ValueShape, _ name: String
  ) throws -> T? {
    switch shape {
    case .scalar:
      return CommonScalar.read(stored, as: type) ?? (type as? any StoredScalar.Type)?.init(stored: stored)
        as? T
    case .wrapped: return try ScalarSource.value(type, of: stored)
    case .rawEnumeration:
      guard let raw = (stored as? [String: Any])?[name] else { return nil }
      if let type = type as? any RawRepresentable.Type, let value = make(type, of: raw) { return value as? T }
      // A type with code of its own may take a raw value that it does not know for another one.
      return try ScalarSource.value(type, of: raw)
    case .enumeration(let cases):
      guard let values = stored as? [String: Any] else { return nil }
      return try EnumerationCoding.decode(type, values, cases)
    case .composite(let elements):
      guard let values = stored as? [String: Any] else { return nil }
      return try T(from: SourceDecoder(source: CompositeSource(values, elements)))
    case .json:
      guard let data = stored as? Data else { return nil }
      return try JSONForm.value(type, of: data)
    case .archive:
      if let data = stored as? Data { return try JSONForm.value(type, of: data) }
      return (type as? any ArchivedCollection.Type)?.init(propertyList: stored) as? T
    }
  }

  private static func rawValue<T: RawRepresentable>(of value: T) -> Any? {
    (value.rawValue as? any StoredScalar)?.stored
  }

  private static func make<T: RawRepresentable>(_ type: T.Type, of stored: Any) -> T? {
    guard let scalar = T.RawValue.self as? any StoredScalar.Type, let raw = scalar.init(stored: stored) else {
      return nil
    }
    return T(rawValue: raw as! T.RawValue)
  }

  /// A value without the optionals around it.
  static func unwrap(_ value: Any) -> Any? {
    let type = type(of: value)
    guard type != NSNull.self else { return nil }
    guard TypeFields.isOptional(type), let optional = value as? any OptionalValue else { return value }
    return optional.value.flatMap { unwrap($0) }
  }
}

extension ValueShape {
  /// Any value of a type, for a row whose value can't be decoded; nil if the type accepts none.
  static func sample<T>(of type: T.Type) -> T? {
    func make<D: Decodable>(_ type: D.Type) -> Any? { try? ShapeProbe.sample(of: type) }
    return (type as? any Decodable.Type).flatMap { make($0) } as? T
  }
}

/// Values as JSON, with the coding of dates and data that Foundation begins with, as in Apple's files.
enum JSONForm {
  private static let encoder = {
    let encoder = JSONEncoder()
    // Equal values have equal bytes.
    encoder.outputFormatting = .sortedKeys
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    return encoder
  }()

  private static let decoder = {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    return decoder
  }()

  static func data<T: Encodable>(of value: T) throws -> Data { try encoder.encode(value) }

  static func value<T: Decodable>(_ type: T.Type, of data: Data) throws -> T {
    try decoder.decode(type, from: data)
  }
}

extension ValueShape {
  /// The shape in words, for messages.
  var title: String {
    switch self {
    case .scalar(let kind), .wrapped(let kind): "a value of type \(kind.rawValue)"
    case .rawEnumeration: "the raw value of an enumeration"
    case .enumeration: "a case of an enumeration"
    case .composite: "a composite"
    case .json: "JSON"
    case .archive: "an archived collection"
    }
  }
}
