public import CDEManagedModel

/// What an attribute is besides its type.
///
/// The macro reads traits from the source, so arguments must be literals.
public enum AttributeTrait: Sendable {
  /// No two objects of the entity may have the same value in the store.
  case unique
  /// The value is kept in memory and never stored.
  case transient
  /// A rule for values; written as ``range(_:)-(ClosedRange<Double>)`` and its like.
  case _rule(CDRuntimeValidationRule)

  /// A number that is saved must lie in the range. For numbers in default storage; nil always passes.
  public static func range(_ range: ClosedRange<Double>) -> AttributeTrait {
    ._rule(.range(minimum: "\(range.lowerBound)", maximum: "\(range.upperBound)"))
  }

  /// A number that is saved must be the bound or more: `.range(0...)`. For numbers in default storage; nil
  /// always passes.
  public static func range(_ range: PartialRangeFrom<Double>) -> AttributeTrait {
    ._rule(.range(minimum: "\(range.lowerBound)", maximum: nil))
  }

  /// A number that is saved must be the bound or less: `.range(...100)`. For numbers in default storage; nil
  /// always passes.
  public static func range(_ range: PartialRangeThrough<Double>) -> AttributeTrait {
    ._rule(.range(minimum: nil, maximum: "\(range.upperBound)"))
  }

  /// Text that is saved must have so many UTF-16 units, as `NSString.length` counts. For `String` in default storage; nil always passes.
  public static func length(_ range: ClosedRange<Int>) -> AttributeTrait {
    ._rule(.length(minimum: range.lowerBound, maximum: range.upperBound))
  }

  /// Text that is saved must have at least so many UTF-16 units: `.length(1...)`. For `String` in default
  /// storage; nil always passes.
  public static func length(_ range: PartialRangeFrom<Int>) -> AttributeTrait {
    ._rule(.length(minimum: range.lowerBound, maximum: nil))
  }

  /// Text that is saved must have at most so many UTF-16 units: `.length(...80)`. For `String` in default
  /// storage; nil always passes.
  public static func length(_ range: PartialRangeThrough<Int>) -> AttributeTrait {
    ._rule(.length(minimum: nil, maximum: range.upperBound))
  }

  /// Text that is saved must match the regular expression as a whole. For `String` in default storage; nil
  /// always passes.
  public static func matching(_ pattern: String) -> AttributeTrait { ._rule(.matching(pattern)) }
}

/// How the value of an attribute is stored.
public enum AttributeStorageMethod {
  /// As it is: for the primitive types and their optionals.
  case `default`
  /// By its raw value: for enumerations and other `RawRepresentable` types over `String`, `Int`, `Int16`,
  /// `Int32` or `Int64`.
  case raw
  /// As JSON: for optionals of `Codable` types.
  case codable
  /// As the data that the transformer makes of it, for optionals. The transformer must be registered under its
  /// name before the first use.
  case transformed(any CDRegisteredValueTransformer.Type)
  /// The same with a transformer that is known by its name only.
  case transformed(name: String)
  /// As the fields of a ``Composition()`` struct, for optionals.
  case composition
}

/// What a getter does when what is stored is no value of the property's type.
public enum AttributeDecodeFailurePolicy: Sendable {
  /// It returns the declared default; nil for an optional property without one.
  case fallbackToDefaultValue
  /// It stops debug builds with an assertion, and otherwise returns nil, or the default of a property that is
  /// not optional.
  case debugAssertNil
}
