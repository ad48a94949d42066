internal import CDEManagedModel
internal import CDEStore
internal import Foundation

/// The stages between the version of a store and that of the new model.
struct StagedRun {
  private let manager: NSStagedMigrationManager
  let stages: [NSCustomMigrationStage]
  private let target: NSManagedObjectModel

  /// - Throws: ``ManagedObjectError``: `.stagedMigrationVersion` if the stages lack a version or name one twice,
  ///   `.stagedMigrationBackward` if the store's version comes after the model's.
  init(
    _ manager: NSStagedMigrationManager, _ source: NSManagedObjectModel, _ target: NSManagedObjectModel
  ) throws {
    self.manager = manager
    self.target = target
    var order: [String] = []
    for stage in manager.stages {
      let versions =
        switch stage {
        case let stage as NSLightweightMigrationStage: stage.versionChecksums
        case let stage as NSCustomMigrationStage:
          [stage.currentModel.versionChecksum, stage.nextModel.versionChecksum]
        default: [String]()
        }
      for version in versions where version != order.last {
        guard !order.contains(version) else {
          throw ManagedObjectError(
            .stagedMigrationVersion,
            "The version \(version) is at two places among the stages of a migration. Put the stages in the order of the "
              + "versions, each of which begins with the last version of the one before.")
        }
        order.append(version)
      }
    }
    func place(_ model: NSManagedObjectModel, _ what: String) throws -> Int {
      if let place = order.firstIndex(of: model.versionChecksum) { return place }
      throw ManagedObjectError(
        .stagedMigrationVersion,
        "The stages of a migration lack the version of \(what), whose checksum is \(model.versionChecksum). Add it to a stage."
      )
    }
    let first = try place(source, "the store")
    let last = try place(target, "the coordinator's model")
    guard first <= last else {
      throw ManagedObjectError(
        .stagedMigrationBackward,
        "The store has a later version than the coordinator's model, by the order of the stages, and can't be migrated backward. "
          + "Open it with the later model.")
    }
    stages = manager.stages.compactMap { $0 as? NSCustomMigrationStage }.filter { stage in
      guard let begin = order.firstIndex(of: stage.currentModel.versionChecksum),
        let end = order.firstIndex(of: stage.nextModel.versionChecksum)
      else { return false }
      return first <= begin && end <= last
    }
  }

  func run(on working: WorkingStore, _ pace: MigrationPace) throws {
    let count = 2 * stages.count + 1
    for (number, stage) in stages.enumerated() {
      let (current, next) = (try stage.currentModel.resolve(), try stage.nextModel.resolve())
      try working.infer(to: current, pace.piece(2 * number, of: count))
      try call(stage.willMigrateHandler, "willMigrateHandler", stage, current, working)
      try working.infer(to: next, pace.piece(2 * number + 1, of: count))
      try call(stage.didMigrateHandler, "didMigrateHandler", stage, next, working)
    }
    try working.infer(to: target, pace.piece(count - 1, of: count))
  }

  private func call(
    _ handler: ((NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void)?, _ name: String,
    _ stage: NSCustomMigrationStage, _ model: NSManagedObjectModel, _ working: WorkingStore
  ) throws {
    guard let handler else { return }
    let description = working.opening()
    description.configuration = WorkingStore.configuration(description.configuration, in: model)
    let container = NSPersistentContainer(name: "migration", managedObjectModel: model)
    container.persistentStoreDescriptions = [description]
    let store = try container.persistentStoreCoordinator.addPersistentStore(description)
    manager.container = container
    defer {
      manager.container = nil
      try? container.persistentStoreCoordinator.remove(store)
    }
    do { try handler(manager, stage) } catch {
      let reason = (error as? any CDEError)?.message ?? "\(error)"
      throw ManagedObjectError(
        .migration,
        "\(name) of the stage \(stage.label ?? "without a label") failed, and the store stays as it is: \(reason)",
        cause: error)
    }
  }
}
