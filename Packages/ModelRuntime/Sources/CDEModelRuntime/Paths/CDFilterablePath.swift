@_spi(CDE) internal import CDEPredicates
public import Foundation

/// A path that filters can compare: ``CDPath`` and ``CDFilterField``.
///
/// A comparison is called with a value: `path.score.greaterThan(80)`. ``CDComparison`` says which values compile.
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

extension CDFilterablePath {
  /// The condition that the field equals a value. Nil equals a missing value.
  public var equals: CDComparison<Root, Value> { CDComparison(filterField, .equal) }

  /// The condition that the field does not equal a value, or has no value.
  public var notEquals: CDComparison<Root, Value> { CDComparison(filterField, .notEqual) }

  /// The condition that the field is greater than a value; false if the field has no value, as in the other orderings.
  public var greaterThan: CDComparison<Root, Value> { CDComparison(filterField, .greater) }

  /// The condition that the field is greater than a value or equal to it.
  public var greaterThanOrEqual: CDComparison<Root, Value> { CDComparison(filterField, .greaterOrEqual) }

  /// The condition that the field is less than a value.
  public var lessThan: CDComparison<Root, Value> { CDComparison(filterField, .less) }

  /// The condition that the field is less than a value or equal to it.
  public var lessThanOrEqual: CDComparison<Root, Value> { CDComparison(filterField, .lessOrEqual) }
}
