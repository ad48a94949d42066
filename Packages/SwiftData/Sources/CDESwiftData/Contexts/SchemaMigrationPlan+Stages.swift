internal import CDEManagedModel
internal import CDEModelRuntime
internal import Foundation

extension SchemaMigrationPlan {
  /// Makes stores of older versions go through the stages of the plan when they are opened.
  ///
  /// Without a stage that has code, the runtime infers the way from any version to the last one in one step.
  static func prepare(_ descriptions: [NSPersistentStoreDescription], to last: NSManagedObjectModel) throws {
    try checkOrder()
    guard stages.contains(where: \.hasCode) else { return }
    let stages = try stages.map { try $0.runtimeStage(to: last) }
    for description in descriptions {
      description.setOption(
        NSStagedMigrationManager(stages), forKey: NSPersistentStoreStagedMigrationManagerOptionKey)
    }
  }

  private static func checkOrder() throws {
    for stage in stages where stage.versions.from.versionIdentifier >= stage.versions.to.versionIdentifier {
      throw SwiftDataError.backwardMigration
    }
  }
}

extension MigrationStage {
  fileprivate var hasCode: Bool {
    if case .custom(_, _, let before, let after) = self { return before != nil || after != nil }
    return false
  }

  fileprivate var versions: (from: any VersionedSchema.Type, to: any VersionedSchema.Type) {
    switch self {
    case .lightweight(let from, let to), .custom(let from, let to, _, _): (from, to)
    }
  }

  fileprivate func runtimeStage(to last: NSManagedObjectModel) throws -> NSMigrationStage {
    let from = try StageVersion(versions.from, last)
    let to = try StageVersion(versions.to, last)
    guard case .custom(_, _, let before, let after) = self else {
      return NSLightweightMigrationStage([from.model.versionChecksum, to.model.versionChecksum])
    }
    let stage = NSCustomMigrationStage(migratingFrom: from.reference, to: to.reference)
    if let before { stage.willMigrateHandler = { manager, _ in try from.run(before, manager) } }
    if let after { stage.didMigrateHandler = { manager, _ in try to.run(after, manager) } }
    return stage
  }
}

/// One version of the schema in a stage.
private struct StageVersion {
  let schema: Schema
  let prepared: PreparedSchema
  /// The last version has the model of the container, which may have several configurations.
  let model: NSManagedObjectModel

  init(_ version: any VersionedSchema.Type, _ last: NSManagedObjectModel) throws {
    schema = Schema(versionedSchema: version)
    prepared = try PreparedSchema.prepare(schema)
    model = prepared.model.versionChecksum == last.versionChecksum ? last : prepared.model
  }

  var reference: NSManagedObjectModelReference {
    NSManagedObjectModelReference(model: model, versionChecksum: model.versionChecksum)
  }

  func run(_ body: (ModelContext) throws -> Void, _ manager: NSStagedMigrationManager) throws {
    guard let container = manager.container else { return }
    let models = ModelContainer(ContainerCore(schema, prepared, container))
    let context = ModelContext(models)
    // The context knows its container weakly.
    try withExtendedLifetime(models) {
      try body(context)
      try context.save()
    }
  }
}
