@_spi(CDE) internal import CDEExecutors
internal import CDEStore
internal import Foundation

// Query generations: a context that reads one state of its stores, whatever others commit.
extension NSManagedObjectContext {
  /// The state of the stores that the context is pinned to; nil if it reads the latest one. May be read on any isolation.
  ///
  /// It is ``NSQueryGenerationToken/current`` until the next read.
  public nonisolated var queryGenerationToken: NSQueryGenerationToken? {
    guard let generation = configuration.withLock(\.generation) else { return nil }
    return generation.isPinned ? NSQueryGenerationToken(generation) : .current
  }

  /// Pins the context to a state of its stores, as in Core Data.
  ///
  /// Fetches and faults then read that state. The context moves to the state of its next read when it saves, merges changes or is
  /// reset. Objects in memory keep their values until they are refreshed.
  ///
  /// States are kept by stores with a write-ahead log. Other stores are read as they are. A child context reads what its parent
  /// reads.
  ///
  /// - Parameter generation: ``NSQueryGenerationToken/current`` for the state at the next read, the token of another context for the
  ///   same state as there, nil for the latest state at each read.
  /// - Throws: ``ManagedObjectError`` with code `.unsupportedRequest` if the token is of another coordinator or the context has a
  ///   parent, `.noStore` if the context has no coordinator.
  public func setQueryGenerationFrom(_ generation: NSQueryGenerationToken?) throws {
    let coordinator = try coordinator()
    guard parentSource == nil else {
      throw nsError(
        ManagedObjectError(
          .unsupportedRequest, "A child context reads what its parent reads. Pin the context at the top."))
    }
    if let kept = generation?.generation, kept.coordinator !== coordinator {
      throw nsError(
        ManagedObjectError(
          .unsupportedRequest,
          "The query generation belongs to another persistent store coordinator. Take the token from a context of the same one."
        ))
    }
    configuration.withLock {
      $0.generation = generation.map { $0.generation ?? StoreGeneration(of: coordinator) }
    }
  }

  /// How often the context has written to its stores, by saves and batch requests, for layers that must know whether code has written.
  @_spi(CDE) public final var writeCount: Int { writes.count }

  /// Saves what the store had before, which need not be valid: only deletions are validated.
  @_spi(CDE) public final func saveRestored() throws {
    writes.areRestored = true
    defer { writes.areRestored = false }
    try save()
  }

  /// Runs code that may only read: the context's saves and batch requests throw meanwhile.
  @_spi(CDE) public final func refusingWrites<Value>(_ body: () throws -> Value) rethrows -> Value {
    let before = writes.areRefused
    writes.areRefused = true
    defer { writes.areRefused = before }
    return try body()
  }

  /// - Throws: ``ManagedObjectError`` with code `.unsupportedRequest` inside of code that may only read.
  func requireWritable(_ what: String) throws {
    if !writes.areRefused { return }
    throw ManagedObjectError(
      .unsupportedRequest,
      "\(what) was called in a closure that reads. It wrote nothing. Change objects in transaction, insert or update, which save them."
    )
  }

  /// Lets a pinned context read the state at the next read.
  func advanceGeneration() {
    configuration.withLock { configuration in
      if let generation = configuration.generation {
        configuration.generation = StoreGeneration(of: generation.coordinator)
      }
    }
  }

  var modelBinding: ModelBinding? { registry?.model }

  /// The coordinator, or an error if there is none.
  func coordinator() throws -> NSPersistentStoreCoordinator {
    if let coordinator = persistentStoreCoordinator { return coordinator }
    throw ManagedObjectError(
      .noStore, "The context has no persistentStoreCoordinator. Take it from a container, or set one.")
  }

  /// The source of the context's rows; nil if there is none.
  var rowSource: (any RowSource)? {
    let (parent, generation, coordinator) = configuration.withLock {
      ($0.parent, $0.generation, $0.coordinator)
    }
    return parent ?? generation ?? coordinator
  }

  /// The source of the context's rows, or an error if there is none.
  func source() throws -> any RowSource { try rowSource ?? coordinator() }
}
