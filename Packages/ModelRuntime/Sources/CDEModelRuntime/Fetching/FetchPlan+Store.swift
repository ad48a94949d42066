internal import CDEPredicates
internal import CDEStore
internal import Foundation

extension FetchPlan {
  /// Puts the plan to the store that holds its entity. What either can't do comes out as the runtime's error.
  func ask<Answer>(
    _ coordinator: NSPersistentStoreCoordinator, _ ask: (StoreHandle, StoreQuery) throws -> Answer
  ) throws -> Answer {
    let handle = try coordinator.requiredHandle(for: binding)
    do {
      return try ask(handle, try query())
    } catch let error as StoreError {
      throw ManagedObjectError.store(error)
    } catch let error as PredicateTreeError {
      throw ManagedObjectError(
        .predicate, "The fetch of \(binding.name) can't be answered by the store: \(error.message)",
        cause: error,
        entity: binding.name)
    }
  }

  private func query() throws -> StoreQuery {
    let resolver = QueryResolver(schema: binding.model.schema, entity: binding.index) { object in
      guard let id = object.reference as? NSManagedObjectID else {
        throw ManagedObjectError(
          .unsupportedRequest, "A predicate compares with an object that is no managed object.")
      }
      // An object never saved has no row: no key is 0.
      return .reference(entity: id.binding.index, key: max(id.key, 0))
    }
    return StoreQuery(
      entity: binding.index, includesSubentities: includesSubentities,
      filter: try resolver.filter(predicate), sort: try resolver.sort(sort),
      limit: limit, offset: offset, keysOnly: keysOnly)
  }
}
