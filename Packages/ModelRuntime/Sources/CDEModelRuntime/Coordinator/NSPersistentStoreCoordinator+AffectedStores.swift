internal import Foundation

extension NSPersistentStoreCoordinator {
  /// Those of some stores that hold an entity's objects, in the order in which they were added.
  ///
  /// - Throws: ``ManagedObjectError`` if a store does not belong to the coordinator, or no store has the
  ///   entity.
  func holders(of binding: EntityBinding, among stores: [NSPersistentStore]) throws -> [StoreHandle] {
    _ = try requiredHandle(for: binding)
    let loaded = persistentStores
    for store in stores where !loaded.contains(where: { $0 === store }) {
      throw ManagedObjectError(
        .unsupportedRequest,
        "The request for \(binding.name) names the store \(store.url?.lastPathComponent ?? "in memory"), which its "
          + "coordinator does not have. Name stores out of persistentStores, or leave affectedStores nil.",
        entity: binding.name)
    }
    return handles(for: binding).filter { handle in stores.contains { $0.handle === handle } }
  }
}

extension FetchPlan {
  /// The stores that the request applies to; nil for all that hold the entity. A request may name them.
  func handles(in coordinator: NSPersistentStoreCoordinator) throws -> [StoreHandle]? {
    try stores.map { try coordinator.holders(of: binding, among: $0) }
  }
}
