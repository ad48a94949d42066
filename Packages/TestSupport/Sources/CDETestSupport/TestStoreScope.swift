@_spi(CDE) internal import CDEExecutors
public import CDEManagedModel
@_spi(CDE) public import CDEModelRuntime
public import Foundation

/// The life of one test's store, for whatever framework runs the test.
///
/// The `.store` trait of `CDETesting` and `StoreTestCase` of `CDEXCTest` are made of this, and
/// ``withTestStore(_:options:testName:fileID:function:_:)`` is the short form. Another framework's adapter makes
/// a scope before a test, calls ``begin()`` when the store is filled, and afterwards ``brokenRules()`` and one of
/// ``remove()`` and ``keep()``. Safe from any isolation.
public nonisolated final class TestStoreScope: Sendable {
  /// What a failed test leaves behind.
  public struct Remains: Sendable {
    /// The database, closed; external values lie beside it.
    public let store: URL
    /// What the store was asked, see ``StoreActivity/log``.
    public let log: URL
  }

  /// The container, its store loaded.
  public let container: NSPersistentContainer
  /// What its store was asked since ``begin()``.
  public let activity: StoreActivity
  private let files: TestStoreFiles
  private let options: TestStoreOptions
  private let watch: Lock<StoreWatch>

  /// Makes the store: empty, or a copy of a template. One name gives each scope of a process a file of its own.
  ///
  /// - Parameters:
  ///   - model: The model. It can't be changed from here on.
  ///   - options: Where the store is, and what the test has to keep to.
  ///   - testName: The name; empty for one made from `fileID` and `function`.
  ///   - fileID: Where the call is.
  ///   - function: Where the call is.
  /// - Throws: ``CDTestContainerError``, and ``TestSupportError`` for options that do not go together.
  public init(
    model: NSManagedObjectModel, options: TestStoreOptions = TestStoreOptions(), testName: String = "",
    fileID: String = #fileID, function: String = #function
  ) throws {
    let name = TestStoreName(testName: testName, fileID: fileID, function: function).made()
    files = TestStoreFiles(name: name, folder: options.place.disk?.folder)
    self.options = options
    container = try TestStoreOpener(name: name, model: model, files: files, options: options).open()
    activity = try StoreActivity(of: container)
    watch = Lock(try StoreWatch(container))
  }

  /// Begins to judge: what the store was asked up to here was preparation.
  public func begin() {
    activity.clear()
    watch.withLock { $0.restart() }
  }

  /// What the test did against its options; empty where it kept to them.
  public func brokenRules() -> [TestSupportError] {
    let watch = watch.withLock { $0 }
    return [
      options.queryBudget.flatMap(watch.overBudget), options.singleFaultLimit.flatMap(watch.singleFaults),
    ].compactMap { $0 }
  }

  /// Closes the store and deletes its files.
  ///
  /// - Throws: ``CDTestContainerError`` when a file can't be deleted.
  public func remove() throws {
    try close()
    if options.place.disk != nil { try files.remove() }
  }

  /// Closes the store and keeps it for inspection, with what it was asked beside it. A store in memory is
  /// written to a file.
  ///
  /// - Throws: an error of the file system, or of the store when it can't be copied out of memory.
  public func keep() throws -> Remains {
    try files.createFolder()
    if options.place.disk == nil {
      try files.remove()
      try container.persistentStoreCoordinator.persistentStores.first?.writeCopy(to: files.store)
    }
    try Data(activity.log.utf8).write(to: files.log)
    try close()
    return Remains(store: files.store, log: files.log)
  }

  /// Keeps the store, see ``keep()``, and notes where, or why that can't be done.
  @_spi(CDE) public func keepWithNote() {
    do {
      Diagnostics.report(Self.note(try keep()))
    } catch {
      Diagnostics.report("The failed test's store could not be kept: \(error)")
    }
  }

  /// The sentence that tells people where to look.
  @_spi(CDE) public static func note(_ remains: Remains) -> String {
    "The failed test's store was kept for inspection: \(remains.store.path)"
  }

  private func close() throws {
    let coordinator = container.persistentStoreCoordinator
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }
}

/// Runs a closure with a container over a store of its own, in whatever test framework.
///
/// The store is deleted when the closure returns, and kept, with a note where it is, when it throws or breaks a
/// rule of the options. An assertion of the test framework that fails without throwing is not seen here; use the
/// `.store` trait of `CDETesting` or `StoreTestCase` of `CDEXCTest` for that.
///
/// ```swift
/// try await withTestStore(Note.self, options: TestStoreOptions(queryBudget: 3)) { container in
///   let notebook = Notebook(container: container)
///   try await notebook.add("milk")
/// }
/// ```
///
/// - Parameters:
///   - modelTypes: The classes of the model, one entity each.
///   - options: Where the store is, and what the closure has to keep to.
///   - testName: The store's name; empty for one made from `fileID` and `function`.
///   - fileID: Where the call is.
///   - function: Where the call is.
///   - body: The test.
/// - Returns: What the closure returns.
/// - Throws: what the closure throws; ``TestSupportError`` for a broken rule; as
///   ``TestStoreScope/init(model:options:testName:fileID:function:)`` does.
nonisolated(nonsending)
  public func withTestStore<Value>(
    _ modelTypes: any CDRuntimeSchemaProviding.Type..., options: TestStoreOptions = TestStoreOptions(),
    testName: String = "", fileID: String = #fileID, function: String = #function,
    _ body: nonisolated(nonsending) (NSPersistentContainer) async throws -> Value
  ) async throws -> Value
{
  let scope = try TestStoreScope(
    model: .makeRuntimeModel(modelTypes), options: options, testName: testName, fileID: fileID,
    function: function)
  do {
    let value = try await body(scope.container)
    if let broken = scope.brokenRules().first { throw broken }
    try scope.remove()
    return value
  } catch {
    scope.keepWithNote()
    throw error
  }
}
