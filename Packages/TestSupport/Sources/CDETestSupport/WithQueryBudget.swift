public import CDEModelRuntime
internal import CDEManagedModel

/// Runs a closure that may ask a container's store only so often.
///
/// A fetch, a count, a fault that fires, a relationship that is loaded, a step of prefetching and a batch
/// request count one each, however many rows they look up and however many statements the store runs for them.
/// Saves do not count, nor does what the store does for itself. All other requests to the container's store
/// meanwhile count, whichever code makes them.
///
/// ```swift
/// try await withQueryBudget(2, container) {
///   _ = try await library.titles()
/// }
/// ```
///
/// - Parameters:
///   - limit: How many are allowed.
///   - container: One that records, see ``StoreActivity``.
///   - body: What is counted. When it throws, its error is thrown and the budget does not matter.
/// - Returns: What the closure returns.
/// - Throws: ``TestSupportError`` with code `.queryBudget`, which lists the statements, or `.notRecorded`.
nonisolated(nonsending)
  public func withQueryBudget<Value>(
    _ limit: Int, _ container: NSPersistentContainer,
    _ body: nonisolated(nonsending) () async throws -> Value
  ) async throws -> Value
{
  let watch = try StoreWatch(container)
  let value = try await body()
  if let error = watch.overBudget(limit) { throw error }
  return value
}

/// Runs a closure that may ask a container's store only so often, such as within `perform`; see the
/// asynchronous form.
nonisolated public func withQueryBudget<Value>(
  _ limit: Int, _ container: NSPersistentContainer, _ body: () throws -> Value
) throws -> Value {
  let watch = try StoreWatch(container)
  let value = try body()
  if let error = watch.overBudget(limit) { throw error }
  return value
}

/// Runs a closure in which faults must not fire one by one.
///
/// A fault fires by itself when a property of one object is read whose row, or whose to-many relationship, has
/// not been loaded. Those that a fetch loads or prefetches together are none of that.
///
/// - Parameters:
///   - container: One that records, see ``StoreActivity``.
///   - limit: How many faults of each entity, and loads of each relationship, are allowed.
///   - body: What is watched. When it throws, its error is thrown and the rule does not matter.
/// - Returns: What the closure returns.
/// - Throws: ``TestSupportError`` with code `.singleFaults`, which names entities and relationships and says what
///   to do, or `.notRecorded`.
nonisolated(nonsending)
  public func withStrictFaulting<Value>(
    _ container: NSPersistentContainer, allowing limit: Int = 1,
    _ body: nonisolated(nonsending) () async throws -> Value
  ) async throws -> Value
{
  let watch = try StoreWatch(container)
  let value = try await body()
  if let error = watch.singleFaults(allowing: limit) { throw error }
  return value
}

/// Runs a closure in which faults must not fire one by one, such as within `perform`; see the asynchronous
/// form.
nonisolated public func withStrictFaulting<Value>(
  _ container: NSPersistentContainer, allowing limit: Int = 1, _ body: () throws -> Value
) throws -> Value {
  let watch = try StoreWatch(container)
  let value = try body()
  if let error = watch.singleFaults(allowing: limit) { throw error }
  return value
}
