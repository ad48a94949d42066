@_spi(CDE) internal import CDEModelRuntime

// Core Data's functions with a type for their results call the functions that subclasses override.
extension NSManagedObjectContext {
  /// Fetches objects, IDs, their number or dictionaries.
  ///
  /// - Throws: `ManagedObjectError`: unknown entity, a predicate that can't be translated, or a store error.
  public func fetch<ResultType>(_ request: NSFetchRequest<ResultType>) throws -> [ResultType] {
    guard Swift.type(of: self) != NSManagedObjectContext.self else { return try typedFetch(request) }
    let results = try _cdFetch(request ~!> NSFetchRequest<any NSFetchRequestResult>.self)
    let typed = results.compactMap { $0 as? ResultType }
    // The fetch of the runtime says which object has another class.
    return typed.count == results.count ? typed : try typedFetch(request)
  }

  /// The number of objects that a fetch would return, without making them where possible.
  ///
  /// - Throws: `ManagedObjectError`, as a fetch does.
  public func count<ResultType>(for request: NSFetchRequest<ResultType>) throws -> Int {
    guard Swift.type(of: self) != NSManagedObjectContext.self else { return try typedCount(request) }
    return try _cdCount(for: request ~!> NSFetchRequest<any NSFetchRequestResult>.self)
  }
}
