@_spi(CDE) internal import CDEManagedModel
@_spi(CDE) internal import CDEModelFiles
internal import CDEStore
internal import Foundation

// Migrations at the opening of a store that run code of the application.

extension NSPersistentStoreCoordinator {
  /// Migrates a store on a route.
  func follow(_ route: MigrationRoute, _ request: MigrationRequest, _ pace: MigrationPace) throws {
    switch route {
    case .inferred(let pending): try pending.run(pace)
    case .stages(let manager): try migrate(by: manager, request, pace)
    case .steps(let steps): try migrate(by: steps, request, pace)
    case .mapping(let mapping, let source):
      try rewrite(request, pace) { working, pace in
        try working.map(mapping, from: source, to: managedObjectModel, pace)
      }
    }
  }

  /// Migrates a store by the stages of a manager.
  private func migrate(
    by manager: NSStagedMigrationManager, _ request: MigrationRequest, _ pace: MigrationPace
  ) throws {
    try rewrite(request, pace) { working, pace in
      // Of the copy, because the store itself is locked.
      let source = try working.request(to: modelBinding).sourceModel().model
      try StagedRun(manager, source, managedObjectModel).run(on: working, pace)
    }
  }

  /// Migrates a store by steps, and infers what they leave.
  private func migrate(
    by steps: ArraySlice<MigrationStep>, _ request: MigrationRequest, _ pace: MigrationPace
  ) throws {
    let (name, count) = (request.configuration, steps.count + 1)
    try rewrite(request, pace) { working, pace in
      for (number, step) in steps.enumerated() {
        guard try step.source.isVersion(of: try working.versionHashes(), configuration: name) else {
          continue
        }
        try step.run(on: working, pace.piece(number, of: count))
      }
      try working.infer(to: managedObjectModel, pace.piece(steps.count, of: count))
    }
  }

  /// Removes the folder that a killed migration of an opened store left.
  func removeMigrationLeftovers(_ description: NSPersistentStoreDescription) {
    guard !description.isReadOnly, let path = try? StoreEngines.files.path(of: description) else { return }
    WorkingStore.removeLeftovers(at: path)
  }

  /// Replaces a store by what some steps make of a copy of it.
  ///
  /// The store is locked from before it is copied until it is replaced, in one transaction. If a step fails, or the process
  /// dies, the store is the old one.
  private func rewrite(
    _ request: MigrationRequest, _ pace: MigrationPace, _ steps: (WorkingStore, MigrationPace) throws -> Void
  ) throws {
    let hashes = request.newHashes
    guard let (replaced, working) = try replacedStore(request, pace, unless: hashes) else { return }
    defer { working.remove() }
    do {
      try replaced.copy(to: working.url.path)
      // Copying takes little beside the code.
      try steps(working, pace.piece(0.1...0.9))
      let made = try working.versionHashes()
      guard made == hashes else {
        throw ManagedObjectError(
          .migration,
          "The steps for the store at \(request.path) end with another version than that of the coordinator's model. Add a step or "
            + "stage that leads to it.")
      }
      try replaced.replace(with: working.url.path)
    } catch var error as ManagedObjectError {
      // Messages name the store that the application knows.
      error.message = error.message.replacingOccurrences(of: working.url.path, with: request.path)
      throw error
    } catch let error as ModelError {
      throw ManagedObjectError(.store, error.message, cause: error)
    }
  }

  /// Locks the store of a request, and makes the folder of its copy.
  ///
  /// - Returns: nil if another process has migrated the store meanwhile.
  private func replacedStore(
    _ request: MigrationRequest, _ pace: MigrationPace, unless hashes: [String: Data]
  ) throws -> (any ReplacedStore, WorkingStore)? {
    guard let file = request.store as? any MigratableFile else {
      guard let store = try ReplacedServerStore(request, pace) else { return nil }
      return (store, try WorkingStore(ofServer: request.description, store.identifier))
    }
    guard let path = try file.path(),
      let store = try file.replacement(pace, unless: { $0.mapValues { Data($0) } == hashes })
    else { return nil }
    return (store, try WorkingStore(request.description, at: path))
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
