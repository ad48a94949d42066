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
  /// - Throws: what kept the store from opening.
  @MainActor
  static func open(_ url: URL) throws -> NSPersistentContainer {
    let model = try NSManagedObjectModel.makeRuntimeModel(
      Package.self, Version.self, Section.self, Maintainer.self, IndexRun.self)
    let container = NSPersistentContainer(name: "Packages", managedObjectModel: model)
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    container.viewContext.automaticallyMergesChangesFromParent = true
    return container
  }
}
