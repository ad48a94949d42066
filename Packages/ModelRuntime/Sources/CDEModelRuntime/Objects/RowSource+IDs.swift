internal import CDEStore

// IDs may come from another coordinator, which may have opened the same stores in another order.
extension RowSource {
  /// The key that an ID's row has here; nil if the stores of its entity are others.
  ///
  /// - Parameter binding: this source's own binding of the ID's entity.
  func key(of id: NSManagedObjectID, as binding: EntityBinding) -> Int64? {
    guard !id.isTemporaryID, let theirs = id.store else { return id.key }
    // Mostly there is one store.
    if handle(for: binding) === theirs { return id.key }
    let handles = handles(for: binding)
    if handles.isEmpty || handles.contains(where: { $0 === theirs }) { return id.key }
    guard let ours = handles.first(where: { $0.identifier == theirs.identifier }) else { return nil }
    return ours.key(id.ownKey)
  }

  /// An ID in the keys of this source; nil for one of another store.
  func local(_ id: NSManagedObjectID, in model: ModelBinding) -> NSManagedObjectID? {
    guard let binding = model.entity(named: id.binding.name), let key = key(of: id, as: binding) else {
      return nil
    }
    if key == id.key { return id }
    let store = handle(for: binding, key: key)
    return NSManagedObjectID(
      binding: binding, key: key, store: store, origin: id.origin?.moved(by: key - id.key))
  }
}
