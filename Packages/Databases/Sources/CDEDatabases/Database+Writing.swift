@_spi(CDE) public import CDEModelRuntime
public import Foundation

nonisolated extension Database {
  /// Makes an object, saves it and returns its handle.
  ///
  /// - Parameters:
  ///   - type: The model.
  ///   - fill: Sets the new object's values, on its context's isolation. May run again if the save found the
  ///     store busy, with another new object.
  /// - Throws: what the closure and the save throw; nothing of it remains then.
  @discardableResult
  public func insert<Item: PersistentEntity>(
    _ type: Item.Type, _ fill: @escaping @Sendable (Item) throws -> Void
  ) async throws -> ModelHandle<Item> {
    try await run(
      .inserting("insert", type) { context in
        let item = try context.insertNewObject(of: Item.self)
        try fill(item)
        return { try item.handle }
      })
  }

  /// Makes an object for each of some values and saves them together.
  ///
  /// - Returns: The handles, in the order of the values.
  @discardableResult
  public func insert<Item: PersistentEntity, Values: Collection & Sendable>(
    _ type: Item.Type, for values: Values,
    _ fill: @escaping @Sendable (Item, Values.Element) throws -> Void
  ) async throws -> [ModelHandle<Item>] {
    try await run(
      .inserting("insert", type) { context in
        let items = try values.map { value in
          let item = try context.insertNewObject(of: Item.self)
          try fill(item, value)
          return item
        }
        return { try items.map { try $0.handle } }
      })
  }

  /// Changes the object that a handle names and saves it.
  ///
  /// - Returns: What the closure returns.
  /// - Throws: `ManagedObjectError` with code `.objectNotFound` when it was deleted; what the closure and
  ///   the save throw.
  @discardableResult
  public func update<Item, Value: Sendable>(
    _ handle: ModelHandle<Item>, _ change: @escaping @Sendable (Item) throws -> Value
  ) async throws -> Value {
    try await run(.transaction("update", Item.self) { try change($0.object(for: handle)) })
  }

  /// Applies the changes between two snapshots of an object, and saves them.
  ///
  /// - Returns: The names of the properties that were set.
  /// - Throws: `ManagedObjectError` with code `.changeConflict` when a property was changed otherwise since.
  @discardableResult
  public func apply<Item>(_ changes: ModelChanges<Item>) async throws -> [String] {
    try await run(
      .transaction("apply", Item.self) { context in
        try context.apply(changes, to: context.object(for: changes.new.handle))
      })
  }

  /// Deletes the object that a handle names, by its delete rules, and saves.
  ///
  /// - Throws: `ManagedObjectError` with code `.objectNotFound` when it was deleted before, or is an object
  ///   of another store.
  public func delete<Item>(_ handle: ModelHandle<Item>) async throws {
    try await run(.transaction("delete", Item.self) { $0.delete(try $0.object(for: handle)) })
  }

  /// Deletes what stands behind an object of any other context: takes its handle where the caller is.
  ///
  /// - Throws: as for a handle, and `ManagedObjectError` with code `.unsavedObject` for an object that was
  ///   never saved. The object itself is deleted in its own context when that merges.
  nonisolated(nonsending)
    public func delete<Item: PersistentEntity>(_ model: Item) async throws
  {
    try await delete(model.handle)
  }

  /// Deletes the objects for which a predicate holds, by their delete rules, and saves.
  ///
  /// - Parameter predicate: nil for all objects of the model.
  /// - Returns: How many it were, without those that delete rules took along.
  @discardableResult
  public func delete<Item: PersistentEntity>(where predicate: Predicate<Item>?) async throws -> Int {
    try await run(
      .transaction("delete", Item.self) { context in
        let items = try context.fetch(FetchDescriptor(predicate: predicate))
        for item in items { context.delete(item) }
        return items.count
      })
  }

  /// Deletes the objects of a model for which a predicate holds, and saves.
  @discardableResult
  public func delete<Item: PersistentEntity>(
    model _: Item.Type, where predicate: Predicate<Item>? = nil
  ) async throws -> Int {
    try await delete(where: predicate)
  }

  /// Does several things that are saved together, or not at all.
  ///
  /// ```swift
  /// try await database.transaction { context in
  ///   try context.object(for: from).balance -= 10
  ///   try context.object(for: to).balance += 10
  /// }
  /// ```
  ///
  /// Changes that ``withContext(_:)`` left unsaved are saved before, on their own.
  ///
  /// - Parameter body: Runs on the context's isolation, and again if the save found the store busy or the
  ///   objects changed by another writer, as the database's policy allows.
  /// - Throws: what the closure and the save throw; all that the closure did is taken back.
  @discardableResult
  public func transaction<Value: Sendable>(
    _ body: @escaping @Sendable (NSManagedObjectContext) throws -> Value
  ) async throws -> Value {
    try await run(DatabaseOperation("transaction", access: .transaction, body))
  }

  /// Runs a closure with the database's own context and saves nothing.
  ///
  /// The changes stay until ``save()`` or the next write saves them. Other callers share the context: what
  /// belongs together is better done in one ``transaction(_:)``.
  ///
  /// - Throws: what the closure throws. If nothing else was unsaved, its changes are taken back.
  @discardableResult
  public func withContext<Value: Sendable>(
    _ body: @escaping @Sendable (NSManagedObjectContext) throws -> Value
  ) async throws -> Value {
    try await run(DatabaseOperation("withContext", access: .changes, body))
  }

  /// Saves what ``withContext(_:)`` left unsaved; all other writes save by themselves.
  public func save() async throws {
    try await run(DatabaseOperation("save", access: .changes, isRepeatable: true) { try $0.save() })
  }

  /// Takes back what ``withContext(_:)`` left unsaved.
  public func rollback() async throws {
    try await run(DatabaseOperation("rollback", access: .changes) { $0.rollback() })
  }

  /// Objects stay where they are; see ``insert(_:_:)``, which makes one where it is to be.
  @available(*, unavailable, message: "Objects don't change isolation: insert(Item.self) { $0.title = … }")
  public func insert<Item: PersistentEntity>(_ model: Item) async throws {}
}
