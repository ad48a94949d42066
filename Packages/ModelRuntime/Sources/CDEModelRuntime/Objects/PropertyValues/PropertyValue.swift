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

extension _PropertyValue {
  var isUnset: Bool {
    if case .unset = self { return true }
    return false
  }
}
