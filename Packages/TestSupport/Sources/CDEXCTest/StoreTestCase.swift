public import CDEManagedModel
public import CDEModelRuntime
@_spi(CDE) public import CDETestSupport
public import XCTest

/// An XCTest case whose every test has a throw-away store of its own; what the `.store` trait is to Swift Testing.
///
/// The store is deleted when the test passes. When it fails, the store is closed and kept with the SQL that it was
/// asked, and a note says where. A class that overrides the set-up and tear-down methods calls these here.
///
/// ```swift
/// final class NotebookTests: StoreTestCase {
///   override func makeModel() throws -> NSManagedObjectModel { try .makeRuntimeModel(Note.self) }
///   override var storeOptions: TestStoreOptions { TestStoreOptions(queryBudget: 5) }
///
///   func testAdding() async throws {
///     try await Notebook(container: container).add("milk")
///   }
/// }
/// ```
nonisolated open class StoreTestCase: XCTestCase {
  private var scope: TestStoreScope?

  /// Makes the model of each test's store. A class has to say which.
  ///
  /// - Throws: what fails the test.
  open func makeModel() throws -> NSManagedObjectModel {
    throw TestSupportError(
      .options, "\(type(of: self)) does not say which model its stores have. Override makeModel().")
  }

  /// Where each test's store is, what it is a copy of, and what the test has to keep to; a file in the temporary
  /// folder, empty, and nothing, unless overridden.
  open var storeOptions: TestStoreOptions { TestStoreOptions() }

  /// Puts something into each test's store, which is saved afterwards; nothing unless overridden.
  ///
  /// - Throws: what fails the test.
  open func fillStore(_ context: NSManagedObjectContext) throws {}

  /// The running test's container, its store loaded.
  ///
  /// - Precondition: the test runs, and overrides of the set-up call `super`.
  public final var container: NSPersistentContainer { running.container }

  /// What the running test's store was asked since the test began.
  ///
  /// - Precondition: as for ``container``.
  public final var activity: StoreActivity { running.activity }

  private var running: TestStoreScope {
    guard let scope else {
      fatalError(
        "\(name) has no store. An override of setUpWithError has to call super.setUpWithError() first; before and "
          + "after the test there is none.")
    }
    return scope
  }

  open override func setUpWithError() throws {
    try super.setUpWithError()
    let scope = try TestStoreScope(model: makeModel(), options: storeOptions, testName: name)
    self.scope = scope
    let context = scope.container.newBackgroundContext()
    try context.performAndWait {
      try fillStore(context)
      try context.save()
    }
    scope.begin()
  }

  open override func tearDownWithError() throws {
    try super.tearDownWithError()
    guard let scope else { return }
    self.scope = nil
    for broken in scope.brokenRules() { XCTFail(broken.message) }
    // Whether the run has succeeded is known only when it is over.
    if (testRun?.totalFailureCount ?? 0) > 0 {
      scope.keepWithNote()
    } else {
      try scope.remove()
    }
  }
}
