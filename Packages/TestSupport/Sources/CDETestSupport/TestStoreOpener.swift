@_spi(CDE) internal import CDEExecutors
internal import CDEManagedModel
internal import CDEModelRuntime
internal import Foundation

/// Makes the container of a test over a store of its own.
struct TestStoreOpener {
  let name: TestStoreName
  let model: NSManagedObjectModel
  let files: TestStoreFiles
  let options: TestStoreOptions

  // Two tests that happen to share a name must not remove and open the same files at the same time.
  private static let making = Lock(())

  /// - Throws: ``CDTestContainerError``, and ``TestSupportError`` for options that do not go together.
  func open() throws -> NSPersistentContainer {
    if options.place.disk == nil, options.template != nil {
      throw TestSupportError(
        .options,
        "A store that is copied from a file is a file. Leave .inMemory out, or fill the store by "
          + ".template { context in … }.")
    }
    return try Self.making.withLock { _ in
      if options.place.disk != nil {
        try files.createFolder()
        try files.remove()
        if let template = options.template { try files.copy(template) }
      }
      do {
        return try loaded()
      } catch {
        // The copy of a file that is no store is of no use; the file itself is there.
        if options.template != nil { try? files.remove() }
        throw error
      }
    }
  }

  private func loaded() throws -> NSPersistentContainer {
    let container = NSPersistentContainer(name: name.text, managedObjectModel: model)
    let description = NSPersistentStoreDescription(url: files.store)
    // A template of another model is a mistake of the test. Migrated, it could be empty, and the test would pass.
    description.shouldMigrateStoreAutomatically = false
    if let disk = options.place.disk {
      description.setValue(disk.durability.rawValue, forPragmaNamed: "synchronous")
    } else {
      description.type = NSInMemoryStoreType
      description.url = nil
    }
    description.record(in: StoreActivity(withValues: options.recordsValues))
    container.persistentStoreDescriptions = [description]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure {
      let origin = options.template.map { " It is a copy of the template at \($0.path)." } ?? ""
      throw CDTestContainerError.failedToLoadPersistentStore(
        testName: name.text, storePath: options.place.disk == nil ? "(memory)" : files.store.path,
        reason: failure.localizedDescription + origin)
    }
    return container
  }
}
