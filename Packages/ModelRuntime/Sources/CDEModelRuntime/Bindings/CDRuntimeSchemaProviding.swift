@_spi(CDE) public import CDEManagedModel

/// A class whose properties have ordinals: their places in the order of declaration.
public nonisolated protocol CDPropertyNaming: AnyObject {
  /// Persistent names of all persisted properties, by ordinal.
  static var __cdPropertyNames: [String] { get }
  /// The same properties as code names them.
  static var __cdSwiftNames: [String] { get }
}

/// A class that carries its own schema, so that a model can be made from the class alone.
public nonisolated protocol CDRuntimeSchemaProviding: NSManagedObject {
  static var __cdRuntimeEntitySchema: CDRuntimeEntitySchema { get }
}

/// Schemas of classes, in the order given.
public enum CDRuntimeSchemaCollection {
  /// The schemas that the classes carry, in the order given.
  public static func entitySchemas(_ types: [any CDRuntimeSchemaProviding.Type]) -> [CDRuntimeEntitySchema] {
    types.map { $0.__cdRuntimeEntitySchema }
  }

  /// The schemas that the classes carry, in the order given.
  public static func entitySchemas(_ types: any CDRuntimeSchemaProviding.Type...) -> [CDRuntimeEntitySchema] {
    entitySchemas(types)
  }
}
