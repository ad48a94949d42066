public import CDEModelRuntime
public import Testing

/// Records an issue unless the stores answer a fetch by an index: no table is read whole, and if there is a condition, a key or a range of
/// an index leads to the rows.
///
/// A server is asked for its plan for tables of many rows, because it reads small tables whole. Nothing is fetched. Call it on the context's
/// isolation.
///
/// ```swift
/// @Test func titlesAreFoundByAnIndex() throws {
///   let request = Note.fetchRequest()
///   request.predicate = NSPredicate(format: "title BEGINSWITH %@", "Li")
///   try assertUsesIndex(request, in: context)
/// }
/// ```
///
/// - Throws: `ManagedObjectError` for a fetch that the stores can't answer.
public func assertUsesIndex<ResultType>(
  _ request: NSFetchRequest<ResultType>, in context: NSManagedObjectContext,
  sourceLocation: SourceLocation = #_sourceLocation
) throws {
  let explanation = try context.explain(request, prefersIndexes: true)
  if explanation.usesIndex { return }
  Issue.record(
    "The fetch of \(explanation.entity) uses no index:\n\(explanation)", sourceLocation: sourceLocation)
}
