public import CDEManagedModel
@_spi(CDE) internal import CDEModelFiles
internal import CDEStore
internal import Foundation

// Stores of another version of the model.

extension NSPersistentStoreCoordinator {
  /// Finds out what opening a store would do to it, without touching it.
  ///
  /// Reads the store's metadata; if it has another version of the model, it also counts rows and measures tables, which takes about
  /// as long as reading the store. The store may be open elsewhere meanwhile. A store that does not exist needs no migration. Steps,
  /// stages and mapping models of the description are found, and their code is not run.
  ///
  /// - Parameters:
  ///   - description: the description with which the store will be opened.
  ///   - model: the new version of the model; nil for the coordinator's. It can't be changed afterwards.
  /// - Returns: the differences, what is lost, and what stands in the way. Nothing of it is done.
  /// - Throws: ``ManagedObjectError``, bridged to Core Data's `NSError`: the old model is missing, a difference can't be inferred, or
  ///   the store can't be read.
  public func migrationPlan(
    for description: NSPersistentStoreDescription, to model: NSManagedObjectModel? = nil
  ) throws -> StoreMigrationPlan {
    try reportingNSErrors {
      let url = (description.url ?? URL(fileURLWithPath: "/dev/null")).withoutPassword
      do {
        let binding = try model.map(ModelBinding.of) ?? usableBinding()
        let entities = try binding.entities(in: description.configuration)
        let opening = StoreOpening(description, binding, entities)
        guard let store = try Self.engines.engine(for: description.type).migratable(opening) else {
          throw ManagedObjectError(
            .unsupportedRequest,
            "Stores of the type \"\(description.type)\" are migrated by their engine alone, so there is no plan. Open the store."
          )
        }
        guard let request = try MigrationRequest(description, store, to: binding, entities: entities),
          let route = try request.route()
        else { return StoreMigrationPlan(url: url) }
        return try StoreMigrationPlan(url: url, request, route)
      } catch let error as StoreError {
        throw Self.migrationError(error, url.place)
      } catch let error as ModelError {
        throw ManagedObjectError(.store, error.message, cause: error)
      }
    }
  }

  /// Migrates a store that could not be opened because it has another version of the model.
  ///
  /// - Parameter refusal: the error of the opening.
  /// - Throws: `refusal`, if that is not the reason or the description forbids it; otherwise why the migration failed.
  func migrate(
    _ description: NSPersistentStoreDescription, _ store: any MigratableStore, entities: Set<EntityIndex>,
    after refusal: StoreError
  ) throws {
    guard refusal.code == .incompatibleSchema else { throw refusal }
    guard description.shouldMigrateStoreAutomatically, !description.isReadOnly else {
      var refusal = refusal
      refusal.message +=
        description.isReadOnly
        ? " A store that is opened for reading only is not migrated."
        : " To migrate it when it is opened, set shouldMigrateStoreAutomatically and shouldInferMappingModelAutomatically, "
          + "or the options of these names."
      throw refusal
    }
    do {
      let request = try MigrationRequest(description, store, to: modelBinding, entities: entities)
      guard let request else { throw refusal }
      // Nil if another process has migrated the store since it was refused.
      guard let route = try request.route() else { return }
      let progress = description.migrationProgress
      (progress.totalUnitCount, progress.completedUnitCount) = (Self.migrationUnits, 0)
      let pace = MigrationPace { part in
        // The last unit is the commit.
        let units = Int64(part * Double(Self.migrationUnits - 1))
        if units > progress.completedUnitCount { progress.completedUnitCount = units }
        return !progress.isCancelled
      }
      pace.reportWait = {
        // The other container has the old model, and could use the store no more.
        if let url = description.url, url.isFileURL, OpenStores.close(at: url) {
          return Diagnostics.report(
            "The store at \(description.place) has to be migrated, and another container of this process had it open. It was closed "
              + "there: contexts of that container can neither read nor save. Let go of a container before the store is migrated."
          )
        }
        Diagnostics.report(
          "The store at \(description.place) has to be migrated, and another process uses it. Close it there: the migration waits "
            + "until then, or until the timeout of the store's description.")
      }
      try follow(route, request, pace)
      progress.completedUnitCount = Self.migrationUnits
    } catch let error as StoreError where error.code != .incompatibleSchema {
      throw Self.migrationError(error, description.place).ofMigration(of: description)
    } catch var error as ManagedObjectError {
      if error.code == .migrationLacksMappingModel, error.cause == nil { error.cause = refusal }
      throw error.ofMigration(of: description)
    }
  }

  private static let migrationUnits: Int64 = 1_000

  static func migrationError(_ error: StoreError, _ place: String) -> ManagedObjectError {
    let isDuplicate =
      error.code == .uniqueness || error.obstacles.first?.kind == .duplicateValues
    if error.code == .cancelled {
      return ManagedObjectError(
        .migrationCancelled, "The store at \(place) was not migrated: \(error.message)", cause: error)
    }
    let code: ManagedObjectError.Code =
      error.code == .migration || isDuplicate ? (isDuplicate ? .migrationConstraint : .migration) : .store
    return ManagedObjectError(
      code, "The store at \(place) was not migrated: \(error.message)", cause: error, entity: error.entity,
      property: error.properties.first)
  }
}

extension ManagedObjectError {
  /// The error with the store that was not migrated, for the user info.
  fileprivate func ofMigration(of description: NSPersistentStoreDescription) -> ManagedObjectError {
    var error = self
    error.subjects[.migratedStore] = description.url?.withoutPassword
    return error
  }
}
