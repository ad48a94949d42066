@_spi(CDE) internal import CDEPredicates
public import Foundation

/// A comparison of a field, which is called with the other side: `Todo.path.priority.greaterThan(3)`.
///
/// It accepts the property's own type, other types of the same kind (an `Int` for an `Int16`), nil if the property is
/// optional, and the cases or raw values of an enumeration in raw storage. Other values do not compile.
public struct CDComparison<Root: CoreDataPathTable, Value>: Sendable {
  private let field: CDFilterField<Root, Value>
  private let op: PredicateOperator

  init(_ field: CDFilterField<Root, Value>, _ op: PredicateOperator) { (self.field, self.op) = (field, op) }

  private func predicate(_ value: Any) -> NSPredicate { field.predicate(op, value) }

  /// The condition for a value of the property's type.
  public func callAsFunction(_ value: Value) -> NSPredicate { predicate(value) }

  /// The condition for a value of another type of the property's kind.
  public func callAsFunction<Other: CDFilterValue>(_ value: Other) -> NSPredicate
  where Value: CDFilterValue, Other.FilterKind == Value.FilterKind {
    predicate(value)
  }

  /// The condition for a case of an enumeration, whose raw value is compared: `.equals(.open)`.
  ///
  /// - Precondition: the field has `.raw` storage.
  public func callAsFunction(_ value: Value) -> NSPredicate where Value: RawRepresentable { predicate(value) }

  /// The same for an optional attribute.
  ///
  /// - Precondition: the field has `.raw` storage.
  public func callAsFunction<R: RawRepresentable>(_ value: R) -> NSPredicate where Value == R? {
    predicate(value)
  }

  /// The same for a field of the type of the raw values.
  ///
  /// - Precondition: the field has `.raw` storage.
  public func callAsFunction<R: RawRepresentable>(_ value: R) -> NSPredicate
  where Value: CDFilterValue, R.RawValue: CDFilterValue, R.RawValue.FilterKind == Value.FilterKind {
    predicate(value)
  }

  /// The condition for a raw value of an enumeration.
  @_disfavoredOverload
  public func callAsFunction<Other: CDFilterValue>(_ value: Other) -> NSPredicate
  where Value: RawRepresentable, Value.RawValue: CDFilterValue, Other.FilterKind == Value.RawValue.FilterKind
  {
    predicate(value)
  }

  /// The same for an optional attribute.
  @_disfavoredOverload
  public func callAsFunction<Other: CDFilterValue, R: RawRepresentable>(_ value: Other) -> NSPredicate
  where Value == R?, R.RawValue: CDFilterValue, Other.FilterKind == R.RawValue.FilterKind {
    predicate(value)
  }

  /// The condition for a number of any type, in code that is generic over numbers.
  @_disfavoredOverload
  public func callAsFunction<N: BinaryInteger>(_ value: N) -> NSPredicate
  where Value: CDFilterValue, Value.FilterKind == CDFilterKind.Number {
    predicate(value)
  }

  /// The condition for a number of any type, in code that is generic over numbers.
  @_disfavoredOverload
  public func callAsFunction<N: BinaryFloatingPoint>(_ value: N) -> NSPredicate
  where Value: CDFilterValue, Value.FilterKind == CDFilterKind.Number {
    predicate(value)
  }

  @available(*, unavailable, message: "compare with a value of the property's type")
  @_disfavoredOverload
  public func callAsFunction(_ value: Any) -> NSPredicate { predicate(value) }
}
