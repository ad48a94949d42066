public import Foundation

/// A literal inside a predicate, and what an attribute's value becomes when it is compared in memory.
///
/// Equality is of the tree and not of the comparison: `integer(1)` and `double(1)` are different constants,
/// texts are the same if their bytes are, and NaN equals itself.
public enum PredicateConstant: Sendable {
  case null
  case bool(Bool)
  case integer(Int64)
  case double(Double)
  case decimal(Decimal)
  case string(String)
  case date(Date)
  case data(Data)
  case uuid(UUID)
  case url(URL)
  /// A managed object or object ID, opaque here.
  case object(PredicateObject)
  case list([PredicateConstant])
}

/// A reference to an object that a predicate compares with, by identity and not by contents.
///
/// The runtime's object IDs conform; this module only compares and prints them.
nonisolated public protocol PredicateObjectReference: Sendable, Hashable {
  /// How `predicateFormat` prints the reference.
  var predicateDescription: String { get }
}

/// A type whose instances may be given as predicate arguments and stand for an object, such as a managed
/// object, which is compared by its object ID.
nonisolated public protocol PredicateObjectConvertible {
  /// The reference that stands for the object at the moment of the call.
  var predicateObjectReference: any PredicateObjectReference { get }
}

/// A type-erased ``PredicateObjectReference``, equal if the references are of one type and equal.
public struct PredicateObject: Sendable, Hashable {
  /// The object that is referred to. References of different types are never equal.
  public let reference: any PredicateObjectReference

  /// Makes a reference that hides its type, to be compared with others by equality alone.
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
