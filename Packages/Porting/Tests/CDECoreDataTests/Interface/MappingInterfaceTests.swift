import CDECoreData
import Testing

private final class OverriddenModel: NSMappingModel {
  override var entityMappings: [NSEntityMapping]! {
    get { super.entityMappings }
    set { super.entityMappings = newValue }
  }
  override var entityMappingsByName: [String: NSEntityMapping] { super.entityMappingsByName }
}

private final class OverriddenMapping: NSEntityMapping {
  override var name: String! {
    get { super.name }
    set { super.name = newValue.map { "\($0)!" } }
  }
  override var mappingType: NSEntityMappingType {
    get { super.mappingType }
    set { super.mappingType = newValue }
  }
  override var sourceEntityName: String? {
    get { super.sourceEntityName }
    set { super.sourceEntityName = newValue }
  }
  override var sourceEntityVersionHash: Data? {
    get { super.sourceEntityVersionHash }
    set { super.sourceEntityVersionHash = newValue }
  }
  override var destinationEntityName: String? {
    get { super.destinationEntityName }
    set { super.destinationEntityName = newValue }
  }
  override var destinationEntityVersionHash: Data? {
    get { super.destinationEntityVersionHash }
    set { super.destinationEntityVersionHash = newValue }
  }
  override var attributeMappings: [NSPropertyMapping]? {
    get { super.attributeMappings }
    set { super.attributeMappings = newValue }
  }
  override var relationshipMappings: [NSPropertyMapping]? {
    get { super.relationshipMappings }
    set { super.relationshipMappings = newValue }
  }
  override var sourceExpression: CDECoreData.NSExpression? {
    get { super.sourceExpression }
    set { super.sourceExpression = newValue }
  }
  override var userInfo: [AnyHashable: Any]? {
    get { super.userInfo }
    set { super.userInfo = newValue }
  }
  override var entityMigrationPolicyClassName: String? {
    get { super.entityMigrationPolicyClassName }
    set { super.entityMigrationPolicyClassName = newValue }
  }
}

private final class OverriddenPropertyMapping: NSPropertyMapping {
  override var name: String? {
    get { super.name }
    set { super.name = newValue }
  }
  override var valueExpression: CDECoreData.NSExpression? {
    get { super.valueExpression }
    set { super.valueExpression = newValue }
  }
  override var userInfo: [AnyHashable: Any]? {
    get { super.userInfo }
    set { super.userInfo = newValue }
  }
}

private class OverriddenStage: NSMigrationStage {
  override var label: String? {
    get { super.label ?? "A" }
    set { super.label = newValue }
  }
}

private final class OverriddenLightweightStage: NSLightweightMigrationStage {
  override init(_ versionChecksums: [String]) { super.init(versionChecksums) }
}

