/// The forms of an encoded value that a composite attribute does not have.
enum OtherForm: String {
  case unkeyed = "an unkeyed container"
  case nested = "a nested container"
  case superclass = "a super encoder"
  case single = "a single value"
  case keyed = "a keyed container"
}

/// What receives the parts of a value that encodes itself.
protocol EncodingTarget: AnyObject {
  func beginKeyed()
  func put<T: Encodable>(_ value: T, _ key: String) throws
  func putNil(_ key: String) throws
  func putSingle<T: Encodable>(_ value: T) throws
  func putSingleNil() throws
  /// The target of a keyed container below a key.
  func nested(_ key: String) -> any EncodingTarget
  /// The error for a form that the target does not accept.
  func refusal(of form: OtherForm) -> any Error
}

/// An encoder that passes all that a value encodes on to a target.
struct TargetEncoder: Encoder {
  let target: any EncodingTarget
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    target.beginKeyed()
    return KeyedEncodingContainer(TargetContainer<Key>(target: target))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    RefusingContainer(error: target.refusal(of: .unkeyed))
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { TargetValue(target: target) }
}

private struct TargetContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let target: any EncodingTarget
  var codingPath: [any CodingKey] { [] }

  func encodeNil(forKey key: Key) throws { try target.putNil(key.stringValue) }

  func encode<T: Encodable>(_ value: T, forKey key: Key) throws { try target.put(value, key.stringValue) }

  func nestedContainer<Inner: CodingKey>(
    keyedBy type: Inner.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Inner> {
    KeyedEncodingContainer(TargetContainer<Inner>(target: target.nested(key.stringValue)))
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    RefusingContainer(error: target.refusal(of: .unkeyed))
  }

  func superEncoder() -> any Encoder { RefusingEncoder(error: target.refusal(of: .superclass)) }

  func superEncoder(forKey key: Key) -> any Encoder { superEncoder() }
}

private struct TargetValue: SingleValueEncodingContainer {
  let target: any EncodingTarget
  var codingPath: [any CodingKey] { [] }

  func encodeNil() throws { try target.putSingleNil() }

  func encode<T: Encodable>(_ value: T) throws { try target.putSingle(value) }
}

// An encoder's functions that return containers can't throw, so that the containers throw at their first use.

private struct RefusingEncoder: Encoder {
  let error: any Error
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(RefusingKeyedContainer<Key>(error: error))
  }
  func unkeyedContainer() -> any UnkeyedEncodingContainer { RefusingContainer(error: error) }
  func singleValueContainer() -> any SingleValueEncodingContainer { RefusingContainer(error: error) }
}

private struct RefusingKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let error: any Error
  var codingPath: [any CodingKey] { [] }

  func encodeNil(forKey key: Key) throws { throw error }
  func encode<T: Encodable>(_ value: T, forKey key: Key) throws { throw error }
  func nestedContainer<Inner: CodingKey>(
    keyedBy type: Inner.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Inner> {
    KeyedEncodingContainer(RefusingKeyedContainer<Inner>(error: error))
  }
  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    RefusingContainer(error: error)
  }
  func superEncoder() -> any Encoder { RefusingEncoder(error: error) }
  func superEncoder(forKey key: Key) -> any Encoder { RefusingEncoder(error: error) }
}

private struct RefusingContainer: UnkeyedEncodingContainer, SingleValueEncodingContainer {
  let error: any Error
  var codingPath: [any CodingKey] { [] }
  var count: Int { 0 }

  func encodeNil() throws { throw error }
  func encode<T: Encodable>(_ value: T) throws { throw error }
  func nestedContainer<Inner: CodingKey>(keyedBy type: Inner.Type) -> KeyedEncodingContainer<Inner> {
    KeyedEncodingContainer(RefusingKeyedContainer<Inner>(error: error))
  }
  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self }
  func superEncoder() -> any Encoder { RefusingEncoder(error: error) }
}
