import CDEManagedModel
@_spi(CDE) import CDEModelFiles
import CDEModelRuntime
@_spi(CDE) import CDESQLiteFaults
import Foundation
import Testing

/// A store made with one model, to be opened with another one.
struct OldStore {
  let file: URL

  /// Makes a store, saves objects, and closes it.
  init(_ model: NSManagedObjectModel, _ fill: (NSManagedObjectContext) throws -> Void = { _ in }) throws {
    let stack = try Stack(model: model)
    file = stack.file
    try stack.container.work { context in
      try fill(context)
      try context.save()
    }
    try stack.close()
  }

  /// A store that exists.
  init(at file: URL) { self.file = file }

  /// Opens the store with another model, as a container does by default.
  func opened(_ model: NSManagedObjectModel) throws -> NSPersistentContainer { try Stack.open(file, model) }

  /// Opens the store under another model, which migrates it, on files that fail, and closes it.
  ///
  /// - Parameter mode: SQLite's journal mode.
  func open(_ model: NSManagedObjectModel, with faults: StoreFaults, journal mode: String) throws {
    let container = NSPersistentContainer(name: "Test", managedObjectModel: model)
    let description = NSPersistentStoreDescription(url: file)
    description.setOption(faults.vfs, forKey: CDESQLiteVFSOption)
    description.setValue(mode, forPragmaNamed: "journal_mode")
    description.timeout = 0.2
    container.persistentStoreDescriptions = [description]
    var failure: (any Error)?
    container.loadPersistentStores { failure = $1 }
    try? container.close()
    if let failure { throw failure }
  }

  func sql(_ statement: String) throws -> [[String]] { try RawStore.run(file.path, statement) }

  func plan(_ model: NSManagedObjectModel) throws -> StoreMigrationPlan {
    try NSPersistentStoreCoordinator(managedObjectModel: model)
      .migrationPlan(for: NSPersistentStoreDescription(url: file))
  }

  /// Expects that opening the store with a model fails, and that the store is as before.
  func expectRefusal(
    _ model: NSManagedObjectModel, _ code: ManagedObjectError.Code, _ number: Int, _ part: String,
    _ place: SourceLocation = #_sourceLocation
  ) throws {
    let before = try contents()
    var failure: (any Error)?
    do { _ = try opened(model) } catch { failure = error }
    let error = try #require(failure as? ManagedObjectError, sourceLocation: place)
    #expect(error.code == code, sourceLocation: place)
    #expect((failure as? NSError)?.code == number, sourceLocation: place)
    #expect(error.message.contains(part), "\(error.message)", sourceLocation: place)
    #expect(try contents() == before, sourceLocation: place)
  }

  /// All definitions and all rows of all tables.
  func contents() throws -> [String: [[String]]] {
    var result = ["": try sql("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY 1, 2")]
    for row in try sql("SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0") {
      let columns = try sql("SELECT name FROM pragma_table_info('\(row[0])')").map { $0[0] }
      result[row[0]] =
        StoresUnderTest.areSQLite
        ? try sql(
          "SELECT \(columns.map { "quote(\"\($0)\")" }.joined(separator: ", ")) FROM \"\(row[0])\" ORDER BY rowid"
        )
        : try sql("SELECT * FROM \"\(row[0])\" AS rows ORDER BY rows")
    }
    return result
  }
}

extension NSPersistentContainer {
  /// Works on a context of its own, on this thread.
  func work<Value>(_ body: (NSManagedObjectContext) throws -> Value) throws -> Value {
    let context = newBackgroundContext()
    return try context.performAndWait { try body(context) }
  }

  /// Closes all stores.
  func close() throws {
    for store in persistentStoreCoordinator.persistentStores { try persistentStoreCoordinator.remove(store) }
  }
}

extension NSPropertyDescription {
  func renamed(_ identifier: String) -> Self {
    renamingIdentifier = identifier
    return self
  }
}
