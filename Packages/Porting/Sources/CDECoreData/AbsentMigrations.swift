public import Foundation

// Migrations with mapping models, and staged ones.

/// Migrates a store with a mapping model.
@available(
  *, unavailable,
  message:
    "Stores are migrated without code only. Read the old store with its own model, and write the objects into a new store."
)
open class NSMigrationManager: NSObject {
  /// Makes a manager.
  public init(sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel) {}
  /// The old model.
  open var sourceModel: NSManagedObjectModel { fatalError() }
  /// The new model.
  open var destinationModel: NSManagedObjectModel { fatalError() }
  /// The context of the old objects.
  open var sourceContext: NSManagedObjectContext { fatalError() }
  /// The context of the new objects.
  open var destinationContext: NSManagedObjectContext { fatalError() }
  /// How the models belong together.
  open var mappingModel: NSMappingModel { fatalError() }
  /// How much is done, from 0 to 1.
  open var migrationProgress: Float { 0 }
  /// What the application keeps with the manager.
  open var userInfo: [AnyHashable: Any]?
  /// Migrates a store.
  open func migrateStore(
    from sourceURL: URL, sourceType: String, options sourceOptions: [AnyHashable: Any]? = nil,
    with mappings: NSMappingModel?, toDestinationURL destinationURL: URL, destinationType: String,
    destinationOptions: [AnyHashable: Any]? = nil
  ) throws {}
  /// Migrates a store.
  open func migrateStore(
    from sourceURL: URL, type sourceType: NSPersistentStore.StoreType,
    options sourceOptions: [AnyHashable: Any]? = nil,
    mapping: NSMappingModel, to destinationURL: URL, type destinationType: NSPersistentStore.StoreType,
    options destinationOptions: [AnyHashable: Any]? = nil
  ) throws {}
  /// Connects an old object and a new one.
  open func associate(
    sourceInstance: NSManagedObject, withDestinationInstance destinationInstance: NSManagedObject,
    for entityMapping: NSEntityMapping
  ) {}
  /// The new objects of old ones.
  open func destinationInstances(
    forEntityMappingName mappingName: String, sourceInstances: [NSManagedObject]?
  ) -> [NSManagedObject] { [] }
}

/// Migrates the objects of an entity.
@available(
  *, unavailable,
  message:
    "Stores are migrated without code only. Read the old store with its own model, and write the objects into a new store."
)
open class NSEntityMigrationPolicy: NSObject {
  /// Called first.
  open func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {}
  /// Makes the new objects of an old one.
  open func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {}
  /// Called after the new objects were made.
  open func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}
  /// Connects the new objects.
  open func createRelationships(
    forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {}
  /// Called after the new objects were connected.
  open func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
  }
  /// Checks the new objects.
  open func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
  }
  /// Called last.
  open func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {}
}

/// Migrates a store in stages.
@available(
  *, unavailable,
  message:
    "There are no staged migrations. Read the old store with its own model, and write the objects into a new store."
)
open class NSStagedMigrationManager: NSObject {}

/// A stage of a migration.
@available(
  *, unavailable,
  message:
    "There are no staged migrations. Read the old store with its own model, and write the objects into a new store."
)
open class NSMigrationStage: NSObject {}

/// A stage of a migration without code.
@available(
  *, unavailable,
  message:
    "There are no staged migrations. Read the old store with its own model, and write the objects into a new store."
)
open class NSLightweightMigrationStage: NSObject {}

/// A stage of a migration with code.
@available(
  *, unavailable,
  message:
    "There are no staged migrations. Read the old store with its own model, and write the objects into a new store."
)
open class NSCustomMigrationStage: NSObject {}

/// A model of a stage of a migration.
@available(
  *, unavailable,
  message:
    "There are no staged migrations. Read the old store with its own model, and write the objects into a new store."
)
open class NSManagedObjectModelReference: NSObject {}
