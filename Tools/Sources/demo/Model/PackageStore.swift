import CoreDataEvolution

/// Opens the store that holds the index.
enum PackageStore {
  /// Where the index lies unless the caller says otherwise.
  static var defaultURL: URL {
    NSPersistentContainer.defaultDirectoryURL()
      .appendingPathComponent("CoreDataEvolutionDemo", isDirectory: true)
      .appendingPathComponent("Packages.sqlite")
  }

  /// A container over the index, made at the first run.
  ///
  /// The store records its history, and commits of other processes are merged: several runs may use one index.
  ///
  /// - Throws: what kept the store from opening.
  @MainActor
  static func open(_ url: URL) throws -> NSPersistentContainer {
    let model = try NSManagedObjectModel.makeRuntimeModel(
      Package.self, Version.self, Section.self, Maintainer.self, IndexRun.self)
    let container = NSPersistentContainer(name: "Packages", managedObjectModel: model)
    let description = NSPersistentStoreDescription(url: url)
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
