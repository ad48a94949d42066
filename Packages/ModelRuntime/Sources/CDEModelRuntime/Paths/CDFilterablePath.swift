@_spi(CDE) internal import CDEPredicates
public import Foundation

/// A path that filters can compare: ``CDPath`` and ``CDFilterField``.
///
/// A comparison accepts the property's own type, other types of the same kind (an `Int` for an `Int16`), nil
/// if the property is optional, and the cases or raw values of an enumeration in raw storage. Other values do
/// not compile.
public protocol CDFilterablePath<Root, Value> {
  /// The model that the path starts at.
  associatedtype Root: CoreDataPathTable
  /// The type of the property at the end of the path. It is an optional if the property is optional.
  associatedtype Value

  /// The path as a field for predicates.
  var filterField: CDFilterField<Root, Value> { get }
}

extension CDFilterField: CDFilterablePath {
  /// The field itself.
  public var filterField: CDFilterField<Root, Value> { self }
}

extension CDPath: CDFilterablePath where Root: CoreDataPathTable {
  /// The same path without a quantifier.
  public var filterField: CDFilterField<Root, Value> {
    CDFilterField(swiftPath: swiftPath, persistentPath: persistentPath, storageMethod: storageMethod)
  }
}

extension CDFilterablePath {
  /// The condition that the text contains this text.
  ///
  /// - Parameters:
  ///   - value: The text to find, literally.
  ///   - caseInsensitive: Ignores case and diacritics (`CONTAINS[cd]`); true by default.
  public func contains(_ value: String, caseInsensitive: Bool = true) -> NSPredicate {
    filterField.predicate(
      .contains, value, caseInsensitive ? [.caseInsensitive, .diacriticInsensitive] : [])
  }
}

// MARK: equals

extension CDFilterablePath {
  /// The condition that the field equals this value. Nil equals a missing value.
  public func equals(_ value: Value) -> NSPredicate { filterField.predicate(.equal, value) }

  /// The same with another type of the property's kind.
  public func equals<Other: CDFilterValue>(_ value: Other) -> NSPredicate
  where Value: CDFilterValue, Other.FilterKind == Value.FilterKind {
    filterField.predicate(.equal, value)
  }

  /// The same with a case of an enumeration, whose raw value is compared: `.equals(.open)`.
  ///
  /// - Precondition: the field has `.raw` storage.
  public func equals(_ value: Value) -> NSPredicate where Value: RawRepresentable {
    filterField.predicate(.equal, value)
  }

  /// The same for an optional attribute.
  ///
  /// - Precondition: the field has `.raw` storage.
  public func equals<R: RawRepresentable>(_ value: R) -> NSPredicate where Value == R? {
    filterField.predicate(.equal, value)
  }

  /// The same for a field of the type of the raw values.
  ///
  /// - Precondition: the field has `.raw` storage.
  public func equals<R: RawRepresentable>(_ value: R) -> NSPredicate
  where Value: CDFilterValue, R.RawValue: CDFilterValue, R.RawValue.FilterKind == Value.FilterKind {
    filterField.predicate(.equal, value)
  }

  /// The same with a raw value.
  @_disfavoredOverload
  public func equals<Other: CDFilterValue>(_ value: Other) -> NSPredicate
  where Value: RawRepresentable, Value.RawValue: CDFilterValue, Other.FilterKind == Value.RawValue.FilterKind
  {
    filterField.predicate(.equal, value)
  }

  /// The same with a raw value, for an optional attribute.
  @_disfavoredOverload
  public func equals<Other: CDFilterValue, R: RawRepresentable>(_ value: Other) -> NSPredicate
  where Value == R?, R.RawValue: CDFilterValue, Other.FilterKind == R.RawValue.FilterKind {
    filterField.predicate(.equal, value)
  }

  /// The same with a number of any type, in code that is generic over numbers.
  @_disfavoredOverload
  public func equals<N: BinaryInteger>(_ value: N) -> NSPredicate
  where Value: CDFilterValue, Value.FilterKind == CDFilterKind.Number {
    filterField.predicate(.equal, value)
  }

