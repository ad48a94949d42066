@_spi(CDE) internal import CDEManagedModel
@_spi(CDE) internal import CDEModelFiles
internal import Foundation

/// How a store of another version is migrated. Opening a store and planning its migration ask the same.
enum MigrationRoute {
  /// As the difference of the versions can be inferred.
  case inferred(PendingMigration)
  /// By the stages of a manager.
  case stages(NSStagedMigrationManager)
  /// By steps in Swift, of which the first one begins with the store's version. What is left is inferred.
  case steps(ArraySlice<MigrationStep>)
  /// By a mapping model for both versions.
  case mapping(NSMappingModel, from: NSManagedObjectModel)
}

extension MigrationRequest {
  /// - Returns: nil if the store has the new version.
  /// - Throws: ``ManagedObjectError``: no way leads to the new version.
  func route() throws -> MigrationRoute? {
    if storedHashes == newHashes { return nil }
    if let option = description.options[NSPersistentStoreStagedMigrationManagerOptionKey] {
      guard let manager = option as? NSStagedMigrationManager else {
        throw ManagedObjectError(
          .stagedMigrationVersion,
          "The option NSPersistentStoreStagedMigrationManagerOptionKey has to be an NSStagedMigrationManager, not a value of "
            + "type \(type(of: option)).")
      }
      return try route(by: manager)
    }
    let steps = description.migrationSteps
    let name = configuration
    if let first = try steps.firstIndex(where: {
      try $0.source.isVersion(of: storedHashes, configuration: name)
    }) {
      return .steps(steps[first...])
    }
    guard description.shouldInferMappingModelAutomatically else {
      if let route = try mapping() { return route }
      throw ManagedObjectError(
        .migrationLacksMappingModel,
        "The store at \(path) has to be migrated, its description says not to infer what changed, and no "
          + "mapping model is for both versions. Add one to the program's resources or to migrationMappingModels, or set "
          + "shouldInferMappingModelAutomatically.")
    }
    do { return try PendingMigration(self).map { .inferred($0) } } catch let error as ManagedObjectError
      where error.code == .inferredMapping
    {
      if let route = try mapping() { return route }
      throw error
    }
  }

  private func mapping() throws -> MigrationRoute? {
    let source = try sourceModel().model
    let given = description.migrationMappingModels.first {
      $0.fits(source: source, destination: destination.model)
    }
    let found =
      given
      ?? NSMappingModel(
        from: nil, forSourceModel: source, destinationModel: destination.model,
        "\(destination.model.callingModule ?? "")/")
    return found.map { .mapping($0, from: source) }
  }

  /// Without code between the versions of the store and the model, the stages say no more than the two versions. A store on a
  /// server is not copied for that.
  private func route(by manager: NSStagedMigrationManager) throws -> MigrationRoute? {
    if store is any MigratableFile { return .stages(manager) }
    let run = try StagedRun(manager, sourceModel().model, destination.model)
    if !run.stages.isEmpty { return .stages(manager) }
    return try PendingMigration(self).map { .inferred($0) }
  }
}
