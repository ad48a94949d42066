import CDECoreData
@_spi(CDE) import CDESQLiteFaults
import Testing

private final class OverriddenManager: NSMigrationManager {
  var calls: [String] = []

  override init(sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel) {
    super.init(sourceModel: sourceModel, destinationModel: destinationModel)
  }

  override func sourceEntity(for mEntity: NSEntityMapping) -> NSEntityDescription? {
    super.sourceEntity(for: mEntity)
  }
  override func destinationEntity(for mEntity: NSEntityMapping) -> NSEntityDescription? {
    super.destinationEntity(for: mEntity)
  }
  override var migrationProgress: Float { super.migrationProgress }
  override var userInfo: [AnyHashable: Any]? {
    get { super.userInfo }
    set { super.userInfo = newValue }
  }
  override var usesStoreSpecificMigrationManager: Bool {
    get { super.usesStoreSpecificMigrationManager }
    set { super.usesStoreSpecificMigrationManager = newValue }
  }
  override func reset() { super.reset() }
  override func cancelMigrationWithError(_ error: any Error) { super.cancelMigrationWithError(error) }

  override func associate(
    sourceInstance: NSManagedObject, withDestinationInstance destinationInstance: NSManagedObject,
    for entityMapping: NSEntityMapping
  ) {
    calls.append("associate")
    super.associate(
      sourceInstance: sourceInstance, withDestinationInstance: destinationInstance, for: entityMapping)
  }

  override func destinationInstances(
    forEntityMappingName mappingName: String, sourceInstances: [NSManagedObject]?
  ) -> [NSManagedObject] {
    super.destinationInstances(forEntityMappingName: mappingName, sourceInstances: sourceInstances)
  }

  override func sourceInstances(
    forEntityMappingName mappingName: String, destinationInstances: [NSManagedObject]?
  ) -> [NSManagedObject] {
    super.sourceInstances(forEntityMappingName: mappingName, destinationInstances: destinationInstances)
  }
}

/// A policy that notes which of its steps a manager takes, in the manager's user information.
final class OverriddenPolicyOfEntity: NSEntityMigrationPolicy {
  private func note(_ step: String, _ manager: NSMigrationManager) {
    manager.userInfo = ["steps": (manager.userInfo?["steps"] as? [String] ?? []) + [step]]
  }

  override func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {
    note("begin", manager)
    try super.begin(mapping, with: manager)
  }

  override func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    note("create", manager)
    try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
  }

  override func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
    note("created", manager)
    try super.endInstanceCreation(forMapping: mapping, manager: manager)
  }

  override func createRelationships(
    forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    note("relate", manager)
    try super.createRelationships(forDestination: dInstance, in: mapping, manager: manager)
  }

  override func endRelationshipCreation(
    forMapping mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    note("related", manager)
    try super.endRelationshipCreation(forMapping: mapping, manager: manager)
  }

  override func performCustomValidation(
    forMapping mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    note("validate", manager)
    try super.performCustomValidation(forMapping: mapping, manager: manager)
  }

  override func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {
    note("end", manager)
    try super.end(mapping, manager: manager)
  }
}

