@_spi(CDE) public import CDEManagedModel
public import CDEModelFiles
internal import CDEPredicates
internal import CDEStore
public import Foundation

/// Migrates a store by a mapping model: its objects are made anew in another store, by the rules of the mapping model and by the
/// code of its policies.
///
/// ```swift
/// let manager = NSMigrationManager(sourceModel: old, destinationModel: new)
/// try manager.migrateStore(
///   from: file, sourceType: NSSQLiteStoreType, with: mapping, toDestinationURL: newFile,
///   destinationType: NSSQLiteStoreType)
/// ```
///
/// The old store is only read. The new one gets all its objects in one save at the end; if anything fails before, a store
/// that the migration made is deleted.
///
/// A migration runs on the calling thread, on the isolation that both contexts share. Policies run there, too. Old
/// and new objects are plain `NSManagedObject`s whatever classes the models name, as in Core Data, because a program has one
/// version of its classes. All objects of both stores are in memory at the end.
///
/// As in Core Data, a manager is a plain object: one thread at a time may use it.
nonisolated open class NSMigrationManager: NSObject {
  /// The old model. A copy of the given one whose entities name no classes.
  public let sourceModel: NSManagedObjectModel
  /// The new model. A copy of the given one whose entities name no classes.
  public let destinationModel: NSManagedObjectModel
  /// The context of the old objects. It has a store while a migration runs. It is never saved.
  public let sourceContext: NSManagedObjectContext
  /// The context of the new objects. It has a store while a migration runs, whose end saves it.
  public let destinationContext: NSManagedObjectContext
  /// How the models belong together; without mappings before the first migration.
  public internal(set) var mappingModel = NSMappingModel()
  /// The mapping whose policy runs; an empty one while no policy does.
  public internal(set) var currentEntityMapping = NSEntityMapping()
  /// How much of the migration is done, from 0 to 1. Each policy's part of each pass counts the same.
  open var migrationProgress: Float { progressMade }
  /// What the application keeps with the manager. `$manager.userInfo` reads it in expressions.
  open var userInfo: [AnyHashable: Any]?
  /// Whether Core Data may migrate within SQLite if the mapping model is an inferred one; true at first. Has no effect here: a
  /// manager always makes the objects. Stores that need no mapping model are migrated when they are opened.
  open var usesStoreSpecificMigrationManager = true

  /// How much is done. Setting it calls what follows the key `migrationProgress`.
  var progressMade: Float = 0 {
    willSet { willChangeValue(forKey: "migrationProgress") }
    didSet {
      didChangeValue(forKey: "migrationProgress")
      pace?.reach(Double(progressMade))
    }
  }
  /// What is called after each change of the progress, by a number.
  @_spi(CDE) public var progressObservers: [Int: () -> Void] = [:]

  /// The module whose classes a policy's name is looked for in first.
  let module: String?
  var associations = MigrationAssociations()
  var currentPropertyMapping: NSPropertyMapping?
  /// The variables of expressions that the objects of one mapping share.
  var commonVariables: (mapping: NSEntityMapping, policy: AnyObject, values: [String: PredicateValue])?
  /// The pace of the opening of a store of which the migration is a part.
  var pace: MigrationPace?
  /// The error given to ``cancelMigrationWithError(_:)``.
  var cancellation: (any Error)?

  /// Makes a manager for two versions of a model.
  ///
  /// A mistake in a model is reported when a store is migrated.
  ///
  /// - Parameters:
  ///   - sourceModel: the version with which the old store was made.
  ///   - destinationModel: the version of the new store.
  public init(sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel) {
    module = destinationModel.callingModule
    self.sourceModel = Self.withoutClasses(sourceModel)
    self.destinationModel = Self.withoutClasses(destinationModel)
    sourceContext = NSManagedObjectContext(concurrencyType: .privateQueue)
    destinationContext = NSManagedObjectContext(sharingExecutorOf: sourceContext)
    super.init()
    Self.prepare(sourceContext, self.sourceModel, "the old store of a migration")
    Self.prepare(destinationContext, self.destinationModel, "the new store of a migration")
  }

  private static func withoutClasses(_ model: NSManagedObjectModel) -> NSManagedObjectModel {
    let copy = model.copy() as! NSManagedObjectModel
    for entity in copy.entities { entity.managedObjectClassName = "NSManagedObject" }
    return copy
  }

  private static func prepare(
    _ context: NSManagedObjectContext, _ model: NSManagedObjectModel, _ name: String
  ) {
    context.persistentStoreCoordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    context.name = name
  }

  // MARK: Progress

  /// Called before ``migrationProgress`` changes, with its name. Does nothing; a subclass may follow the progress with it.
  open func willChangeValue(forKey key: String) {}

  /// Called after ``migrationProgress`` changed, with its name. A subclass that overrides it calls the superclass's, which tells the
  /// observers of the progress.
  open func didChangeValue(forKey key: String) {
    for observer in progressObservers.sorted(by: { $0.key < $1.key }) { observer.value() }
  }

  // MARK: Entities

  /// The old entity of a mapping; nil if the mapping has none, or the old model lacks it.
  open func sourceEntity(for mapping: NSEntityMapping) -> NSEntityDescription? {
    mapping.sourceEntityName.flatMap { sourceModel.entitiesByName[$0] }
  }

  /// The new entity of a mapping; nil if the mapping has none, or the new model lacks it.
  open func destinationEntity(for mapping: NSEntityMapping) -> NSEntityDescription? {
    mapping.destinationEntityName.flatMap { destinationModel.entitiesByName[$0] }
  }

  // MARK: Objects that belong together

  /// Notes that a new object comes from an old one. A policy that makes objects itself has to call it, so that
  /// relationships of other objects can lead to them.
  ///
  /// - Parameters:
  ///   - sourceInstance: an object of ``sourceContext``.
  ///   - destinationInstance: an object of ``destinationContext``. ``NSEntityMigrationPolicy/createRelationships(forDestination:in:manager:)``
  ///     is called for it.
  ///   - entityMapping: the mapping by which it was made.
  open func associate(
    sourceInstance: NSManagedObject, withDestinationInstance destinationInstance: NSManagedObject,
    for entityMapping: NSEntityMapping
  ) {
    associations.add(sourceInstance, destinationInstance, mapping: entityMapping.name ?? "")
  }

  /// The new objects that a mapping made of old ones.
  ///
  /// - Parameters:
  ///   - mappingName: the name of the mapping. An unknown name has no objects.
  ///   - sourceInstances: the old objects; nil for all.
  /// - Returns: the new objects, each once, in the order of the old ones.
  open func destinationInstances(
    forEntityMappingName mappingName: String, sourceInstances: [NSManagedObject]?
  ) -> [NSManagedObject] {
    associations.destinations(of: sourceInstances, mapping: mappingName)
  }

  /// The old objects of which a mapping made new ones.
  ///
  /// - Parameters:
  ///   - mappingName: the name of the mapping. An unknown name has no objects.
  ///   - destinationInstances: the new objects; nil for all.
  /// - Returns: the old objects, each once, in the order of the new ones.
  open func sourceInstances(
    forEntityMappingName mappingName: String, destinationInstances: [NSManagedObject]?
  ) -> [NSManagedObject] {
    associations.sources(of: destinationInstances, mapping: mappingName)
  }

  // MARK: Course

  /// Stops the migration. After the method of the policy that runs, no other one is called, and
  /// `migrateStore` throws ``ManagedObjectError/Code/migrationCancelled`` with the error as its cause.
  open func cancelMigrationWithError(_ error: any Error) { cancellation = error }

  /// Drops all objects and what is known about them, so that the manager can be used again. A migration calls it at its end.
  open func reset() {
    associations = MigrationAssociations()
    currentEntityMapping = NSEntityMapping()
    currentPropertyMapping = nil
    // The manager is among its own variables.
    commonVariables = nil
    cancellation = nil
    sourceContext.performAndWait { sourceContext.reset() }
    destinationContext.performAndWait { destinationContext.reset() }
  }
}
