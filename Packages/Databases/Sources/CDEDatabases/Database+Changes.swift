@_spi(CDE) public import CDEModelRuntime
internal import Foundation

/// What one save did to a model's objects.
public nonisolated struct DatabaseChange<Item: PersistentEntity>: Sendable {
  /// Number of the save among all of its container, ascending.
  public let sequence: UInt64
  /// The `transactionAuthor` of the context that saved.
  public let author: String?
  /// New objects as they were saved.
  public let inserted: [ModelSnapshot<Item>]
  /// Changed objects as they were saved.
  public let updated: [ModelSnapshot<Item>]
  /// Handles of objects that were deleted.
  public let deleted: [ModelHandle<Item>]
  /// Objects that were saved and are in none of the lists, because their values could not be read. Fetch them
  /// anew.
  public let failures: [Failure]

  /// An object whose values could not be read after its save.
  public struct Failure: Sendable {
    /// The object; nil when its store is no longer loaded.
    public let handle: ModelHandle<Item>?
    /// Why the values could not be read.
    public let error: any Error
  }
}

/// The saves that concern a model, one element each; ends with the task that reads it.
public nonisolated struct DatabaseChanges<Item: PersistentEntity>: AsyncSequence, Sendable {
  let stream: AsyncStream<DatabaseChange<Item>>

  /// Reads the changes; of several iterators each change reaches one.
  public struct AsyncIterator: AsyncIteratorProtocol {
    var base: AsyncStream<DatabaseChange<Item>>.Iterator

    public mutating func next() async -> DatabaseChange<Item>? { await base.next() }

    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async -> DatabaseChange<Item>? {
      await base.next(isolation: actor)
    }
  }

  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(base: stream.makeAsyncIterator()) }
}

nonisolated extension Database {
  /// Reports every save of this database's container that concerns a model, whichever context saves.
  ///
  /// ```swift
  /// for await change in try await database.changes(of: Item.self) {
  ///   print("\(change.inserted.count) new")
  /// }
  /// ```
  ///
  /// When the call returns, saves are being collected: none that begins later is missed. Saves of one
  /// context come in their order; of those of several contexts that save at once,
  /// ``DatabaseChange/sequence`` has the order. Saves of other processes are not seen.
  ///
  /// - Parameters:
  ///   - type: The model; objects of models derived from it count.
  ///   - buffering: How changes that were not read yet are buffered; by default all are kept.
  public func changes<Item: PersistentEntity>(
    of type: Item.Type,
    buffering: AsyncStream<DatabaseChange<Item>>.Continuation.BufferingPolicy = .unbounded
  ) async throws -> DatabaseChanges<Item> {
    try await run(
      .read("changes", type) { context in
        // Throws if the container has no such model.
        var nothing = FetchDescriptor<Item>()
        nothing.fetchLimit = 0
        _ = try context.fetchSnapshots(nothing)
        let (stream, continuation) = AsyncStream.makeStream(
          of: DatabaseChange<Item>.self, bufferingPolicy: buffering)
        guard let coordinator = context.persistentStoreCoordinator else {
          continuation.finish()
          return DatabaseChanges(stream: stream)
        }
        let watch = SaveWatch(coordinator) { notification in
          if let change = DatabaseChange<Item>(notification) { continuation.yield(change) }
        }
        continuation.onTermination = { _ in watch.end() }
        return DatabaseChanges(stream: stream)
      })
  }
}

/// Hears the saves of one coordinator's contexts until it is told to end.
private nonisolated final class SaveWatch: @unchecked Sendable {
  // Guard: immutable; the notification centre has its own lock.
  private let token: any NSObjectProtocol

  init(
    _ coordinator: NSPersistentStoreCoordinator, _ body: @escaping @Sendable (Notification) -> Void
  ) {
    let wanted = ObjectIdentifier(coordinator)
    token = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidSave, object: nil, queue: nil
    ) { [weak coordinator] notification in
      guard coordinator != nil, let context = notification.object as? NSManagedObjectContext,
        context.persistentStoreCoordinator.map(ObjectIdentifier.init) == wanted
      else { return }
      body(notification)
    }
  }

  func end() { NotificationCenter.default.removeObserver(token) }
}

nonisolated extension DatabaseChange {
  /// What a didSave notification says about the model, or nil; on the isolation of the context that saved.
  fileprivate init?(_ notification: Notification) {
    func objects(_ key: String) -> [Item] {
      let all = notification.userInfo?[key] as? Set<NSManagedObject> ?? []
      // In the order of their keys, which is that in which they were written.
      return all.compactMap { $0 as? Item }.sorted { $0.rowKey < $1.rowKey }
    }
    var failures: [Failure] = []
    func read<Value>(_ key: String, _ body: (Item) throws -> Value) -> [Value] {
      objects(key).compactMap { item in
        do { return try body(item) } catch {
          failures.append(Failure(handle: ModelHandle(item), error: error))
          return nil
        }
      }
    }
    inserted = read(NSInsertedObjectsKey) { try $0.snapshot() }
    updated = read(NSUpdatedObjectsKey) { try $0.snapshot() }
    deleted = read(NSDeletedObjectsKey) { try $0.handle }
    self.failures = failures
    if inserted.isEmpty, updated.isEmpty, deleted.isEmpty, failures.isEmpty { return nil }
    let commit = notification.userInfo?[CommittedTransaction.userInfoKey] as? CommittedTransaction
    sequence = commit?.sequence ?? 0
    author = commit?.author
  }
}
