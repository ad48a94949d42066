public import CDEModelRuntime
public import Foundation

nonisolated extension Database {
  /// Fetches snapshots.
  ///
  /// - Throws: a `ManagedObjectError` for a predicate or order that can't be used, or of the store.
  public func fetch<Item>(_ descriptor: FetchDescriptor<Item>) async throws -> [ModelSnapshot<Item>] {
    try await run(.read("fetch", Item.self) { try $0.fetchSnapshots(descriptor) })
  }

  /// Fetches objects and returns what a closure makes of each, where they may be used.
  ///
  /// ```swift
  /// let lines = try await database.fetch(descriptor) { "\($0.title): \($0.tags.count) tags" }
  /// ```
  public func fetch<Item, Value: Sendable>(
    _ descriptor: FetchDescriptor<Item>, _ transform: @escaping @Sendable (Item) throws -> Value
  ) async throws -> [Value] {
    try await run(.read("fetch", Item.self) { try $0.fetch(descriptor).map(transform) })
  }

  /// Fetches snapshots of the objects for which a predicate holds, in an order.
  public func fetch<Item>(
    where predicate: Predicate<Item>?, sortBy: [SortDescriptor<Item>]
  ) async throws -> [ModelSnapshot<Item>] {
    try await fetch(FetchDescriptor(predicate: predicate, sortBy: sortBy))
  }

  /// Fetches snapshots of the objects for which a predicate holds.
  public func fetch<Item>(
    _ predicate: Predicate<Item>, sortBy: [SortDescriptor<Item>] = []
  ) async throws -> [ModelSnapshot<Item>] {
    try await fetch(FetchDescriptor(predicate: predicate, sortBy: sortBy))
  }

  /// Fetches snapshots of a model's objects.
  public func fetch<Item: PersistentEntity>(
    _: Item.Type, predicate: Predicate<Item>? = nil, sortBy: [SortDescriptor<Item>] = []
  ) async throws -> [ModelSnapshot<Item>] {
    try await fetch(FetchDescriptor(predicate: predicate, sortBy: sortBy))
  }

  /// Fetches the handles of objects, without their values.
  public func fetchHandles<Item>(_ descriptor: FetchDescriptor<Item>) async throws -> [ModelHandle<Item>] {
    try await run(.read("fetchHandles", Item.self) { try $0.fetchHandles(descriptor) })
  }

  /// Fetches the first object of a descriptor's order, or nil.
  public func fetchOne<Item>(_ descriptor: FetchDescriptor<Item>) async throws -> ModelSnapshot<Item>? {
    try await run(
      .read("fetchOne", Item.self) { context in
        var one = descriptor
        one.fetchLimit = min(descriptor.fetchLimit ?? 1, 1)
        return try context.fetchSnapshots(one).first
      })
  }

  /// Fetches one object for which a predicate holds, or nil.
  public func fetchOne<Item>(
    _ predicate: Predicate<Item>, sortBy: [SortDescriptor<Item>] = []
  ) async throws -> ModelSnapshot<Item>? {
    try await fetchOne(FetchDescriptor(predicate: predicate, sortBy: sortBy))
  }

  /// The values of the object that a handle names as they are now, or nil when it was deleted.
  ///
  /// - Throws: errors of the store, and of a handle of another model.
  public func fetchOne<Item>(_ handle: ModelHandle<Item>) async throws -> ModelSnapshot<Item>? {
    try await run(.read("fetchOne", Item.self) { try $0.objectIfAny(for: handle)?.snapshot() })
  }

  /// How many objects a fetch would yield.
  public func count<Item>(_ descriptor: FetchDescriptor<Item>) async throws -> Int {
    try await run(.read("count", Item.self) { try $0.fetchCount(descriptor) })
  }

  /// How many objects of a model there are, or for how many of them a predicate holds.
  public func count<Item: PersistentEntity>(
    _: Item.Type, where predicate: Predicate<Item>? = nil
  ) async throws -> Int {
    try await count(FetchDescriptor(predicate: predicate))
  }

  /// Whether a fetch would yield anything. Looks no further than the first.
  public func exists<Item>(_ descriptor: FetchDescriptor<Item>) async throws -> Bool {
    try await run(
      .read("exists", Item.self) { context in
        var one = descriptor
        one.fetchLimit = min(descriptor.fetchLimit ?? 1, 1)
        one.sortBy = []
        return try context.fetchCount(one) > 0
      })
  }

  /// Whether a predicate holds for any object.
  public func exists<Item: PersistentEntity>(_ predicate: Predicate<Item>) async throws -> Bool {
    try await exists(FetchDescriptor(predicate: predicate))
  }

  /// Whether the object that a handle names is still there.
  public func exists<Item>(_ handle: ModelHandle<Item>) async throws -> Bool {
    try await run(.read("exists", Item.self) { try $0.objectIfAny(for: handle) != nil })
  }

  /// Looks with a closure, beside other reads and beside a writer.
  ///
  /// ```swift
  /// let total = try await database.read { context in
  ///   try context.fetch(FetchDescriptor<Order>()).reduce(0) { $0 + $1.lines.count }
  /// }
  /// ```
  ///
  /// - Parameter body: Runs with a context of its own, which it must not change.
  /// - Throws: what the closure throws; ``DatabaseError`` with code `.changesInRead`.
  public func read<Value: Sendable>(
    _ body: @escaping @Sendable (NSManagedObjectContext) throws -> Value
  ) async throws -> Value {
    try await run(DatabaseOperation("read", access: .read, body))
  }
}

nonisolated extension DatabaseOperation {
  static func read<Item: PersistentEntity>(
    _ name: String, _ type: Item.Type, _ body: @escaping @Sendable (NSManagedObjectContext) throws -> Value
  ) -> Self {
    DatabaseOperation(name, entity: "\(type)", access: .read, body)
  }

  static func transaction<Item: PersistentEntity>(
    _ name: String, _ type: Item.Type, _ body: @escaping @Sendable (NSManagedObjectContext) throws -> Value
  ) -> Self {
    DatabaseOperation(name, entity: "\(type)", access: .transaction, body)
  }

  static func inserting<Item: PersistentEntity>(
    _ name: String, _ type: Item.Type,
    _ work: @escaping @Sendable (NSManagedObjectContext) throws -> (() throws -> Value)
  ) -> Self {
    answeringAfterSave(name, entity: "\(type)", access: .transaction, work)
  }
}

nonisolated extension NSManagedObjectContext {
  /// The object that a handle names, or nil when it was deleted.
  fileprivate func objectIfAny<Item>(for handle: ModelHandle<Item>) throws -> Item? {
    do {
      return try object(for: handle)
    } catch let error as ManagedObjectError where error.code == .objectNotFound {
      return nil
    }
  }
}
