@_spi(CDE) internal import CDETestSupport
public import CDEModelRuntime

/// The throw-away store of the running test, given by the ``Testing/Trait/store(_:)`` trait.
///
/// ```swift
/// @Test("A new note is found again", .store(Note.self))
/// func find() async throws {
///   let library = Library(container: TestStore.current.container)
///   …
/// }
/// ```
public struct TestStore: Sendable {
  /// The container, its store loaded and empty.
  public let container: NSPersistentContainer

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

  /// Closes the store and deletes its files.
  func remove() throws {
    let coordinator = container.persistentStoreCoordinator
    for store in coordinator.persistentStores {
      let url = store.url
      try coordinator.remove(store)
      if let url { try TestStoreFiles(store: url).remove() }
    }
  }

  /// Where the files are, for whoever wants to look at them.
  var path: String { container.persistentStoreCoordinator.persistentStores.first?.url?.path ?? "" }
}
