import CoreDataEvolution

/// Opens the store that holds the index.
enum PackageStore {
  /// A container over the index, made at the first run.
  ///
  /// The store records its history, and commits of other processes are merged: several runs may use one index, on a server
  /// from several machines.
  ///
  /// - Throws: what kept the store from opening.
  @MainActor
  static func open(_ place: IndexPlace) throws -> NSPersistentContainer {
    let model = try NSManagedObjectModel.makeRuntimeModel(
      Package.self, Version.self, Section.self, Maintainer.self, IndexRun.self)
    let container = NSPersistentContainer(name: "Packages", managedObjectModel: model)
    let description = try place.description()
    description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
    description.setOption(true as NSNumber, forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
    container.persistentStoreDescriptions = [description]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    container.viewContext.automaticallyMergesChangesFromParent = true
    return container
  }

  /// Removes what no run reads any more from the history.
  static func purgeHistory(of container: NSPersistentContainer) throws {
    let dayAgo = Date(timeIntervalSinceNow: -24 * 60 * 60)
    let context = container.newBackgroundContext()
    try context.performAndWait {
      _ = try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: dayAgo))
    }
  }
}
