@_spi(CDE) internal import CDEModelRuntime

infix operator ~!> : CastingPrecedence
infix operator ~?> : CastingPrecedence

/// What `request as! NSFetchRequest<Item>` becomes in rewritten sources.
///
/// Swift's own cast fails between two types of a generic class. The result reads and changes the request that was cast. A cast back gives
/// that request.
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
  guard let any = request as? any AnyFetchRequest else { return nil }
  guard let cast = any as? any AnyCastRequest else { return CastFetchRequest(any) }
  return cast.original as? NSFetchRequest<Result> ?? CastFetchRequest(cast.original)
}

private protocol AnyCastRequest {
  var original: any AnyFetchRequest { get }
}

extension CastFetchRequest: AnyCastRequest {}

/// The same for a request that other code gave as an optional.
public func ~?> <Source, Result>(
  request: NSFetchRequest<Source>?, type: NSFetchRequest<Result>.Type
) -> NSFetchRequest<Result>? {
  request.flatMap { $0 as Any ~?> type }
}

/// The cast that libraries write for Core Data's requests, of which Objective-C knows no result type.
public func unsafeBitCast<Source, Result>(
  _ request: NSFetchRequest<Source>, to type: NSFetchRequest<Result>.Type
) -> NSFetchRequest<Result> {
  request as Any ~!> type
}

/// The cast that libraries write for Core Data's requests, of which Objective-C knows no result type.
public func unsafeDowncast<Source, Result>(
  _ request: NSFetchRequest<Source>, to type: NSFetchRequest<Result>.Type
) -> NSFetchRequest<Result> {
  request as Any ~!> type
}

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
