@_spi(CDE) internal import CDEModelRuntime

// Core Data's functions with a type for their results call the functions that subclasses override, and their blocks throw any error.
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

  /// Runs a block on the calling thread while nothing else runs on the context. Runs it inline when the caller is already on the context.
  ///
  /// - Throws: what the block throws.
  public func performAndWait<Value>(_ block: () throws -> Value) rethrows -> Value {
    try throwingWhatWorkThrows(block, throwing: { throw $0 })
  }

  private func throwingWhatWorkThrows<Value>(
    _ work: () throws -> Value, throwing: (any Error) throws -> Value
  ) rethrows -> Value {
    var result: Value?
    var failure: (any Error)?
    performAndWait {
      do { result = try work() } catch { failure = error }
    }
    if let failure { return try throwing(failure) }
    return result!
  }
}
