@_spi(CDE) public import CDEManagedModel

// The witnesses of all models of a hierarchy. The lineage contains the differences.
nonisolated extension PersistentEntity where PathRoot == CDHierarchyPaths {
  public static var __cdPropertyNames: [String] { lineage.propertyNames }
  public static var __cdSwiftNames: [String] { lineage.swiftNames }
  public static var __cdFieldTable: [String: CDFieldMeta] { lineage.fields }
  public static var __cdRelationshipProjectionTable: [String: CDFieldMeta] { lineage.attributes }
  /// The persistent key of the property that a key path from the class leads to, inherited properties
  /// included; nil for other key paths.
  public static func predicateKey(for keyPath: AnyKeyPath) -> String? { lineage.predicateKey(keyPath) }

  /// A request for the objects of the model and of the models that inherit from it.
  public static func fetchRequest() -> NSFetchRequest<Self> {
    NSFetchRequest<Self>(entityName: lineage.schema.entityName)
  }
}

nonisolated extension CDRuntimeSchemaProviding
where Self: PersistentEntity, Self.PathRoot == CDHierarchyPaths {
  public static var __cdRuntimeEntitySchema: CDRuntimeEntitySchema { lineage.schema }
}

nonisolated extension CoreDataPathDSLProviding where PathRoot == CDHierarchyPaths {
  /// The marker of a hierarchy. Each class hides it by its own property with the class's paths.
  public static var path: CDHierarchyPaths { CDHierarchyPaths() }
}

/// The paths of a model in a hierarchy.
public nonisolated protocol CDModelPaths: Sendable {
  init()
}

/// The paths of a model that inherits from another model. The parent's paths are its dynamic members.
@dynamicMemberLookup
public nonisolated protocol CDInheritedPaths: CDModelPaths {
  associatedtype __CDModel: CoreDataPathTable
  associatedtype __CDParent
  associatedtype __CDParentPaths: CDModelPaths
}

nonisolated extension CDInheritedPaths {
  /// The path to an attribute that a parent declares, starting from this model.
  public subscript<Value>(
    dynamicMember member: KeyPath<__CDParentPaths, CDPath<__CDParent, Value>>
  ) -> CDPath<__CDModel, Value> { __CDParentPaths()[keyPath: member].starting(from: __CDModel.self) }

  /// The path to a composition that a parent declares, starting from this model.
  public subscript<Value, Composition>(
    dynamicMember member: KeyPath<__CDParentPaths, CDCompositionPath<__CDParent, Value, Composition>>
  ) -> CDCompositionPath<__CDModel, Value, Composition> where __CDParent: CoreDataPathTable {
    CDCompositionPath(root: __CDParentPaths()[keyPath: member].root.starting(from: __CDModel.self))
  }

  /// The path to an object that a parent's to-one relationship leads to, starting from this model.
  public subscript<Target>(
    dynamicMember member: KeyPath<__CDParentPaths, CDToOneRelationPath<__CDParent, Target>>
  ) -> CDToOneRelationPath<__CDModel, Target> where __CDParent: CoreDataPathTable {
    let path = __CDParentPaths()[keyPath: member]
    return CDToOneRelationPath(swiftPath: path.swiftPath, persistentPath: path.persistentPath)
  }

  /// The path to an object that a parent's to-one relationship leads to, starting from this model.
  public subscript<Target>(
    dynamicMember member: KeyPath<__CDParentPaths, CDToManyRelationPath<__CDParent, Target>>
  ) -> CDToManyRelationPath<__CDModel, Target> where __CDParent: CoreDataPathTable {
    let path = __CDParentPaths()[keyPath: member]
    return CDToManyRelationPath(swiftPath: path.swiftPath, persistentPath: path.persistentPath)
  }
}

nonisolated extension CDPath {
  fileprivate func starting<Other>(from other: Other.Type) -> CDPath<Other, Value> {
    CDPath<Other, Value>(swiftPath: swiftPath, persistentPath: persistentPath, storageMethod: storageMethod)
  }
}

// Members that a model finds in a parent that is no model. The first one causes an error, the others prevent
// further errors.
nonisolated extension NSManagedObject {
  @available(
    *, unavailable,
    message:
      "a @PersistentModel class inherits from NSManagedObject or from another @PersistentModel class; mark the superclass with @PersistentModel (isAbstract: true if it has no objects of its own)"
  )
  public struct __CDPaths: CDModelPaths {
    /// Makes the value. Never called, because the type is unavailable.
    public init() {}
  }

  public enum __CDOrdinal {
    @inlinable @inline(__always) public static var __cdCount: CDOrdinal { 0 }
  }

  @dynamicMemberLookup
  open class __CDInheritedRelationshipNames {
    /// Makes the object.
    public init() {}
    /// Accepts any name, so that the missing attribute of the superclass causes the only error.
    public final subscript(dynamicMember name: String) -> Void { () }
  }

  public static func __cdPredicateKey<Root: NSManagedObject>(for keyPath: AnyKeyPath, root: Root.Type)
    -> String?
  { nil }
}
