@_spi(CDE) internal import CDEManagedModel
@_spi(CDE) internal import CDEModelFiles
@_spi(CDE) internal import CDESQLiteStore
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
    let name = description.configuration
    if let first = try steps.firstIndex(where: {
      try $0.source.isVersion(of: storedHashes, configuration: name)
    }) {
      _ = try requiredFile()
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
    if found != nil { _ = try requiredFile() }
    return found.map { .mapping($0, from: source) }
  }

  /// Without code between the versions of the store and the model, the stages say no more than the two versions.
  private func route(by manager: NSStagedMigrationManager) throws -> MigrationRoute? {
    if file != nil { return .stages(manager) }
    let run = try StagedRun(manager, sourceModel().model, destination.model)
    if !run.stages.isEmpty { _ = try requiredFile() }
    return try PendingMigration(self).map { .inferred($0) }
  }

  /// The file of a store that code migrates.
  ///
  /// - Throws: ``ManagedObjectError`` with `.unsupportedRequest` for a store of another engine.
  func requiredFile() throws -> SQLiteStore.Configuration {
    if let file { return file }
    throw ManagedObjectError(
      .unsupportedRequest,
      "The store at \(path) is on a server, where stages with code, migration steps and mapping models can't work: they need a copy "
        + "of the store in a file. It stays as it is. Add a version of the model between the two whose differences can be inferred, "
        + "open the store with it, let the application set the new values, and remove the old properties in the next version."
    )
  }
}
