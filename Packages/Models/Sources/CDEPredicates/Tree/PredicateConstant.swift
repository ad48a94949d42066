internal import Foundation

/// A literal inside a predicate, and the form of an attribute's value in comparisons in memory. An object is a managed object or its ID,
/// which this module does not interpret.
public typealias PredicateConstant = ConstantValue<PredicateObject>

/// A reference to an object that a predicate compares by identity and not by contents.
///
/// The runtime's object IDs conform. This module only compares and prints them.
nonisolated public protocol PredicateObjectReference: Sendable, Hashable {
  /// The text of the reference in `predicateFormat`.
  var predicateDescription: String { get }
}

/// A type whose instances may be predicate arguments and represent an object, such as a managed object, which
/// is compared by its object ID.
nonisolated public protocol PredicateObjectConvertible {
  /// The reference that represents the object at the time of the call.
  var predicateObjectReference: any PredicateObjectReference { get }
}

/// A type-erased ``PredicateObjectReference``, equal if the references are of one type and equal.
public struct PredicateObject: Sendable, Hashable {
  /// The referenced object. References of different types are never equal.
  public let reference: any PredicateObjectReference

  /// Makes a type-erased reference, which can only be compared.
  public init(_ reference: any PredicateObjectReference) {
    self.reference = reference
  }

  public static func == (left: Self, right: Self) -> Bool {
    AnyHashable(left.reference) == AnyHashable(right.reference)
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(AnyHashable(reference))
  }
}

extension PredicateConstant {
  var isNumber: Bool {
    switch self {
    case .bool, .integer, .double, .decimal: true
    default: false
    }
  }

  var integerValue: Int64? {
    switch self {
    case .bool(let value): value ? 1 : 0
    case .integer(let value): value
    default: nil
    }
  }

  /// The value of an integer, or of a decimal that stores keep as one.
  var wholeValue: Int64? {
    if case .decimal(let value) = self { return Int64(value.description) }
    return integerValue
  }

  /// Exact values only: integers and decimals.
  var decimalValue: Decimal? {
    if case .decimal(let value) = self { return value }
    return integerValue.map { Decimal($0) }
  }

  var doubleValue: Double? {
    switch self {
    case .double(let value): value
    // NSDecimalNumber's own conversion does not always give the nearest double, which stores have.
    case .decimal(let value): Double(value.description)
    default: integerValue.map { Double($0) }
    }
  }
}
