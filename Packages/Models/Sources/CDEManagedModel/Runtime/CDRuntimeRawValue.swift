/// The stored form of an enumeration's raw value.
public enum CDRuntimeRawValue: Sendable, Equatable {
  case string(String)
  case integer(Int64)

  /// The raw value of an enumeration's value; nil for no value, and for raw values that are neither text nor
  /// a 64-bit integer.
  public init?<Value: RawRepresentable>(_ value: Value?) {
    switch value?.rawValue {
    case let text as String: self = .string(text)
    case let number as any BinaryInteger:
      guard let exact = Int64(exactly: number) else { return nil }
      self = .integer(exact)
    default: return nil
    }
  }

  var value: Any {
    switch self {
    case .string(let text): text
    case .integer(let number): number
    }
  }
}
