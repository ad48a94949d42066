@_spi(CDE) public import CDEManagedModel
public import CDEPredicates
internal import Foundation

/// A class that `@PersistentModel` describes: its properties have names and places known at compile time.
public nonisolated protocol PersistentEntity: NSManagedObject, CoreDataKeys, CoreDataPathDSLProviding,
  PredicateKeyPathNaming
{
  /// Persistent names of all persisted properties, in the order of their declaration: what ordinals count.
  static var __cdPropertyNames: [String] { get }
  /// The same properties as code names them.
  static var __cdSwiftNames: [String] { get }
}

/// Stands in for the names of relationships where a class is described by hand: every name is one.
@dynamicMemberLookup
public nonisolated struct _CDAnyRelationshipNames {
  /// Makes the names of a class that is described by hand.
  public init() {}
  /// Accepts any name as that of a relationship.
  public subscript(dynamicMember name: String) -> Void { () }
}

extension NSManagedObject {
  // Classes made by the macro have a type of this name that knows which names there are.
  public typealias __CDRelationshipNames = _CDAnyRelationshipNames
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
