@_spi(CDE) internal import CDEExecutors
internal import CDEPredicates
@_spi(CDE) public import CDEModelRuntime
internal import Foundation

/// The value of a property that tells objects of a model apart: `.key(\.isbn, "0-19-853453-1")`.
public nonisolated struct UniqueKey<Item: PersistentEntity>: Sendable {
  let name: String?
  let value: @Sendable () -> Any
  let assign: @Sendable (Item) -> Void

  /// - Parameters:
  ///   - path: A persisted property.
  ///   - value: What it must be.
  public static func key<Value: Sendable>(
    _ path: ReferenceWritableKeyPath<Item, Value> & Sendable, _ value: Value
  ) -> Self {
    UniqueKey(
      name: Item.predicateKey(for: path), value: { stored(value) }, assign: { $0[keyPath: path] = value })
  }

  func predicate() throws -> NSPredicate {
    guard let name else {
      throw DatabaseError(
        .unknownKey, "A key of \(Item.self) is none of its persisted properties. Name stored properties.",
        entity: "\(Item.self)")
    }
    return NSPredicate(format: "%K == %@", argumentArray: [name, value()])
  }
}

/// The value as the store holds it: predicates don't know enumerations.
private nonisolated func stored(_ value: Any) -> Any {
  if let raw = value as? any RawRepresentable { return raw.rawValue }
  return value
}

nonisolated extension Database {
  /// Finds the object with these keys, or makes it.
  ///
  /// Concurrent calls on one database never make two objects. Against other contexts and processes, a
  /// uniqueness constraint on the keys ensures the same: if another writer inserted the object first, the
  /// call returns that object.
  ///
  /// - Parameters:
  ///   - type: The model.
  ///   - keys: What to look for; a new object gets these values.
  ///   - fill: Sets the other values of a new object; not called for one that is there.
  /// - Returns: The object's handle, and whether it is new.
  /// - Throws: what the closure and the save throw; ``DatabaseError`` with code `.duplicateKey` when several
  ///   objects have the keys.
  @discardableResult
  public func getOrCreate<Item: PersistentEntity>(
    _ type: Item.Type, _ keys: UniqueKey<Item>..., fill: @escaping @Sendable (Item) throws -> Void = { _ in }
  ) async throws -> (handle: ModelHandle<Item>, isNew: Bool) {
    checkPrecondition(!keys.isEmpty, "getOrCreate needs a key to look for: .key(\\.name, \"…\").")
    let answer = try await run(
      .transaction("getOrCreate", type) { [keys] context in
        try context.getOrCreate(keys, fill)
      })
    return (answer.handle, answer.isNew)
  }
}

/// A tuple is no operation's value in every compiler's eyes; this is.
private nonisolated struct Found<Item: PersistentEntity>: Sendable {
  var handle: ModelHandle<Item>
  var isNew: Bool
}

extension NSManagedObjectContext {
  fileprivate nonisolated func getOrCreate<Item>(
    _ keys: [UniqueKey<Item>], _ fill: (Item) throws -> Void
  ) throws -> Found<Item> {
    if let found = try find(keys) { return Found(handle: found, isNew: false) }
    let item = try insertNewObject(of: Item.self)
    for key in keys { key.assign(item) }
    try fill(item)
    do {
      try save()
    } catch let error as ManagedObjectError where error.code == .uniquenessConflict {
      rollback()
      // Another property may be the one that is not unique: then nothing is found and the error stands.
      guard let found = try find(keys) else { throw error }
      return Found(handle: found, isNew: false)
    }
    return Found(handle: try item.handle, isNew: true)
  }

  private nonisolated func find<Item>(_ keys: [UniqueKey<Item>]) throws -> ModelHandle<Item>? {
    let predicate = NSCompoundPredicate(andPredicateWithSubpredicates: try keys.map { try $0.predicate() })
    var descriptor = FetchDescriptor<Item>(predicate: predicate)
    descriptor.fetchLimit = 2
    let found = try fetchHandles(descriptor)
    guard found.count < 2 else {
      throw DatabaseError(
        .duplicateKey,
        "Several objects of \(Item.self) have the same \(keys.compactMap(\.name).joined(separator: ", ")). Give "
          + "the entity a uniqueness constraint, after deleting what is there twice.", entity: "\(Item.self)")
    }
    return found.first
  }
}
