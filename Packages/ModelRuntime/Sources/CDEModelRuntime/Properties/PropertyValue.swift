public import Foundation

/// The value of a property outside its row: unsaved, or kept after a costly read.
///
/// Public, because generated accessors are inlined into the modules that declare models.
public enum _PropertyValue {
  /// No value here. The row has the value.
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
  /// A transformable, composite or undefined value, as the object that the application uses.
  case object(_ObjectBox)
  case toOne(NSManagedObject)
  case toMany(ToManyMembers)
}

/// A box for a value of any type.
///
/// If the enumeration contained the value itself, all its cases would be accessed through pointers, and
/// copies would not be inlined.
public final class _ObjectBox {
  let value: Any
  /// The data that validation encoded from the value. The current save writes it into the row.
  var encoded: Data?

  init(_ value: Any) { self.value = value }
}

extension _PropertyValue {
  var isUnset: Bool {
    if case .unset = self { return true }
    return false
  }
}