  /// The same with a number of any type, in code that is generic over numbers.
  @_disfavoredOverload
  public func equals<N: BinaryFloatingPoint>(_ value: N) -> NSPredicate
  where Value: CDFilterValue, Value.FilterKind == CDFilterKind.Number {
    filterField.predicate(.equal, value)
  }

  @available(*, unavailable, message: "compare with a value of the property's type")
  @_disfavoredOverload
  public func equals(_ value: Any) -> NSPredicate { filterField.predicate(.equal, value) }
}

// MARK: notEquals

extension CDFilterablePath {
  /// The condition that the field does not equal this value, or has no value.
  public func notEquals(_ value: Value) -> NSPredicate { filterField.predicate(.notEqual, value) }

  /// The same with another type of the property's kind.
  public func notEquals<Other: CDFilterValue>(_ value: Other) -> NSPredicate
  where Value: CDFilterValue, Other.FilterKind == Value.FilterKind {
    filterField.predicate(.notEqual, value)
  }

  /// The same with a case of an enumeration, whose raw value is compared: `.notEquals(.open)`.
  ///
  /// - Precondition: the field has `.raw` storage.
  public func notEquals(_ value: Value) -> NSPredicate where Value: RawRepresentable {
    filterField.predicate(.notEqual, value)
  }

  /// The same for an optional attribute.
  ///
  /// - Precondition: the field has `.raw` storage.
  public func notEquals<R: RawRepresentable>(_ value: R) -> NSPredicate where Value == R? {
    filterField.predicate(.notEqual, value)
  }

  /// The same for a field of the type of the raw values.
  ///
  /// - Precondition: the field has `.raw` storage.
  public func notEquals<R: RawRepresentable>(_ value: R) -> NSPredicate
  where Value: CDFilterValue, R.RawValue: CDFilterValue, R.RawValue.FilterKind == Value.FilterKind {
    filterField.predicate(.notEqual, value)
  }

  /// The same with a raw value.
  @_disfavoredOverload
  public func notEquals<Other: CDFilterValue>(_ value: Other) -> NSPredicate
  where Value: RawRepresentable, Value.RawValue: CDFilterValue, Other.FilterKind == Value.RawValue.FilterKind
  {
    filterField.predicate(.notEqual, value)
  }

  /// The same with a raw value, for an optional attribute.
  @_disfavoredOverload
  public func notEquals<Other: CDFilterValue, R: RawRepresentable>(_ value: Other) -> NSPredicate
  where Value == R?, R.RawValue: CDFilterValue, Other.FilterKind == R.RawValue.FilterKind {
    filterField.predicate(.notEqual, value)
  }

  /// The same with a number of any type, in code that is generic over numbers.
  @_disfavoredOverload
  public func notEquals<N: BinaryInteger>(_ value: N) -> NSPredicate
  where Value: CDFilterValue, Value.FilterKind == CDFilterKind.Number {
    filterField.predicate(.notEqual, value)
  }

  /// The same with a number of any type, in code that is generic over numbers.
  @_disfavoredOverload
  public func notEquals<N: BinaryFloatingPoint>(_ value: N) -> NSPredicate
  where Value: CDFilterValue, Value.FilterKind == CDFilterKind.Number {
    filterField.predicate(.notEqual, value)
  }

  @available(*, unavailable, message: "compare with a value of the property's type")
  @_disfavoredOverload
  public func notEquals(_ value: Any) -> NSPredicate { filterField.predicate(.notEqual, value) }
}

// MARK: greaterThan

extension CDFilterablePath {
  /// The condition that the field is greater than this value; false if the field has no value, as in the other orderings.
  public func greaterThan(_ value: Value) -> NSPredicate { filterField.predicate(.greater, value) }

  /// The same with another type of the property's kind.
  public func greaterThan<Other: CDFilterValue>(_ value: Other) -> NSPredicate
  where Value: CDFilterValue, Other.FilterKind == Value.FilterKind {
    filterField.predicate(.greater, value)
  }

