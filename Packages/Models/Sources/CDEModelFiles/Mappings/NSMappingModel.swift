public import CDEPredicates
public import Foundation

/// How the entities of two versions of a model belong together.
///
/// Xcode's editor writes an `.xcmappingmodel`, which ``ModelCompiler`` compiles to the `.cdm` that programs load. A mapping model
/// may also be made in code. As in Core Data, it is a plain object: code that shares it between threads has to take turns.
nonisolated open class NSMappingModel: NSObject {
  /// The mappings of entities, in the order in which a migration runs them.
  open var entityMappings: [NSEntityMapping]!

  /// The mappings of entities by name. If several have one name, it contains the first.
  open var entityMappingsByName: [String: NSEntityMapping] {
    Dictionary((entityMappings ?? []).map { ($0.name ?? "", $0) }) { first, _ in first }
  }

  /// Makes a mapping model without mappings.
  public override init() {
    entityMappings = []
    super.init()
  }
}

/// What a migration does with the objects of an entity, with Core Data's raw values.
public enum NSEntityMappingType: UInt, Sendable {
  /// Not said.
  case undefinedEntityMappingType = 0
  /// A policy of the application makes the objects.
  case customEntityMappingType = 1
  /// The entity is new. It has no objects before.
  case addEntityMappingType = 2
  /// The entity is gone, with its objects.
  case removeEntityMappingType = 3
  /// The entity is the same in both models.
  case copyEntityMappingType = 4
  /// The entity has changed. The mappings of its properties compute the new values.
  case transformEntityMappingType = 5
}

/// How two versions of an entity belong together.
nonisolated open class NSEntityMapping: NSObject {
  /// The name, by which other mappings refer to this one. The editor names a mapping `PersonToPerson`.
  open var name: String!
  /// What a migration does with the objects.
  open var mappingType: NSEntityMappingType = .undefinedEntityMappingType
  /// The entity in the old model; nil if it is new.
  open var sourceEntityName: String?
  /// The version hash of the old entity.
  open var sourceEntityVersionHash: Data?
  /// The entity in the new model; nil if it is gone.
  open var destinationEntityName: String?
  /// The version hash of the new entity.
  open var destinationEntityVersionHash: Data?
  /// The mappings of attributes, one for each attribute of the new entity.
  open var attributeMappings: [NSPropertyMapping]?
  /// The mappings of relationships, one for each relationship of the new entity.
  open var relationshipMappings: [NSPropertyMapping]?
  /// The request for the old objects: a call of `fetchRequestForSourceEntityNamed:predicateString:` on `$manager`.
  ///
  /// Core Data wraps the call in an `NSFetchRequestExpression` that runs in `$manager.sourceContext`. Files contain it so, and here
  /// the call stands alone.
  open var sourceExpression: TreeExpression?
  /// What the application keeps with the mapping.
  open var userInfo: [AnyHashable: Any]?
  /// The class of the application's policy; nil for none.
  open var entityMigrationPolicyClassName: String?
}

/// How a property of a new object gets its value.
nonisolated open class NSPropertyMapping: NSObject {
  /// The property of the new entity.
  open var name: String?
  /// The value, computed with `$source`, `$destination`, `$manager`, `$entityMapping`, `$propertyMapping` and `$entityPolicy`;
  /// nil if the property keeps its default.
  open var valueExpression: TreeExpression?
  /// What the application keeps with the mapping.
  open var userInfo: [AnyHashable: Any]?
}
