/// How the value of a field is stored.
public enum StorageMethod: Equatable, Sendable {
  /// A primitive, unchanged.
  case `default`
  /// The raw value of an enumeration or another `RawRepresentable`.
  case raw
  /// JSON.
  case codable
  /// The data that a value transformer makes of it.
  case transformed
  /// Separate fields.
  case composition
}
