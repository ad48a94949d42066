import Foundation

/// A value bound to a query.
public enum StoreValue: Hashable, Sendable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  case blob(Data)
  /// The object with this key in the tree of the entity with this index.
  case reference(entity: EntityIndex, key: Int64)
}