@Suite("The interface of migrations")
struct MigrationInterfaceTests {
  @Test("A migration manager has Core Data's members")
  func manager() {
    typealias Manager = NSMigrationManager
    typealias Options = [AnyHashable: Any]
    let _: (NSManagedObjectModel, NSManagedObjectModel) -> NSMigrationManager =
      NSMigrationManager.init(sourceModel:destinationModel:)
    let _: (Manager) -> (URL, String, Options?, NSMappingModel?, URL, String, Options?) throws -> Void =
      NSMigrationManager.migrateStore(
        from:sourceType:options:with:toDestinationURL:destinationType:destinationOptions:)
    let _:
      (Manager) -> (
        URL, NSPersistentStore.StoreType, Options?, NSMappingModel, URL, NSPersistentStore.StoreType, Options?
      ) throws -> Void = NSMigrationManager.migrateStore(from:type:options:mapping:to:type:options:)
    let _: KeyPath<Manager, NSManagedObjectModel> = \NSMigrationManager.sourceModel
    let _: KeyPath<Manager, NSManagedObjectModel> = \NSMigrationManager.destinationModel
    let _: KeyPath<Manager, NSManagedObjectContext> = \NSMigrationManager.sourceContext
    let _: KeyPath<Manager, NSManagedObjectContext> = \NSMigrationManager.destinationContext
    let _: (Manager) -> (NSEntityMapping) -> NSEntityDescription? = NSMigrationManager.sourceEntity(for:)
    let _: (Manager) -> (NSEntityMapping) -> NSEntityDescription? = NSMigrationManager.destinationEntity(for:)
    let _: KeyPath<Manager, NSMappingModel> = \NSMigrationManager.mappingModel
    let _: KeyPath<Manager, NSEntityMapping> = \NSMigrationManager.currentEntityMapping
    let _: KeyPath<Manager, Float> = \NSMigrationManager.migrationProgress
    let _: ReferenceWritableKeyPath<Manager, [AnyHashable: Any]?> = \NSMigrationManager.userInfo
    let _: ReferenceWritableKeyPath<Manager, Bool> = \NSMigrationManager.usesStoreSpecificMigrationManager
    let _: (Manager) -> () -> Void = NSMigrationManager.reset
    let _: (Manager) -> (any Error) -> Void = NSMigrationManager.cancelMigrationWithError(_:)
    let _: (Manager) -> (NSManagedObject, NSManagedObject, NSEntityMapping) -> Void =
      NSMigrationManager.associate(sourceInstance:withDestinationInstance:for:)
    let _: (Manager) -> (String, [NSManagedObject]?) -> [NSManagedObject] =
      NSMigrationManager.destinationInstances(forEntityMappingName:sourceInstances:)
    let _: (Manager) -> (String, [NSManagedObject]?) -> [NSManagedObject] =
      NSMigrationManager.sourceInstances(forEntityMappingName:destinationInstances:)
    let manager = NSMigrationManager(sourceModel: makeModel(), destinationModel: makeModel())
    #expect(manager.migrationProgress == 0 && manager.userInfo == nil)
    #expect(manager.sourceModel.entitiesByName["Note"] != nil)
  }

  @Test("Expressions of mappings have variables by constants")
  func variables() throws {
    let keys = [
      NSMigrationManagerKey, NSMigrationSourceObjectKey, NSMigrationDestinationObjectKey,
      NSMigrationEntityMappingKey,
      NSMigrationPropertyMappingKey, NSMigrationEntityPolicyKey,
    ]
    #expect(keys == ["manager", "source", "destination", "entityMapping", "propertyMapping", "entityPolicy"])
    #expect(NSExpression(forVariable: NSMigrationSourceObjectKey).variable == "source")
  }

  @Test("A migration calls what a manager and a policy override")
  func overriding() throws {
    typealias Policy = NSEntityMigrationPolicy
    typealias Step = (NSEntityMapping, NSMigrationManager) throws -> Void
    typealias ObjectStep = (NSManagedObject, NSEntityMapping, NSMigrationManager) throws -> Void
    let _: (Policy) -> Step = NSEntityMigrationPolicy.begin(_:with:)
    let _: (Policy) -> ObjectStep = NSEntityMigrationPolicy.createDestinationInstances(forSource:in:manager:)
    let _: (Policy) -> Step = NSEntityMigrationPolicy.endInstanceCreation(forMapping:manager:)
    let _: (Policy) -> ObjectStep = NSEntityMigrationPolicy.createRelationships(forDestination:in:manager:)
    let _: (Policy) -> Step = NSEntityMigrationPolicy.endRelationshipCreation(forMapping:manager:)
    let _: (Policy) -> Step = NSEntityMigrationPolicy.performCustomValidation(forMapping:manager:)
    let _: (Policy) -> Step = NSEntityMigrationPolicy.end(_:manager:)
    let stack = try Stack()
    let context = stack.container.newBackgroundContext()
    try context.performAndWait {
      stack.insertNote("A", in: context)
      try context.save()
    }
    let coordinator = stack.container.persistentStoreCoordinator
    for store in coordinator.persistentStores { try coordinator.remove(store) }
    let model = makeModel()
    let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: model, destinationModel: model)
    let name = NSStringFromClass(OverriddenPolicyOfEntity.self)
    mapping.entityMappingsByName["NoteToNote"]?.entityMigrationPolicyClassName = name
    let manager = OverriddenManager(sourceModel: model, destinationModel: model)
    let copy = stack.url.deletingLastPathComponent().appendingPathComponent("Copy.sqlite")
    try manager.migrateStore(from: stack.url, type: .sqlite, mapping: mapping, to: copy, type: .sqlite)
    #expect(manager.calls == ["associate"] && manager.migrationProgress == 1)
    #expect(
      manager.userInfo?["steps"] as? [String] == [
        "begin", "create", "created", "relate", "related", "validate", "end",
      ])
  }
}