private final class OverriddenCustomStage: NSCustomMigrationStage {
  override var willMigrateHandler: ((NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void)? {
    get { super.willMigrateHandler }
    set { super.willMigrateHandler = newValue }
  }
  override var didMigrateHandler: ((NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void)? {
    get { super.didMigrateHandler }
    set { super.didMigrateHandler = newValue }
  }
}

private final class OverriddenStagedManager: NSStagedMigrationManager {
  override init(_ stages: [NSMigrationStage]) { super.init(stages) }
}

private final class OverriddenReference: NSManagedObjectModelReference, @unchecked Sendable {
  // Guard: it has no state of its own.
  override var resolvedModel: NSManagedObjectModel { super.resolvedModel }
}

@Suite("The interface of mappings and stages")
struct MappingInterfaceTests {
  @Test("A mapping model has Core Data's members")
  func model() throws {
    typealias Model = NSMappingModel
    let found: ([Bundle]?, NSManagedObjectModel?, NSManagedObjectModel?) -> NSMappingModel? = {
      NSMappingModel(from: $0, forSourceModel: $1, destinationModel: $2)
    }
    let _: (URL?) -> NSMappingModel? = NSMappingModel.init(contentsOf:)
    let inferred: (NSManagedObjectModel, NSManagedObjectModel) throws -> NSMappingModel =
      NSMappingModel.inferredMappingModel(forSourceModel:destinationModel:)
    let _: ReferenceWritableKeyPath<Model, [NSEntityMapping]?> = \NSMappingModel.entityMappings
    let _: KeyPath<Model, [String: NSEntityMapping]> = \NSMappingModel.entityMappingsByName
    #expect(found([], makeModel(), makeModel()) == nil)
    #expect(try inferred(makeModel(), makeModel()).entityMappings.count == 2)
    let model: NSMappingModel = OverriddenModel()
    let mapping: NSEntityMapping = OverriddenMapping()
    mapping.name = "A"
    model.entityMappings = [mapping]
    #expect(model.entityMappingsByName.keys.sorted() == ["A!"])
  }

  @Test("A mapping of an entity or a property has Core Data's members")
  func mappings() {
    typealias Mapping = NSEntityMapping
    let _: ReferenceWritableKeyPath<Mapping, String?> = \NSEntityMapping.name
    let _: ReferenceWritableKeyPath<Mapping, NSEntityMappingType> = \NSEntityMapping.mappingType
    let _: ReferenceWritableKeyPath<Mapping, String?> = \NSEntityMapping.sourceEntityName
    let _: ReferenceWritableKeyPath<Mapping, Data?> = \NSEntityMapping.sourceEntityVersionHash
    let _: ReferenceWritableKeyPath<Mapping, String?> = \NSEntityMapping.destinationEntityName
    let _: ReferenceWritableKeyPath<Mapping, Data?> = \NSEntityMapping.destinationEntityVersionHash
    let _: ReferenceWritableKeyPath<Mapping, [NSPropertyMapping]?> = \NSEntityMapping.attributeMappings
    let _: ReferenceWritableKeyPath<Mapping, [NSPropertyMapping]?> = \NSEntityMapping.relationshipMappings
    let _: ReferenceWritableKeyPath<Mapping, CDECoreData.NSExpression?> = \NSEntityMapping.sourceExpression
    let _: ReferenceWritableKeyPath<Mapping, [AnyHashable: Any]?> = \NSEntityMapping.userInfo
    let _: ReferenceWritableKeyPath<Mapping, String?> = \NSEntityMapping.entityMigrationPolicyClassName
    let _: ReferenceWritableKeyPath<NSPropertyMapping, String?> = \NSPropertyMapping.name
    let _: ReferenceWritableKeyPath<NSPropertyMapping, CDECoreData.NSExpression?> =
      \NSPropertyMapping.valueExpression
    let _: ReferenceWritableKeyPath<NSPropertyMapping, [AnyHashable: Any]?> = \NSPropertyMapping.userInfo
    let types: [NSEntityMappingType] = [
      NSEntityMappingType.undefinedEntityMappingType, NSEntityMappingType.customEntityMappingType,
      NSEntityMappingType.addEntityMappingType, NSEntityMappingType.removeEntityMappingType,
      NSEntityMappingType.copyEntityMappingType, NSEntityMappingType.transformEntityMappingType,
    ]
    #expect(types.map(\.rawValue) == [0, 1, 2, 3, 4, 5])
    let property: NSPropertyMapping = OverriddenPropertyMapping()
    property.name = "title"
    property.valueExpression = NSExpression(forConstantValue: "A")
    #expect(property.valueExpression?.constantValue as? String == "A" && property.userInfo == nil)
    #expect(NSEntityMapping().mappingType == .undefinedEntityMappingType)
  }

  @Test("Stages of a migration have Core Data's members")
  func stages() {
    let _: ([NSMigrationStage]) -> NSStagedMigrationManager = NSStagedMigrationManager.init(_:)
    let _: KeyPath<NSStagedMigrationManager, [NSMigrationStage]> = \NSStagedMigrationManager.stages
    let _: KeyPath<NSStagedMigrationManager, NSPersistentContainer?> = \NSStagedMigrationManager.container
    let _: ReferenceWritableKeyPath<NSMigrationStage, String?> = \NSMigrationStage.label
    let _: ([String]) -> NSLightweightMigrationStage = NSLightweightMigrationStage.init(_:)
    let _: KeyPath<NSLightweightMigrationStage, [String]> = \NSLightweightMigrationStage.versionChecksums
    typealias Stage = NSCustomMigrationStage
    typealias Reference = NSManagedObjectModelReference
    typealias Handler = (NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void
    let _: (Reference, Reference) -> Stage = NSCustomMigrationStage.init(migratingFrom:to:)
    let _: KeyPath<Stage, NSManagedObjectModelReference> = \NSCustomMigrationStage.currentModel
    let _: KeyPath<Stage, NSManagedObjectModelReference> = \NSCustomMigrationStage.nextModel
    let _: ReferenceWritableKeyPath<Stage, Handler?> = \NSCustomMigrationStage.willMigrateHandler
    let _: ReferenceWritableKeyPath<Stage, Handler?> = \NSCustomMigrationStage.didMigrateHandler
    let _: (NSManagedObjectModel, String) -> Reference =
      NSManagedObjectModelReference.init(model:versionChecksum:)
    let _: (URL, String) -> Reference = NSManagedObjectModelReference.init(fileURL:versionChecksum:)
    let _: ([AnyHashable: Any], Bundle?, String) -> Reference =
      NSManagedObjectModelReference.init(entityVersionHashes:in:versionChecksum:)
    let _: (String, Bundle?, String) -> Reference =
      NSManagedObjectModelReference.init(name:in:versionChecksum:)
    let _: KeyPath<Reference, NSManagedObjectModel> = \NSManagedObjectModelReference.resolvedModel
    let _: KeyPath<Reference, String> = \NSManagedObjectModelReference.versionChecksum
    let model = makeModel()
    let reference: NSManagedObjectModelReference = OverriddenReference(
      model: model, versionChecksum: model.versionChecksum)
    #expect(reference.resolvedModel === model && reference.versionChecksum == model.versionChecksum)
    let custom: NSCustomMigrationStage = OverriddenCustomStage(migratingFrom: reference, to: reference)
    var calls = 0
    custom.willMigrateHandler = { _, _ in calls += 1 }
    let light = OverriddenLightweightStage([model.versionChecksum])
    let stages: [NSMigrationStage] = [OverriddenStage(), light, custom]
    let manager: NSStagedMigrationManager = OverriddenStagedManager(stages)
    try? custom.willMigrateHandler?(manager, custom)
    #expect(calls == 1 && custom.didMigrateHandler == nil && custom.currentModel === reference)
    #expect(manager.stages == stages && manager.container == nil && stages[0].label == "A")
  }
}
