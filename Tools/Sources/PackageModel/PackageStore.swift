import CoreDataEvolution

/// Opens the store that holds the index.
public enum PackageStore {
  /// A container over the index, made at the first run.
  ///
  /// The store records its history, and commits of other processes are merged: several runs may use one index, on a server
  /// from several machines.
  ///
  /// - Throws: what kept the store from opening.
  @MainActor
  public static func open(_ place: IndexPlace) throws -> NSPersistentContainer {
    let container = try load(place) { description in
      description.setOption(true as NSNumber, forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
    }
    container.viewContext.automaticallyMergesChangesFromParent = true
    return container
  }

  /// The same, with a view context that merges nothing, on any isolation. A store of an older model is migrated.
  ///
  /// - Parameter configure: sets further options.
  /// - Throws: what kept the store from opening.
  public static func load(
    _ place: IndexPlace, _ configure: (NSPersistentStoreDescription) -> Void
  ) throws -> NSPersistentContainer {
    let container = NSPersistentContainer(name: "Packages", managedObjectModel: try model())
    let description = try place.description()
    description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
    configure(description)
    container.persistentStoreDescriptions = [description]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    return container
  }

  /// The model of the index.
  public static func model() throws -> NSManagedObjectModel {
    try NSManagedObjectModel.makeRuntimeModel(
      Package.self, Version.self, Section.self, Maintainer.self, IndexRun.self)
  }

  /// Removes what no run reads any more from the history.
  public static func purgeHistory(of container: NSPersistentContainer) throws {
    let dayAgo = Date(timeIntervalSinceNow: -24 * 60 * 60)
    let context = container.newBackgroundContext()
    try context.performAndWait {
      _ = try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: dayAgo))
    }
  }
}