  /// The same with a case of an enumeration, whose raw value is compared: `.greaterThan(.open)`.
  ///
  /// - Precondition: the field has `.raw` storage.
  public func greaterThan(_ value: Value) -> NSPredicate where Value: RawRepresentable {
    filterField.predicate(.greater, value)
  }

  /// The same for an optional attribute.
  ///
  /// - Precondition: the field has `.raw` storage.
  public func greaterThan<R: RawRepresentable>(_ value: R) -> NSPredicate where Value == R? {
    filterField.predicate(.greater, value)
  }

  /// The same for a field of the type of the raw values.
  ///
  /// - Precondition: the field has `.raw` storage.
  public func greaterThan<R: RawRepresentable>(_ value: R) -> NSPredicate
  where Value: CDFilterValue, R.RawValue: CDFilterValue, R.RawValue.FilterKind == Value.FilterKind {
    filterField.predicate(.greater, value)
  }

  /// The same with a raw value.
  @_disfavoredOverload
  public func greaterThan<Other: CDFilterValue>(_ value: Other) -> NSPredicate
  where Value: RawRepresentable, Value.RawValue: CDFilterValue, Other.FilterKind == Value.RawValue.FilterKind
  {
    filterField.predicate(.greater, value)
  }

  /// The same with a raw value, for an optional attribute.
  @_disfavoredOverload
  public func greaterThan<Other: CDFilterValue, R: RawRepresentable>(_ value: Other) -> NSPredicate
  where Value == R?, R.RawValue: CDFilterValue, Other.FilterKind == R.RawValue.FilterKind {
    filterField.predicate(.greater, value)
  }

  /// The same with a number of any type, in code that is generic over numbers.
  @_disfavoredOverload
  public func greaterThan<N: BinaryInteger>(_ value: N) -> NSPredicate
  where Value: CDFilterValue, Value.FilterKind == CDFilterKind.Number {
    filterField.predicate(.greater, value)
  }

  /// The same with a number of any type, in code that is generic over numbers.
  @_disfavoredOverload
  public func greaterThan<N: BinaryFloatingPoint>(_ value: N) -> NSPredicate
  where Value: CDFilterValue, Value.FilterKind == CDFilterKind.Number {
    filterField.predicate(.greater, value)
  }

  @available(*, unavailable, message: "compare with a value of the property's type")
  @_disfavoredOverload
  public func greaterThan(_ value: Any) -> NSPredicate { filterField.predicate(.greater, value) }
}

// MARK: greaterThanOrEqual

extension CDFilterablePath {
  /// The condition that the field is greater than this value or equal to it.
  public func greaterThanOrEqual(_ value: Value) -> NSPredicate {
    filterField.predicate(.greaterOrEqual, value)
  }

  /// The same with another type of the property's kind.
  public func greaterThanOrEqual<Other: CDFilterValue>(_ value: Other) -> NSPredicate
  where Value: CDFilterValue, Other.FilterKind == Value.FilterKind {
    filterField.predicate(.greaterOrEqual, value)
  }

  /// The same with a case of an enumeration, whose raw value is compared: `.greaterThanOrEqual(.open)`.
  ///
  /// - Precondition: the field has `.raw` storage.
  public func greaterThanOrEqual(_ value: Value) -> NSPredicate where Value: RawRepresentable {
    filterField.predicate(.greaterOrEqual, value)
  }

  /// The same for an optional attribute.
  ///
  /// - Precondition: the field has `.raw` storage.
  public func greaterThanOrEqual<R: RawRepresentable>(_ value: R) -> NSPredicate where Value == R? {
    filterField.predicate(.greaterOrEqual, value)
  }

  /// The same for a field of the type of the raw values.
  ///
  /// - Precondition: the field has `.raw` storage.
  public func greaterThanOrEqual<R: RawRepresentable>(_ value: R) -> NSPredicate
  where Value: CDFilterValue, R.RawValue: CDFilterValue, R.RawValue.FilterKind == Value.FilterKind {
    filterField.predicate(.greaterOrEqual, value)
  }

