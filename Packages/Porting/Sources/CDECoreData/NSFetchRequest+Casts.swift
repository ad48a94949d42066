infix operator ~!> : CastingPrecedence
infix operator ~?> : CastingPrecedence

/// What `request as! NSFetchRequest<Item>` becomes in rewritten sources.
///
/// Swift's own cast fails between two types of a generic class. The request itself has the same layout for all results.
public func ~!> <Result>(request: Any, type: NSFetchRequest<Result>.Type) -> NSFetchRequest<Result> {
  guard let cast = request ~?> type else {
    fatalError("\(Swift.type(of: request)) is no fetch request and can't be cast to \(type).")
  }
  return cast
}

/// The same for a request that other code gave as an optional, such as a template of a model.
public func ~!> <Source, Result>(
  request: NSFetchRequest<Source>?, type: NSFetchRequest<Result>.Type
) -> NSFetchRequest<Result> {
  guard let request else { fatalError("There is no fetch request to cast to \(type).") }
  return request as Any ~!> type
}

/// What `request as? NSFetchRequest<Item>` becomes in rewritten sources; nil for what is no fetch request.
public func ~?> <Result>(request: Any, type: NSFetchRequest<Result>.Type) -> NSFetchRequest<Result>? {
  if let same = request as? NSFetchRequest<Result> { return same }
  guard let object = request as? NSPersistentStoreRequest,
    String(describing: Swift.type(of: object)).hasPrefix("NSFetchRequest<")
  else { return nil }
  // The cast functions of Swift check the type of the result, which differs on purpose.
  return Unmanaged.fromOpaque(Unmanaged.passUnretained(object).toOpaque()).takeUnretainedValue()
}

/// The same for a request that other code gave as an optional.
public func ~?> <Source, Result>(
  request: NSFetchRequest<Source>?, type: NSFetchRequest<Result>.Type
) -> NSFetchRequest<Result>? {
  request.flatMap { $0 as Any ~?> type }
}

// A request that was cast keeps its own result type, in which it makes its results. A class is as wide as another one; a protocol's value is
// wider, so results of that type are converted one by one.

extension NSManagedObjectContext {
  /// Fetches objects, IDs, their number or dictionaries, for a request whose results have no type.
  ///
  /// - Throws: `ManagedObjectError`: unknown entity, a predicate that can't be translated, or a store error.
  public func fetch(_ request: NSFetchRequest<any NSFetchRequestResult>) throws -> [any NSFetchRequestResult]
  {
    try _cdFetch(request).compactMap { $0 as? any NSFetchRequestResult }
  }
}

extension NSFetchRequest {
  fileprivate func untyped() throws -> [Any] { try execute() }
}

extension NSFetchRequest where ResultType == any NSFetchRequestResult {
  /// Fetches in the context whose block runs.
  ///
  /// - Throws: `ManagedObjectError`, as a fetch of the context does.
  public func execute() throws -> [any NSFetchRequestResult] {
    try untyped().compactMap { $0 as? any NSFetchRequestResult }
  }
}
