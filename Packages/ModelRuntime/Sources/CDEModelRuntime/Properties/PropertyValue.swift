public import Foundation

/// The value of a property that is not (only) in a row: set and unsaved, or kept after a costly read.
///
/// Public because generated accessors are inlined into the modules that declare models.
public enum _PropertyValue {
  /// Nothing here: the row decides.
  case unset
  case null
  /// Integers and booleans.
  case integer(Int64)
  /// Doubles, floats, and dates as seconds since 2001.
  case real(Double)
  case text(String)
  case data(Data)
  case uuid(UUID)
  case decimal(Decimal)
  case url(URL)
  /// A transformable, composite or undefined value, as the object the user sees.
  case object(_ObjectBox)
  case toOne(NSManagedObject)
  case toMany(ToManyMembers)
}

/// Holds a value of any type.
///
/// If the enumeration held the value itself, the whole enumeration would be handled through pointers and
/// copied out of line at each use.
public final class _ObjectBox {
  let value: Any
  /// What a save under way made of the value when it validated it, for the row it writes next.
  var encoded: Data?

  init(_ value: Any) { self.value = value }
}

extension _PropertyValue {
  var isUnset: Bool {
    if case .unset = self { return true }
    return false
  }
}
