/// How the value of a field is kept in the store.
public enum StorageMethod: Equatable, Sendable {
  /// A primitive as it is.
  case `default`
  /// The raw value of an enumeration or another `RawRepresentable`.
  case raw
  /// JSON.
  case codable
  /// Whatever a value transformer makes of it.
  case transformed
  /// Fields of its own.
  case composition
}
