internal import Foundation

/// Receives the only value that a type encodes.
final class ScalarTarget: EncodingTarget {
  private var stored: Any?

  /// The stored form of the value's only value.
  static func scalar<T: Encodable>(of value: T) throws -> Any? {
    let target = ScalarTarget()
    try value.encode(to: TargetEncoder(target: target))
    return target.stored
  }

  func beginKeyed() {}

  func put<T: Encodable>(_ value: T, _ key: String) throws { throw refusal(of: .keyed) }

  func putNil(_ key: String) throws { throw refusal(of: .keyed) }

  func putSingle<T: Encodable>(_ value: T) throws {
    if let scalar = value as? any StoredScalar {
      stored = scalar.stored
    } else {
      // The value may encode a single one itself, as enumerations with raw values do.
      try value.encode(to: TargetEncoder(target: self))
    }
  }

  func putSingleNil() { stored = nil }

  func nested(_ key: String) -> any EncodingTarget { RefusingTarget(error: refusal(of: .nested)) }

  func refusal(of form: OtherForm) -> any Error {
    SwiftDataError(
      .valueCoding,
      "A type that is stored as a single value encodes \(form.rawValue). Encode every value in the same form."
    )
  }
}

/// Gives a type the only value that it decodes.
final class ScalarSource: DecodingSource {
  private let stored: Any

  private init(_ stored: Any) { self.stored = stored }

  static func value<T: Decodable>(_ type: T.Type, of stored: Any) throws -> T {
    try T(from: SourceDecoder(source: ScalarSource(stored)))
  }

  func beginKeyed() throws { throw mismatch("a keyed container") }
  var keys: [String] { [] }
  func contains(_ key: String) -> Bool { false }
  func isNil(_ key: String) -> Bool { true }
  func get<T: Decodable>(_ type: T.Type, _ key: String) throws -> T { throw mismatch("a key") }
  func getIfPresent<T: Decodable>(_ type: T.Type, _ key: String) -> T? { nil }
  func beginSingle() {}
  func singleIsNil() -> Bool { false }

  func getSingle<T: Decodable>(_ type: T.Type) throws -> T {
    guard let scalar = type as? any StoredScalar.Type else { return try Self.value(type, of: stored) }
    guard let value = scalar.init(stored: stored) as? T else { throw mismatch("\(type)") }
    return value
  }

  func nested(_ key: String) throws -> any DecodingSource { throw mismatch("a nested container") }
  func unkeyed(_ form: OtherForm) throws -> any UnkeyedDecodingContainer { throw mismatch(form.rawValue) }
  func superDecoder() throws -> any Decoder { throw mismatch("a super decoder") }

  private func mismatch(_ wanted: String) -> DecodingError {
    DecodingError.dataCorrupted(
      DecodingError.Context(
        codingPath: [],
        debugDescription: "the stored value is a single \(type(of: stored)), and \(wanted) was asked for"))
  }
}
