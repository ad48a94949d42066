@_spi(CDE) internal import CDEPredicates
internal import Foundation

/// Receives what a struct encodes, as the dictionary of a composite.
final class CompositeTarget: EncodingTarget {
  private(set) var values: [String: Any] = [:]
  private let elements: [ValueShape.Element]
  private let typeName: String

  init(_ elements: [ValueShape.Element], _ typeName: String) {
    self.elements = elements
    self.typeName = typeName
  }

  func beginKeyed() {}

  func put<T: Encodable>(_ value: T, _ key: String) throws {
    guard let element = elements.first(where: { $0.name == key }) else {
      throw SwiftDataError(
        .valueCoding,
        "\(typeName) encodes the key \(key), which is not among those that it decodes: "
          + "\(elements.map(\.name).joined(separator: ", ")). Decode the same keys that are encoded.",
        property: key)
    }
    if case .scalar = element.shape, let scalar = value as? any StoredScalar {
      values[key] = scalar.stored
    } else {
      values[key] = try ValueCoding.encode(value, element.shape, name: key)
    }
  }

  func putNil(_ key: String) { values[key] = nil }

  func putSingle<T: Encodable>(_ value: T) throws { throw refusal(of: .single) }

  func putSingleNil() throws { throw refusal(of: .single) }

  func nested(_ key: String) -> any EncodingTarget { RefusingTarget(error: refusal(of: .nested)) }

  func refusal(of form: OtherForm) -> any Error {
    SwiftDataError(
      .valueCoding,
      "\(typeName) is stored as a composite, and a value of it encodes \(form.rawValue). Encode every value by the same "
        + "keys.")
  }
}

/// Refuses whatever is encoded.
final class RefusingTarget: EncodingTarget {
  private let error: any Error

  init(error: any Error) { self.error = error }

  func beginKeyed() {}
  func put<T: Encodable>(_ value: T, _ key: String) throws { throw error }
  func putNil(_ key: String) throws { throw error }
  func putSingle<T: Encodable>(_ value: T) throws { throw error }
  func putSingleNil() throws { throw error }
  func nested(_ key: String) -> any EncodingTarget { self }
  func refusal(of form: OtherForm) -> any Error { error }
}

/// Gives a struct the values of a composite's dictionary.
final class CompositeSource: DecodingSource {
  private let values: [String: Any]
  private let elements: [ValueShape.Element]

  init(_ values: [String: Any], _ elements: [ValueShape.Element]) {
    self.values = values
    self.elements = elements
  }

  func beginKeyed() {}

  var keys: [String] { elements.map(\.name).filter { values[$0] != nil } }

  func contains(_ key: String) -> Bool { values[key] != nil }

  func isNil(_ key: String) -> Bool { values[key] == nil }

  func get<T: Decodable>(_ type: T.Type, _ key: String) throws -> T {
    guard let shape = elements.first(where: { $0.name == key })?.shape else {
      throw missing(key, "is no key of the type")
    }
    let stored = values[key]
    if TypeFields.isOptional(type) { return try ValueCoding.decode(stored, as: type, shape, name: key) }
    if stored == nil {
      // A struct of which all parts are optional may have no value in any column.
      guard case .composite = shape else { throw missing(key, "has no value") }
    }
    return try ValueCoding.decode(type, stored, shape, key)
  }

  func getIfPresent<T: Decodable>(_ type: T.Type, _ key: String) throws -> T? {
    values[key] == nil ? nil : try get(type, key)
  }

  func beginSingle() throws { throw mismatch(.single) }

  func singleIsNil() -> Bool { false }

  func getSingle<T: Decodable>(_ type: T.Type) throws -> T { throw mismatch(.single) }

  func nested(_ key: String) throws -> any DecodingSource { throw mismatch(.nested) }

  func unkeyed(_ form: OtherForm) throws -> any UnkeyedDecodingContainer { throw mismatch(form) }

  func superDecoder() throws -> any Decoder { throw mismatch(.superclass) }

  private func missing(_ key: String, _ text: String) -> DecodingError {
    DecodingError.keyNotFound(
      NamedKey(key), DecodingError.Context(codingPath: [], debugDescription: "\(key) \(text)"))
  }

  private func mismatch(_ form: OtherForm) -> DecodingError {
    DecodingError.dataCorrupted(
      DecodingError.Context(
        codingPath: [], debugDescription: "a composite has keys, and \(form.rawValue) was asked for"))
  }
}

/// A coding key of any name.
struct NamedKey: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(_ name: String) { stringValue = name }
  init(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}
