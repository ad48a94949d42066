@_spi(CDE) internal import CDEExecutors
internal import CDEStore

// The stores that objects are in, and those that new objects will be saved to.
extension NSManagedObjectContext {
  /// Chooses the store that a new object will be saved to. As in Core Data.
  ///
  /// Without this call, a new object goes to the first store that holds its entity and can be written, in the order of the
  /// coordinator's `persistentStores`. Another call chooses another store, until the object is saved or gets its permanent ID.
  /// A child context passes the choice on to its parent when it saves.
  ///
  /// - Parameters:
  ///   - object: a managed object of this context. A saved one stays in its store, so only that may be named.
  ///   - store: a store of the context's coordinator that holds the object's entity. Another one traps, as Core Data raises an
  ///     exception for it.
  public func assign(_ object: Any, to store: NSPersistentStore) {
    preconditionIsolated("assign(_:to:)")
    guard let object = object as? NSManagedObject else {
      failPrecondition("assign(_:to:) takes a managed object, not \(type(of: object)).")
    }
    let binding = object._binding
    let name = store.url?.lastPathComponent ?? store.identifier
    let holders = persistentStoreCoordinator?.handles(for: binding) ?? []
    guard holders.contains(where: { $0 === store.handle }) else {
      let others = holders.compactMap { $0.persistentStore?.url?.lastPathComponent }.joined(separator: ", ")
      failPrecondition(
        "\(binding.name) can't be assigned to the store \(name), which does not hold the entity"
          + (others.isEmpty ? "" : "; \(others) does") + ". Put the entity into the store's configuration.")
    }
    if object.hasPermanentKey {
      let home = storeHandle(for: binding, key: object._key)
      checkPrecondition(
        home === store.handle,
        "\(binding.name) \(object.objectID.uriRepresentation().absoluteString) can't be assigned to the store \(name), because "
          + "it is in another one. Insert a new object with its values there, and delete this one.")
      return
    }
    if object.hasTemporaryKey { assignments[object._key] = store.handle }
  }

  /// The store that has an object's row, or will have it; nil if no store holds its entity.
  func homeStore(of object: NSManagedObject) -> StoreHandle? {
    if object.hasPermanentKey { return storeHandle(for: object._binding, key: object._key) }
    return home(ofKey: object._key, object._binding)
  }

  /// The store that the row of a new object will get.
  private func home(ofKey key: Int64, _ binding: EntityBinding) -> StoreHandle? {
    guard let coordinator = persistentStoreCoordinator else { return nil }
    guard coordinator.hasSharedEntities else { return coordinator.handle(for: binding) }
    let holders = coordinator.handles(for: binding)
    if let assigned = assignments[key], holders.contains(where: { $0 === assigned }) { return assigned }
    return holders.first { !$0.engine.isReadOnly } ?? holders.first
  }

  /// Objects by the stores that have their rows, or will have them.
  ///
  /// - Throws: ``ManagedObjectError`` with code `.noStore` if no store holds an object's entity any more.
  func byHome(_ objects: [NSManagedObject]) throws -> [(handle: StoreHandle, objects: [NSManagedObject])] {
    var groups: [(handle: StoreHandle, objects: [NSManagedObject])] = []
    let coordinator = try coordinator()
    for object in objects {
      guard let home = homeStore(of: object) else { throw coordinator.missingStore(of: object._binding) }
      if let index = groups.firstIndex(where: { $0.handle === home }) {
        groups[index].objects.append(object)
      } else {
        groups.append((home, [object]))
      }
    }
    return groups
  }

  /// Forgets the choices for objects that got permanent keys.
  func forgetAssignments(_ keys: [Int64]) {
    if assignments.isEmpty { return }
    for key in keys { assignments[key] = nil }
  }

  /// The other loaded stores.
  func otherStores(than handle: StoreHandle) -> [CommittedTransaction.Part] {
    (persistentStoreCoordinator?.persistentStores ?? []).map(\.handle).filter { $0 !== handle }.map {
      CommittedTransaction.Part(store: $0, asOf: 0)
    }
  }
}
