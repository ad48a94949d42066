@_spi(CDE) internal import CDEManagedModel
@_spi(CDE) internal import CDEModelFiles
@_spi(CDE) internal import CDESQLiteStore
internal import CDEStore
internal import Foundation

// Migrations at the opening of a store that run code of the application.

extension NSPersistentStoreCoordinator {
  /// Migrates a store by the stages or steps of its description.
  ///
  /// - Returns: false if the description has none for the store's version.
  func migrateByCode(
    _ description: NSPersistentStoreDescription, _ configuration: SQLiteStore.Configuration,
    entities: Set<EntityIndex>
  ) throws -> Bool {
    if let option = description.options[NSPersistentStoreStagedMigrationManagerOptionKey] {
      guard let manager = option as? NSStagedMigrationManager else {
        throw ManagedObjectError(
          .stagedMigrationVersion,
          "The option NSPersistentStoreStagedMigrationManagerOptionKey has to be an NSStagedMigrationManager, not a value of "
            + "type \(type(of: option)).")
      }
      try rewrite(description, configuration, entities: entities) { working in
        // Of the copy, because the store itself is locked.
        let copy = working.opening()
        let source = try sourceModel(copy, try copy.storeConfiguration())
        try StagedRun(manager, source, managedObjectModel).run(on: working)
      }
      return true
    }
    let steps = description.migrationSteps
    if steps.isEmpty { return false }
    let (hashes, name) = (try storedHashes(configuration), description.configuration)
    guard
      let first = try steps.firstIndex(where: { try $0.source.isVersion(of: hashes, configuration: name) })
    else { return false }
    try rewrite(description, configuration, entities: entities) { working in
      for step in steps[first...] {
        guard try step.source.isVersion(of: try working.versionHashes(), configuration: name) else {
          continue
        }
        try step.run(on: working)
      }
      try working.infer(to: managedObjectModel)
    }
    return true
  }

  /// Removes the folder that a killed migration of an opened store left.
  func removeMigrationLeftovers(_ configuration: SQLiteStore.Configuration) {
    guard case .file(let path) = configuration.location, !configuration.isReadOnly else { return }
    WorkingStore.removeLeftovers(at: path)
  }

  /// Migrates a store by a mapping model for its version and this coordinator's.
  ///
  /// - Returns: false if there is none.
  func migrateByMappingModel(
    _ description: NSPersistentStoreDescription, _ configuration: SQLiteStore.Configuration,
    entities: Set<EntityIndex>
  ) throws -> Bool {
    // Another process may have migrated the store since it was refused.
    if try storedHashes(configuration) == newHashes(entities).mapValues({ Data($0) }) { return true }
    let source = try sourceModel(description, configuration)
    let given = description.migrationMappingModels.first {
      $0.fits(source: source, destination: managedObjectModel)
    }
    let found =
      given
      ?? NSMappingModel(
        from: nil, forSourceModel: source, destinationModel: managedObjectModel,
        "\(managedObjectModel.callingModule ?? "")/")
    guard let found else { return false }
    try rewrite(description, configuration, entities: entities) { working in
      try working.map(found, from: source, to: managedObjectModel)
    }
    return true
  }

  private func sourceModel(
    _ description: NSPersistentStoreDescription, _ configuration: SQLiteStore.Configuration
  ) throws -> NSManagedObjectModel {
    let file = try SQLiteStore.inspection(configuration)
    let hashes = file.versionHashes.mapValues { Data($0) }
    if let found = PendingMigration.sourceModel(description, file, hashes, managedObjectModel) {
      return found.model
    }
    throw ManagedObjectError(
      .migrationLacksSourceModel,
      "The store at \(description.url?.path ?? "") was made with another version of the model, which is neither in the "
        + "store nor among the models of the program. Add that version to the program's model files, or to "
        + "migrationSourceModels of the description.")
  }

  /// The version hashes of a store of this coordinator's model.
  private func newHashes(_ entities: Set<EntityIndex>) -> [String: [UInt8]] {
    let wanted = entities.map { modelBinding.schema.entities[$0].source }
    return Dictionary(wanted.map { ($0.name, $0.versionHash) }) { first, _ in first }
  }

  private func storedHashes(_ configuration: SQLiteStore.Configuration) throws -> [String: Data] {
    try SQLiteStore.inspection(configuration).versionHashes.mapValues { Data($0) }
  }

  /// Replaces a store by what some steps make of a copy of it.
  ///
  /// The store is locked from before it is copied until it is replaced, in one transaction. If a step fails, or the process
  /// dies, the store is the old one.
  private func rewrite(
    _ description: NSPersistentStoreDescription, _ configuration: SQLiteStore.Configuration,
    entities: Set<EntityIndex>, _ steps: (WorkingStore) throws -> Void
  ) throws {
    guard case .file(let path) = configuration.location else { return }
    let hashes = newHashes(entities)
    guard let replacement = try StoreReplacement(configuration, unless: { $0 == hashes }) else { return }
    let working = try WorkingStore(description, at: path)
    defer { working.remove() }
    do {
      try replacement.copy(to: working.url.path)
      try steps(working)
      let made = try working.versionHashes()
      guard made == hashes.mapValues({ Data($0) }) else {
        throw ManagedObjectError(
          .migration,
          "The steps for the store at \(path) end with another version than that of the coordinator's model. Add a step or stage "
            + "that leads to it.")
      }
      try replacement.replace(with: working.url.path)
    } catch var error as ManagedObjectError {
      // Messages name the store that the application knows.
      error.message = error.message.replacingOccurrences(of: working.url.path, with: path)
      throw error
    } catch let error as ModelError {
      throw ManagedObjectError(.store, error.message, cause: error)
    }
  }
}

extension NSManagedObjectModel {
  /// Whether a store with these hashes has exactly the entities of this version, or of one of its configurations.
  func isVersion(of hashes: [String: Data], configuration: String?) throws -> Bool {
    let binding = try ModelBinding.of(self)
    let name = WorkingStore.configuration(configuration, in: self)
    let own = try binding.entities(in: name).map { binding.schema.entities[$0].source }
    return hashes == Dictionary(own.map { ($0.name, Data($0.versionHash)) }) { first, _ in first }
  }
}