  /// The same with a raw value.
  @_disfavoredOverload
  public func greaterThanOrEqual<Other: CDFilterValue>(_ value: Other) -> NSPredicate
  where Value: RawRepresentable, Value.RawValue: CDFilterValue, Other.FilterKind == Value.RawValue.FilterKind
  {
    filterField.predicate(.greaterOrEqual, value)
  }

  /// The same with a raw value, for an optional attribute.
  @_disfavoredOverload
  public func greaterThanOrEqual<Other: CDFilterValue, R: RawRepresentable>(_ value: Other) -> NSPredicate
  where Value == R?, R.RawValue: CDFilterValue, Other.FilterKind == R.RawValue.FilterKind {
    filterField.predicate(.greaterOrEqual, value)
  }

  /// The same with a number of any type, in code that is generic over numbers.
  @_disfavoredOverload
  public func greaterThanOrEqual<N: BinaryInteger>(_ value: N) -> NSPredicate
  where Value: CDFilterValue, Value.FilterKind == CDFilterKind.Number {
    filterField.predicate(.greaterOrEqual, value)
  }

  /// The same with a number of any type, in code that is generic over numbers.
  @_disfavoredOverload
  public func greaterThanOrEqual<N: BinaryFloatingPoint>(_ value: N) -> NSPredicate
  where Value: CDFilterValue, Value.FilterKind == CDFilterKind.Number {
    filterField.predicate(.greaterOrEqual, value)
  }

  @available(*, unavailable, message: "compare with a value of the property's type")
  @_disfavoredOverload
  public func greaterThanOrEqual(_ value: Any) -> NSPredicate {
    filterField.predicate(.greaterOrEqual, value)
  }
}

// MARK: lessThan

extension CDFilterablePath {
  /// The condition that the field is less than this value.
  public func lessThan(_ value: Value) -> NSPredicate { filterField.predicate(.less, value) }

  /// The same with another type of the property's kind.
  public func lessThan<Other: CDFilterValue>(_ value: Other) -> NSPredicate
  where Value: CDFilterValue, Other.FilterKind == Value.FilterKind {
    filterField.predicate(.less, value)
  }

  /// The same with a case of an enumeration, whose raw value is compared: `.lessThan(.open)`.
  ///
  /// - Precondition: the field has `.raw` storage.
  public func lessThan(_ value: Value) -> NSPredicate where Value: RawRepresentable {
    filterField.predicate(.less, value)
  }

  /// The same for an optional attribute.
  ///
  /// - Precondition: the field has `.raw` storage.
  public func lessThan<R: RawRepresentable>(_ value: R) -> NSPredicate where Value == R? {
    filterField.predicate(.less, value)
  }

  /// The same for a field of the type of the raw values.
  ///
  /// - Precondition: the field has `.raw` storage.
  public func lessThan<R: RawRepresentable>(_ value: R) -> NSPredicate
  where Value: CDFilterValue, R.RawValue: CDFilterValue, R.RawValue.FilterKind == Value.FilterKind {
    filterField.predicate(.less, value)
  }

  /// The same with a raw value.
  @_disfavoredOverload
  public func lessThan<Other: CDFilterValue>(_ value: Other) -> NSPredicate
  where Value: RawRepresentable, Value.RawValue: CDFilterValue, Other.FilterKind == Value.RawValue.FilterKind
  {
    filterField.predicate(.less, value)
  }

  /// The same with a raw value, for an optional attribute.
  @_disfavoredOverload
  public func lessThan<Other: CDFilterValue, R: RawRepresentable>(_ value: Other) -> NSPredicate
  where Value == R?, R.RawValue: CDFilterValue, Other.FilterKind == R.RawValue.FilterKind {
    filterField.predicate(.less, value)
  }

