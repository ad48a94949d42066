import CDEManagedModel
@_spi(CDE) import CDEExecutors
import CDEModelRuntime
@_spi(CDE) import CDESQLiteFaults
import Foundation

/// SQL of a test's own on the store at a path, whichever engine it is of.
enum RawStore {
  /// Runs one statement.
  ///
  /// - Returns: its rows as text, NULL as "NULL".
  @discardableResult
  static func run(_ path: String, _ sql: String) throws -> [[String]] {
    guard let run = StoresUnderTest.runSQL.withLock({ $0 }) else { return try RawSQLite(path).run(sql) }
    return try run(path, sql).get()
  }
}

extension Stack {
  var file: URL { folder.appendingPathComponent("Test.sqlite") }

  /// What another writer does to the store's file, a log included.
  @discardableResult
  func sql(_ statement: String) throws -> [[String]] { try RawStore.run(file.path, statement) }

  /// Opens another container over the same file.
  func reopened() throws -> NSPersistentContainer { try Self.open(file, container.managedObjectModel) }

  static func open(_ file: URL, _ model: NSManagedObjectModel) throws -> NSPersistentContainer {
    let container = NSPersistentContainer(name: "Test", managedObjectModel: model)
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: file)]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    return container
  }

  func close() throws {
    for store in container.persistentStoreCoordinator.persistentStores {
      try container.persistentStoreCoordinator.remove(store)
    }
  }
}
