@_spi(CDE) public import CDEManagedModel

/// A class with its own schema, so that a model can be made from the class alone.
public nonisolated protocol CDRuntimeSchemaProviding: NSManagedObject {
  static var __cdRuntimeEntitySchema: CDRuntimeEntitySchema { get }
}

/// Schemas of classes, in the given order.
public enum CDRuntimeSchemaCollection {
  /// The schemas of the classes, in the given order.
  public static func entitySchemas(_ types: [any CDRuntimeSchemaProviding.Type]) -> [CDRuntimeEntitySchema] {
    types.map { $0.__cdRuntimeEntitySchema }
  }

  /// The schemas of the classes, in the given order.
  public static func entitySchemas(_ types: any CDRuntimeSchemaProviding.Type...) -> [CDRuntimeEntitySchema] {
    entitySchemas(types)
  }
}
