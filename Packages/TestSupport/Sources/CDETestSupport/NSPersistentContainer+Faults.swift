public import CDEManagedModel
public import CDEModelRuntime
public import CDESQLiteFaults
internal import Foundation

extension NSPersistentContainer {
  /// Makes a container over an empty SQLite store of its own, for one test, whose files fail as a plan has it; see
  /// ``makeTest(model:testName:fileID:function:subDirectory:)``.
  ///
  /// The store is synced as an app's is; the syncs are steps of the plan and take no time.
  ///
  /// ```swift
  /// let faults = StoreFaults()
  /// let container = try NSPersistentContainer.makeTest(model: model, faults: faults)
  /// faults.begin(.always(.diskFull))
  /// ```
  ///
  /// - Parameters:
  ///   - model: The model. It can't be changed from here on.
  ///   - faults: What the store's files go through. A plan that has begun already concerns the making of the
  ///     store, too.
  ///   - testName: The name; empty for one made from `fileID` and `function`.
  ///   - fileID: Where the call is.
  ///   - function: Where the call is.
  ///   - subDirectory: The folder in the temporary folder that holds the store.
  /// - Throws: ``CDTestContainerError``. Nothing here is fatal.
  public static func makeTest(
    model: NSManagedObjectModel, faults: StoreFaults, testName: String = "", fileID: String = #fileID,
    function: String = #function, subDirectory: String = "CoreDataEvolutionTestTemp"
  ) throws -> NSPersistentContainer {
    let container = try makeTest(
      model: model, testName: testName, fileID: fileID, function: function, subDirectory: subDirectory)
    let path = container.persistentStoreDescriptions.first?.url?.path ?? ""
    do {
      try container.reopenTestStores(faults: faults) { try TestStoreFiles(store: $0).remove() }
    } catch let error as CDTestContainerError {
      throw error
    } catch {
      throw CDTestContainerError.failedToLoadPersistentStore(
        testName: container.name, storePath: path, reason: error.localizedDescription)
    }
    return container
  }

  /// Makes a container for the model of these classes, over an empty store whose files fail as a plan has it; see
  /// ``makeTest(model:faults:testName:fileID:function:subDirectory:)``.
  ///
  /// - Throws: `CDRuntimeModelBuilderError` for the model, ``CDTestContainerError`` for the store.
  public static func makeRuntimeTest(
    modelTypes: any CDRuntimeSchemaProviding.Type..., faults: StoreFaults, testName: String = "",
    fileID: String = #fileID, function: String = #function,
    subDirectory: String = "CoreDataEvolutionTestTemp"
  ) throws -> NSPersistentContainer {
    try makeTest(
      model: NSManagedObjectModel.makeRuntimeModel(modelTypes), faults: faults, testName: testName,
      fileID: fileID, function: function, subDirectory: subDirectory)
  }

  /// Closes the stores and opens their files again, as the next process would.
  ///
  /// What a crash left is found like this. New contexts see the stores as they are now; objects and contexts from
  /// before are of no use any more.
  ///
  /// - Parameter faults: What the files go through from here on; nil for the file system alone.
  /// - Throws: `ManagedObjectError` when a store can't be closed or opened. The container has no store then, and
  ///   the next call opens it.
  public func reopenTestStores(faults: StoreFaults? = nil) throws {
    try reopenTestStores(faults: faults) { _ in }
  }

  /// - Parameter prepare: is given each file while it is closed.
  private func reopenTestStores(faults: StoreFaults?, _ prepare: (URL) throws -> Void) throws {
    let descriptions = persistentStoreDescriptions.map { $0.reopening(over: faults) }
    guard descriptions.allSatisfy({ $0.type == NSSQLiteStoreType && $0.url?.path != "/dev/null" }) else {
      throw ManagedObjectError(
        .unsupportedRequest,
        "A store in memory is gone when it is closed, and no file of it can fail. Keep the store in a file.")
    }
    for store in persistentStoreCoordinator.persistentStores {
      try persistentStoreCoordinator.remove(store)
      if let url = store.url { try prepare(url) }
    }
    persistentStoreDescriptions = descriptions
    var failure: (any Error)?
    loadPersistentStores { _, error in failure = failure ?? error }
    if let failure { throw failure }
  }
}

extension NSPersistentStoreDescription {
  fileprivate func reopening(over faults: StoreFaults?) -> NSPersistentStoreDescription {
    let copy = copy() as! NSPersistentStoreDescription
    copy.setOption(faults?.vfs, forKey: CDESQLiteVFSOption)
    copy.shouldAddStoreAsynchronously = false
    // Tests do without syncs because they take time. Under faults they take none, and may fail.
    if faults != nil { copy.setValue(nil, forPragmaNamed: "synchronous") }
    return copy
  }
}
