public import CDEModelRuntime
internal import XCTest

/// Fails unless the stores answer a fetch by an index: no table is read whole, and if there is a condition, a key or a range of an index
/// leads to the rows.
///
/// A server is asked for its plan for tables of many rows, because it reads small tables whole. Nothing is fetched. Call it on the context's
/// isolation.
///
/// - Throws: `ManagedObjectError` for a fetch that the stores can't answer.
public func assertUsesIndex<ResultType>(
  _ request: NSFetchRequest<ResultType>, in context: NSManagedObjectContext, file: StaticString = #filePath,
  line: UInt = #line
) throws {
  let explanation = try context.explain(request, prefersIndexes: true)
  if explanation.usesIndex { return }
  XCTFail("The fetch of \(explanation.entity) uses no index:\n\(explanation)", file: file, line: line)
}
