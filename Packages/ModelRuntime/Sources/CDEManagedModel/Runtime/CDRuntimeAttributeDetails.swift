/// A raw value of an enumeration, as an attribute stores it.
public enum CDRuntimeRawValue: Sendable, Equatable {
  case string(String)
  case integer(Int64)

  /// The raw value of an enumeration's value; nil for none, and for raw values that are neither text nor an
  /// integer of 64 bits.
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

/// What the values of an attribute must keep to be saved; in a model it becomes predicates on `SELF`, as
/// Core Data writes them.
public enum CDRuntimeValidationRule: Sendable, Equatable {
  /// A number within bounds, both included, given as decimal literals; nil for no bound.
  case range(minimum: String?, maximum: String?)
  /// Text of so many characters, bounds included.
  case length(minimum: Int?, maximum: Int?)
  /// Text that matches the regular expression as a whole.
  case matching(String)
}
