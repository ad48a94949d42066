public import CDEManagedModel

/// A class whose properties have ordinals: their positions in the order of declaration.
public nonisolated protocol CDPropertyNaming: AnyObject {
  /// Persistent names of all persisted properties, by ordinal.
  static var __cdPropertyNames: [String] { get }
  /// The names of the same properties in code.
  static var __cdSwiftNames: [String] { get }
}

/// A class of objects whose properties have ordinals by entity: a class that several entities share.
public nonisolated protocol CDEntityPropertyNaming: AnyObject {
  /// Persistent names of all persisted properties of an entity, by ordinal; nil for an entity whose objects are asked by name.
  static func propertyNames(of entity: NSEntityDescription) -> [String]?
}
