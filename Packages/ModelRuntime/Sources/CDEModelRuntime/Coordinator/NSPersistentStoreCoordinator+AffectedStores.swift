internal import Foundation

extension NSPersistentStoreCoordinator {
  /// Whether one of some stores holds an entity's objects.
  ///
  /// - Throws: ``ManagedObjectError`` if a store does not belong to the coordinator, or no store has the
  ///   entity.
  func holds(_ binding: EntityBinding, in stores: [NSPersistentStore]) throws -> Bool {
    let handle = try requiredHandle(for: binding)
    let loaded = persistentStores
    for store in stores where !loaded.contains(where: { $0 === store }) {
      throw ManagedObjectError(
        .unsupportedRequest,
        "The request for \(binding.name) names the store \(store.url?.lastPathComponent ?? "in memory"), which its "
          + "coordinator does not have. Name stores out of persistentStores, or leave affectedStores nil.",
        entity: binding.name)
    }
    return stores.contains { $0.handle === handle }
  }
}

extension FetchPlan {
  /// Whether the request applies to the store of the entity. A request may name the stores that it applies
  /// to.
  func isAsked(of coordinator: NSPersistentStoreCoordinator) throws -> Bool {
    try stores.map { try coordinator.holds(binding, in: $0) } ?? true
  }
}
