internal import Foundation

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
