internal import CDEPredicates
@_spi(CDE) public import CDEModelRuntime
public import Foundation

/// What a synchronisation did.
public nonisolated struct SynchronizationReport<Item: PersistentEntity>: Sendable, Hashable {
  /// New objects, in the order of the incoming values.
  public internal(set) var inserted: [ModelHandle<Item>] = []
  /// Objects that were there and had other values.
  public internal(set) var updated: [ModelHandle<Item>] = []
  /// Objects that no incoming value stands for; gone now.
  public internal(set) var deleted: [ModelHandle<Item>] = []
  /// How many objects had the incoming values already.
  public internal(set) var unchanged = 0

  /// Whether nothing had to be done.
  public var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }
}

/// Which objects a synchronisation deletes.
public nonisolated enum SynchronizationDeletion<Item: PersistentEntity>: Sendable {
  /// None: incoming values are added and updated only.
  case nothing
  /// All objects of the model that no incoming value stands for.
  case missing
  /// Those for which a predicate holds and no incoming value stands for.
  case missingWhere(Predicate<Item>)
}

nonisolated extension Database {
  /// Makes the stored objects agree with incoming values, in one transaction: inserts, updates, deletes.
  ///
  /// ```swift
  /// let report = try await database.synchronize(
  ///   City.self, with: downloaded, key: \.code, from: { $0.code }, deleting: .missing
  /// ) { city, value in
  ///   city.name = value.name
  /// }
  /// ```
  ///
  /// An object counts as updated, and is written, only if the closure gave a property another value.
  ///
  /// - Parameters:
  ///   - type: The model.
  ///   - incoming: The values, each with a key of its own.
  ///   - key: The property that holds the key. New objects get it.
  ///   - incomingKey: The key of a value.
  ///   - deletion: Which objects without an incoming value go; none unless asked for.
  ///   - apply: Gives an object the values, on its context's isolation.
  /// - Throws: ``DatabaseError`` with code `.duplicateKey` when two values or two objects share a key; what
  ///   the closures and the save throw. Nothing is changed then.
  @discardableResult
  public func synchronize<Item, Incoming, Key: Hashable & Sendable>(
    _ type: Item.Type, with incoming: [Incoming], key: ReferenceWritableKeyPath<Item, Key> & Sendable,
    from incomingKey: @escaping @Sendable (Incoming) -> Key,
    deleting deletion: SynchronizationDeletion<Item> = .nothing,
    apply: @escaping @Sendable (Item, Incoming) throws -> Void
  ) async throws -> SynchronizationReport<Item> where Item: PersistentEntity, Incoming: Sendable {
    try await run(
      .inserting("synchronize", type) { context in
        let difference = Synchronization(context: context, key: key, incomingKey: incomingKey)
        return try difference.run(incoming, deletion, apply)
      })
  }
}

private nonisolated struct Synchronization<Item: PersistentEntity, Incoming, Key: Hashable & Sendable> {
  let context: NSManagedObjectContext
  let key: ReferenceWritableKeyPath<Item, Key>
  let incomingKey: (Incoming) -> Key

  func run(
    _ incoming: [Incoming], _ deletion: SynchronizationDeletion<Item>,
    _ apply: (Item, Incoming) throws -> Void
  ) throws -> (() throws -> SynchronizationReport<Item>) {
    let keys = incoming.map(incomingKey)
    if Set(keys).count < keys.count { throw duplicate("Two incoming values have") }
    var report = SynchronizationReport<Item>()
    var stored = try storedObjects(keys)
    try delete(deletion, except: Set(keys), &report)
    var inserted: [Item] = []
    for (value, key) in zip(incoming, keys) {
      if let item = stored.removeValue(forKey: key) {
        let before = try item.snapshot()
        try apply(item, value)
        let hasSameValues = try !item.hasPersistentChangedValues || item.snapshot() == before
        if hasSameValues, !hasChangedMembers(item) {
          report.unchanged += 1
          if item.hasChanges { context.refresh(item, mergeChanges: false) }
        } else {
          report.updated.append(try item.handle)
        }
      } else {
        let item = try context.insertNewObject(of: Item.self)
        item[keyPath: self.key] = key
        try apply(item, value)
        inserted.append(item)
      }
    }
    return { [report, inserted] in
      var report = report
      report.inserted = try inserted.map { try $0.handle }
      return report
    }
  }

  /// To-many relationships are no part of a snapshot.
  private func hasChangedMembers(_ item: Item) -> Bool {
    item.changedValues().keys.contains { item.entity.relationshipsByName[$0]?.isToMany == true }
  }

  private func storedObjects(_ keys: [Key]) throws -> [Key: Item] {
    guard let name = Item.predicateKey(for: key) else {
      throw DatabaseError(
        .unknownKey, "The key of \(Item.self) is none of its persisted properties. Name a stored property.",
        entity: "\(Item.self)")
    }
    var found: [Key: Item] = [:]
    var start = 0
    while start < keys.count {
      let part = keys[start..<min(start + Self.keysInOneQuery, keys.count)]
      let predicate = NSPredicate(format: "%K IN %@", argumentArray: [name, part.map(Self.plain)])
      for item in try context.fetch(FetchDescriptor<Item>(predicate: predicate)) {
        if found.updateValue(item, forKey: item[keyPath: key]) != nil { throw duplicate("Two objects have") }
      }
      start += part.count
    }
    return found
  }

  // Well below what SQLite allows in one statement.
  private static var keysInOneQuery: Int { 500 }

  private static func plain(_ key: Key) -> Any { (key as? any RawRepresentable)?.rawValue ?? key }

  private func delete(
    _ deletion: SynchronizationDeletion<Item>, except keys: Set<Key>,
    _ report: inout SynchronizationReport<Item>
  ) throws {
    var descriptor = FetchDescriptor<Item>()
    switch deletion {
    case .nothing: return
    case .missing: break
    case .missingWhere(let predicate): descriptor.predicate = predicate
    }
    for item in try context.fetch(descriptor) where !keys.contains(item[keyPath: key]) && !item.isDeleted {
      report.deleted.append(try item.handle)
      context.delete(item)
    }
  }

  private func duplicate(_ what: String) -> DatabaseError {
    DatabaseError(
      .duplicateKey,
      "\(what) the same \(Item.predicateKey(for: key) ?? "key"), so it can't be said which belongs to which. Nothing "
        + "was changed.", entity: "\(Item.self)")
  }
}
