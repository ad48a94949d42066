@_spi(CDE) internal import CDEExecutors
internal import CDEStore
internal import Foundation

extension NSManagedObjectContext {
  final func known(_ objectID: NSManagedObjectID) -> NSManagedObject? {
    preconditionIsolated("registeredObject(for:)")
    guard let registry else { return nil }
    if let object = resident(objectID) { return object }
    guard let (binding, key) = localRow(of: objectID) else { return nil }
    return registry.object(root: binding.root, key: key)
  }

  /// The object that an ID was made for in this context. Only the returned reference is counted.
  @inline(__always)
  final func resident(_ objectID: NSManagedObjectID) -> NSManagedObject? {
    home.flatMap { ObjectRegistry.object(of: objectID, in: $0) }
  }

  @inline(never)
  final func lookUp(_ objectID: NSManagedObjectID) -> NSManagedObject {
    guard let registry else { failPrecondition(missingCoordinator.message) }
    if registry.isAtHome(objectID),
      let known = registry.object(root: objectID.binding.root, key: objectID.key)
    {
      return known
    }
    guard let named = entity(of: objectID) else {
      failPrecondition(
        "The model of this context has no entity \(objectID.binding.name), which the object ID names.")
    }
    guard let (binding, key) = localRow(of: objectID) else { return goneObject(named, objectID) }
    if let known = registry.object(root: binding.root, key: key) { return known }
    // The parent may have the object of a temporary ID.
    if objectID.isTemporaryID, parentSource == nil { return goneObject(binding, objectID) }
    // The ID may name an ancestor of the row's entity. Only the row identifies its class.
    return registry.model.schema.entities[binding.index].hasSubentities
      ? objectOfRow(binding, key) : object(entity: binding.index, key: key)
  }

  /// The object for a row of an entity or one of its sub-entities.
  ///
  /// If the row can't be read, its class is unknown. The object returned is then valid for this one call
  /// only: it returns defaults and is never saved. The next look-up queries the store again.
  @inline(never)
  func objectOfRow(_ binding: EntityBinding, _ key: Int64) -> NSManagedObject {
    if let known = registry.object(root: binding.root, key: key) { return known }
    guard let source = rowSource, let handle = source.handle(for: binding, key: key) else {
      return object(entity: binding.index, key: key)
    }
    do {
      guard let row = try source.row(of: binding, key: key) else {
        return object(entity: binding.index, key: key)
      }
      return adopt(FetchedRows(batches: [row.batch]))[row.row]
    } catch {
      let made = goneObject(binding, NSManagedObjectID(binding: binding, key: key, store: handle))
      noteUnread(made, nil, error)
      return made
    }
  }

  final func storedObject(with objectID: NSManagedObjectID) throws -> NSManagedObject {
    preconditionIsolated("existingObject(with:)")
    guard let registry else { throw missingCoordinator }
    func notFound(_ reason: String) -> ManagedObjectError {
      ManagedObjectError(
        .objectNotFound,
        "There is no object \(objectID.uriRepresentation().absoluteString) in this context's stores: \(reason)",
        entity: objectID.binding.name, objectID: objectID)
    }
    guard let named = entity(of: objectID) else {
      throw notFound("its model has no such entity. Use an ID of this container.")
    }
    guard let (binding, key) = localRow(of: objectID) else {
      throw notFound(
        "\(named.name) belongs to another store or container here. Look it up in a context of its own container."
      )
    }
    let known = registry.object(root: binding.root, key: key)
    if let known, known.isRealized {
      return known
    } else if !objectID.isTemporaryID || parentSource != nil, let source = rowSource,
      source.handle(for: binding) != nil
    {
      do {
        if let row = try source.row(of: binding, key: key) {
          if let known {
            known.take(row.batch, row.row)
            releaseRival(known)
            awaken(known)
            return known
          }
          return adopt(FetchedRows(batches: [row.batch]))[row.row]
        }
      } catch {
        throw ManagedObjectError.store(error)
      }
    }
    throw notFound("it was deleted, or never saved.")
  }

  /// The context's own binding of the entity that an ID names.
  private func entity(of objectID: NSManagedObjectID) -> EntityBinding? {
    objectID.binding.model === registry.model
      ? objectID.binding : registry.model.entity(named: objectID.binding.name)
  }

  /// The row that an ID names, with the context's own binding and key; nil for an ID that names no row here. A key identifies a
  /// row of one store only.
  ///
  /// IDs of other containers are valid if these have the same store.
  private func localRow(of objectID: NSManagedObjectID) -> (binding: EntityBinding, key: Int64)? {
    if registry.isAtHome(objectID) { return (objectID.binding, objectID.key) }
    guard let binding = entity(of: objectID) else { return nil }
    if objectID.isTemporaryID { return objectID.binding === binding ? (binding, objectID.key) : nil }
    guard let source = rowSource else { return (binding, objectID.key) }
    return source.key(of: objectID, as: binding).map { (binding, $0) }
  }

  /// Makes an object for an ID without a row. The object has that ID and is registered under a key that no
  /// other object has.
  private func goneObject(_ binding: EntityBinding, _ objectID: NSManagedObjectID) -> NSManagedObject {
    let made = materialize(
      binding, binding.objectClass, key: nextTemporaryKey(), batch: binding.defaults, row: 0,
      flags: baseFlags.union(.gone))
    registry.register(made)
    // The object gets an ID of its own, because the given one may belong to an object of another context.
    made._identity = NSManagedObjectID(
      binding: objectID.binding, key: objectID.key, store: objectID.store)
    return made
  }
}
