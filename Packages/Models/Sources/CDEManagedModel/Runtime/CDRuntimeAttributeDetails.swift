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

/// A rule that an attribute's values must satisfy to be saved. In a model it becomes predicates on `SELF`, as
/// in Core Data.
public enum CDRuntimeValidationRule: Sendable, Equatable {
  /// A number within bounds, both included, given as decimal literals; nil for no bound.
  case range(minimum: String?, maximum: String?)
  /// Text with a number of characters within bounds, both included.
  case length(minimum: Int?, maximum: Int?)
  /// Text that matches the whole regular expression.
  case matching(String)
}
