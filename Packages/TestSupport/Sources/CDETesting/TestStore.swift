public import CDEModelRuntime
internal import CDESwiftData
public import CDETestSupport

/// The throw-away store of the running test, given by the `.store(_:)` trait.
///
/// ```swift
/// @Test("A new note is found again", .store(Note.self))
/// func find() async throws {
///   let library = Library(container: TestStore.current.container)
///   …
/// }
/// ```
public struct TestStore: Sendable {
  let scope: TestStoreScope
  /// The container of model classes, for a store of such classes.
  let models: ModelContainer?

  /// The container, its store loaded: empty, or as templates left it.
  public var container: NSPersistentContainer { scope.container }

  /// What the store was asked since the case began.
  public var activity: StoreActivity { scope.activity }

  @TaskLocal static var running: TestStore?

  /// The store of the running test, from any task that the test started; detached tasks don't inherit it.
  ///
  /// - Precondition: the test, or a suite around it, has a `.store` trait.
  public static var current: TestStore {
    guard let running else {
      fatalError(
        "TestStore.current was asked for outside a test that has one. Add the trait .store(Item.self, ...) to the "
          + "test or its suite; a detached task does not inherit it.")
    }
    return running
  }
}
