@_spi(CDE) internal import CDEStore

extension NSPersistentStoreCoordinator {
  /// Makes sure that a store can be added beside those that hold some of its entities.
  ///
  /// - Throws: ``ManagedObjectError`` if the same store holds the entities already, or a key is outside the range that each of
  ///   several stores has.
  func requireRoom(for opened: any Store, beside present: [(root: EntityIndex, handle: StoreHandle)]) throws {
    if let (root, _) = present.first(where: { $0.handle.identifier == opened.identifier }) {
      throw ManagedObjectError(
        .unsupportedRequest,
        "The store \(opened.identifier), which has \(modelBinding.entities[root].name), is loaded in this coordinator already. "
          + "Remove it first, or use another coordinator.", entity: modelBinding.entities[root].name)
    }
    for (root, handle) in present {
      try requireRange(handle.engine, root)
      try requireRange(opened, root)
    }
  }

  private func requireRange(_ store: any Store, _ root: EntityIndex) throws {
    let last = StoreSort(.path(StorePath(end: .object)), isAscending: false)
    let query = StoreQuery(entity: root, sort: [last], limit: 1, keysOnly: true)
    do throws(StoreError) {
      for entry in try store.fetch(query, isKnown: nil).order ?? [] {
        _ = try KeyShift(ordinal: 0).shifted(entry.key)
      }
    } catch {
      throw ManagedObjectError(
        .store, error.message, cause: error, entity: modelBinding.entities[root].name)
    }
  }
}
