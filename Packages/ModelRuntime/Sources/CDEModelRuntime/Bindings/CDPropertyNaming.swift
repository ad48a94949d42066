/// A class whose properties have ordinals: their positions in the order of declaration.
public nonisolated protocol CDPropertyNaming: AnyObject {
  /// Persistent names of all persisted properties, by ordinal.
  static var __cdPropertyNames: [String] { get }
  /// The names of the same properties in code.
  static var __cdSwiftNames: [String] { get }
}
