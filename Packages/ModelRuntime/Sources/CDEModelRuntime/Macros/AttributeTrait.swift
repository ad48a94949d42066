public import CDEManagedModel

/// A trait of an attribute in addition to its type.
///
/// The macro reads traits from the source, so arguments must be literals.
public enum AttributeTrait: Sendable {
  /// No two objects of the entity may have the same value in the store.
  case unique
  /// The value is kept in memory and never stored.
  case transient
  /// The store's history keeps the last value of a deleted object, in `NSPersistentHistoryChange.tombstone`. For values in one
  /// column.
  case preserveValueOnDeletion
  /// A rule for values, made by ``range(_:)-(ClosedRange<Double>)`` and the similar functions.
  case _rule(CDRuntimeValidationRule)

  /// A saved number must be in the range. For numbers in default storage. Nil always passes.
  public static func range(_ range: ClosedRange<Double>) -> AttributeTrait {
    ._rule(.range(minimum: "\(range.lowerBound)", maximum: "\(range.upperBound)"))
  }

  /// A saved number must be equal to the bound or greater: `.range(0...)`. For numbers in default storage.
  /// Nil always passes.
  public static func range(_ range: PartialRangeFrom<Double>) -> AttributeTrait {
    ._rule(.range(minimum: "\(range.lowerBound)", maximum: nil))
  }

  /// A saved number must be equal to the bound or less: `.range(...100)`. For numbers in default storage. Nil
  /// always passes.
  public static func range(_ range: PartialRangeThrough<Double>) -> AttributeTrait {
    ._rule(.range(minimum: nil, maximum: "\(range.upperBound)"))
  }

  /// The number of UTF-16 units (`NSString.length`) of a saved text must be in the range. For `String` in
  /// default storage. Nil always passes.
  public static func length(_ range: ClosedRange<Int>) -> AttributeTrait {
    ._rule(.length(minimum: range.lowerBound, maximum: range.upperBound))
  }

  /// A saved text must have at least this number of UTF-16 units: `.length(1...)`. For `String` in default
  /// storage. Nil always passes.
  public static func length(_ range: PartialRangeFrom<Int>) -> AttributeTrait {
    ._rule(.length(minimum: range.lowerBound, maximum: nil))
  }

  /// A saved text must have at most this number of UTF-16 units: `.length(...80)`. For `String` in default
  /// storage. Nil always passes.
  public static func length(_ range: PartialRangeThrough<Int>) -> AttributeTrait {
    ._rule(.length(minimum: nil, maximum: range.upperBound))
  }

  /// The whole of a saved text must match the regular expression. For `String` in default storage. Nil always
  /// passes.
  public static func matching(_ pattern: String) -> AttributeTrait { ._rule(.matching(pattern)) }
}

/// How the value of an attribute is stored.
public enum AttributeStorageMethod {
  /// Unchanged. For the primitive types and their optionals.
  case `default`
  /// By its raw value. For enumerations and other `RawRepresentable` types over `String`, `Int`, `Int16`,
  /// `Int32` or `Int64`.
  case raw
  /// As JSON. For optionals of `Codable` types.
  case codable
  /// As the data that the transformer makes, for optionals. The transformer must be registered under its name
  /// before the first use.
  case transformed(any CDRegisteredValueTransformer.Type)
  /// The same with a transformer that is known only by its name.
  case transformed(name: String)
  /// As the fields of a ``Composition()`` struct. For optionals.
  case composition
}

/// What a getter does when the stored value is invalid for the property's type.
public enum AttributeDecodeFailurePolicy: Sendable {
  /// It returns the declared default; nil for an optional property without one.
  case fallbackToDefaultValue
  /// It fails an assertion in debug builds. Otherwise it returns nil, or the default of a property that is
  /// not optional.
  case debugAssertNil
}