  /// The same with a number of any type, in code that is generic over numbers.
  @_disfavoredOverload
  public func lessThan<N: BinaryInteger>(_ value: N) -> NSPredicate
  where Value: CDFilterValue, Value.FilterKind == CDFilterKind.Number {
    filterField.predicate(.less, value)
  }

  /// The same with a number of any type, in code that is generic over numbers.
  @_disfavoredOverload
  public func lessThan<N: BinaryFloatingPoint>(_ value: N) -> NSPredicate
  where Value: CDFilterValue, Value.FilterKind == CDFilterKind.Number {
    filterField.predicate(.less, value)
  }

  @available(*, unavailable, message: "compare with a value of the property's type")
  @_disfavoredOverload
  public func lessThan(_ value: Any) -> NSPredicate { filterField.predicate(.less, value) }
}

// MARK: lessThanOrEqual

extension CDFilterablePath {
  /// The condition that the field is less than this value or equal to it.
  public func lessThanOrEqual(_ value: Value) -> NSPredicate { filterField.predicate(.lessOrEqual, value) }

  /// The same with another type of the property's kind.
  public func lessThanOrEqual<Other: CDFilterValue>(_ value: Other) -> NSPredicate
  where Value: CDFilterValue, Other.FilterKind == Value.FilterKind {
    filterField.predicate(.lessOrEqual, value)
  }

  /// The same with a case of an enumeration, whose raw value is compared: `.lessThanOrEqual(.open)`.
  ///
  /// - Precondition: the field has `.raw` storage.
  public func lessThanOrEqual(_ value: Value) -> NSPredicate where Value: RawRepresentable {
    filterField.predicate(.lessOrEqual, value)
  }

  /// The same for an optional attribute.
  ///
  /// - Precondition: the field has `.raw` storage.
  public func lessThanOrEqual<R: RawRepresentable>(_ value: R) -> NSPredicate where Value == R? {
    filterField.predicate(.lessOrEqual, value)
  }

  /// The same for a field of the type of the raw values.
  ///
  /// - Precondition: the field has `.raw` storage.
  public func lessThanOrEqual<R: RawRepresentable>(_ value: R) -> NSPredicate
  where Value: CDFilterValue, R.RawValue: CDFilterValue, R.RawValue.FilterKind == Value.FilterKind {
    filterField.predicate(.lessOrEqual, value)
  }

  /// The same with a raw value.
  @_disfavoredOverload
  public func lessThanOrEqual<Other: CDFilterValue>(_ value: Other) -> NSPredicate
  where Value: RawRepresentable, Value.RawValue: CDFilterValue, Other.FilterKind == Value.RawValue.FilterKind
  {
    filterField.predicate(.lessOrEqual, value)
  }

  /// The same with a raw value, for an optional attribute.
  @_disfavoredOverload
  public func lessThanOrEqual<Other: CDFilterValue, R: RawRepresentable>(_ value: Other) -> NSPredicate
  where Value == R?, R.RawValue: CDFilterValue, Other.FilterKind == R.RawValue.FilterKind {
    filterField.predicate(.lessOrEqual, value)
  }

  /// The same with a number of any type, in code that is generic over numbers.
  @_disfavoredOverload
  public func lessThanOrEqual<N: BinaryInteger>(_ value: N) -> NSPredicate
  where Value: CDFilterValue, Value.FilterKind == CDFilterKind.Number {
    filterField.predicate(.lessOrEqual, value)
  }

  /// The same with a number of any type, in code that is generic over numbers.
  @_disfavoredOverload
  public func lessThanOrEqual<N: BinaryFloatingPoint>(_ value: N) -> NSPredicate
  where Value: CDFilterValue, Value.FilterKind == CDFilterKind.Number {
    filterField.predicate(.lessOrEqual, value)
  }

  @available(*, unavailable, message: "compare with a value of the property's type")
  @_disfavoredOverload
  public func lessThanOrEqual(_ value: Any) -> NSPredicate { filterField.predicate(.lessOrEqual, value) }
}
