/// Where a value that decodes itself gets its parts from.
protocol DecodingSource: AnyObject {
  func beginKeyed() throws
  var keys: [String] { get }
  func contains(_ key: String) -> Bool
  func isNil(_ key: String) throws -> Bool
  func get<T: Decodable>(_ type: T.Type, _ key: String) throws -> T
  func getIfPresent<T: Decodable>(_ type: T.Type, _ key: String) throws -> T?
  func beginSingle() throws
  func singleIsNil() -> Bool
  func getSingle<T: Decodable>(_ type: T.Type) throws -> T
  /// The source of a keyed container below a key.
  func nested(_ key: String) throws -> any DecodingSource
  /// A container for a form that the source has no values of.
  func unkeyed(_ form: OtherForm) throws -> any UnkeyedDecodingContainer
  func superDecoder() throws -> any Decoder
}

/// A decoder over a source.
struct SourceDecoder: Decoder {
  let source: any DecodingSource
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    try source.beginKeyed()
    return KeyedDecodingContainer(SourceContainer<Key>(source: source))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try source.unkeyed(.unkeyed) }

  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    try source.beginSingle()
    return SourceValue(source: source)
  }
}

private struct SourceContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let source: any DecodingSource
  var codingPath: [any CodingKey] { [] }
  var allKeys: [Key] { source.keys.compactMap { Key(stringValue: $0) } }

  func contains(_ key: Key) -> Bool { source.contains(key.stringValue) }

  func decodeNil(forKey key: Key) throws -> Bool { try source.isNil(key.stringValue) }

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    try source.get(type, key.stringValue)
  }

  func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
    try source.getIfPresent(type, key.stringValue)
  }

  func nestedContainer<Inner: CodingKey>(
    keyedBy type: Inner.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Inner> {
    KeyedDecodingContainer(SourceContainer<Inner>(source: try source.nested(key.stringValue)))
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try source.unkeyed(.nested)
  }

  func superDecoder() throws -> any Decoder { try source.superDecoder() }

  func superDecoder(forKey key: Key) throws -> any Decoder { try source.superDecoder() }
}

private struct SourceValue: SingleValueDecodingContainer {
  let source: any DecodingSource
  var codingPath: [any CodingKey] { [] }

  func decodeNil() -> Bool { source.singleIsNil() }

  func decode<T: Decodable>(_ type: T.Type) throws -> T { try source.getSingle(type) }
}
