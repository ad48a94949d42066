public import CDEModelFiles
internal import CDEStore
public import Foundation

extension NSMigrationManager {
  /// Migrates a store into another one.
  ///
  /// The policies of the mapping model run on the calling thread, see ``NSEntityMigrationPolicy``. Objects are added to a
  /// store that exists at the destination. A store that this migration made is deleted if it fails.
  ///
  /// - Parameters:
  ///   - sourceURL: the URL of the old store's file. The store is opened for reading only.
  ///   - sourceType: its type: ``NSSQLiteStoreType``.
  ///   - sourceOptions: options for opening it.
  ///   - mappings: the mapping model. Nil is an error: a store that needs none is migrated when it is opened.
  ///   - destinationURL: the URL of the new store's file, in a folder that exists.
  ///   - destinationType: its type: ``NSSQLiteStoreType``.
  ///   - destinationOptions: options for opening it.
  /// - Throws: ``ManagedObjectError``, bridged to Core Data's `NSError`: `.migrationSourceStore`, `.migrationDestinationStore`,
  ///   `.migrationLacksMappingModel`, `.migrationPolicy` for mistakes in mappings and with the cause that a policy threw,
  ///   `.invalidValue` for a computed value that does not fit, `.migrationCancelled`, and the errors of a save.
  public func migrateStore(
    from sourceURL: URL, sourceType: String, options sourceOptions: [AnyHashable: Any]? = nil,
    with mappings: NSMappingModel?, toDestinationURL destinationURL: URL, destinationType: String,
    destinationOptions: [AnyHashable: Any]? = nil
  ) throws {
    try reportingNSErrors {
      guard let mappings else {
        throw ManagedObjectError(
          .migrationLacksMappingModel,
          "The store at \(sourceURL.path) can't be migrated without a mapping model. Load one with NSMappingModel(contentsOf:), "
            + "or infer one with NSMappingModel.inferredMappingModel(forSourceModel:destinationModel:).")
      }
      try NSPersistentStoreCoordinator.requireFile(sourceURL, ofType: sourceType)
      try NSPersistentStoreCoordinator.requireFile(destinationURL, ofType: destinationType)
      try migrate(
        Self.description(sourceURL, sourceOptions), to: Self.description(destinationURL, destinationOptions),
        mappings)
    }
  }

  private static func description(
    _ url: URL, _ options: [AnyHashable: Any]?
  ) -> NSPersistentStoreDescription {
    let description = NSPersistentStoreDescription(url: url)
    for (key, value) in options ?? [:] { description.setOption(value, forKey: "\(key)") }
    return description
  }

  /// Migrates the store of one description into that of another one.
  func migrate(
    _ old: NSPersistentStoreDescription, to new: NSPersistentStoreDescription, _ mappings: NSMappingModel
  ) throws {
    try MappingCheck(self, mappings).run()
    guard let file = old.url, FileManager.default.fileExists(atPath: file.path) else {
      throw ManagedObjectError(
        .migrationSourceStore,
        "There is no store at \(old.url?.path ?? ""), so there is nothing to migrate. Check the URL.")
    }
    let isNew = new.url.map { !FileManager.default.fileExists(atPath: $0.path) } ?? true
    let (source, destination) = (
      sourceContext.persistentStoreCoordinator, destinationContext.persistentStoreCoordinator
    )
    guard let source, let destination else { return }
    old.isReadOnly = true
    // Each store has exactly the version of its model, or it is the wrong one.
    for description in [old, new] { description.shouldMigrateStoreAutomatically = false }
    let opened = try Self.open(old, in: source, .migrationSourceStore)
    defer { try? source.remove(opened) }
    do {
      let made = try Self.open(new, in: destination, .migrationDestinationStore)
      defer { try? destination.remove(made) }
      try run(mappings)
    } catch {
      if isNew, let url = new.url {
        try? destination.destroyPersistentStore(at: url, ofType: NSSQLiteStoreType)
      }
      throw error
    }
  }

  private static func open(
    _ description: NSPersistentStoreDescription, in coordinator: NSPersistentStoreCoordinator,
    _ code: ManagedObjectError.Code
  ) throws -> NSPersistentStore {
    do { return try coordinator.addPersistentStore(description) } catch {
      let reason = (error as? any CDEError)?.message ?? "\(error)"
      let remedy =
        code == .migrationSourceStore
        ? "Check that the manager has the model with which the old store was made."
        : "Check that the folder exists and may be written, and that a store at this place has the new model."
      throw ManagedObjectError(
        code, "\(reason) \(remedy)", cause: (error as? ManagedObjectError)?.cause ?? error)
    }
  }

  private func run(_ mappings: NSMappingModel) throws {
    reset()
    mappingModel = mappings
    progressMade = 0
    defer { reset() }
    try sourceContext.performAndWait {
      try destinationContext.performAndWait {
        try MappingRun(self, mappings.entityMappings ?? []).run()
        try destinationContext.save()
      }
    }
    progressMade = 1
  }
}
