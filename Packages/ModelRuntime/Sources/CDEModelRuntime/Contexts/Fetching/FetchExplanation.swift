public import CDEStore
internal import Foundation

/// How the stores answer a fetch: their statements, and which of the steps use an index.
public struct FetchExplanation: Sendable, Hashable, CustomStringConvertible {
  /// The entity of the fetch.
  public let entity: String
  /// Whether the fetch has a condition.
  public let hasCondition: Bool
  /// The statements with their plans: one for each store. A store that has no plans has no statement.
  public let statements: [StatementPlan]

  /// The steps that read all rows of a table.
  public var scans: [StatementPlan.Step] { statements.flatMap(\.scans) }

  /// Whether no step reads all rows of a table, and one searches if there is a condition.
  ///
  /// False if no store has plans: custom stores have none.
  public var usesIndex: Bool {
    !statements.isEmpty && scans.isEmpty
      && (!hasCondition || statements.allSatisfy { $0.steps.contains { $0.access == .search } })
  }

  /// The statements, and the steps below each as the engine lists them. Values are not included.
  public var description: String {
    if statements.isEmpty { return "The stores of \(entity) have no plans.\n" }
    return statements.map { statement in
      statement.sql + "\n"
        + statement.steps.map { step in
          String(repeating: "  ", count: step.depth + 1) + (step.access == .scan ? "(all rows) " : "")
            + step.detail + "\n"
        }.joined()
    }.joined()
  }
}

extension NSManagedObjectContext {
  /// How the stores would answer a fetch. Nothing is fetched, and unsaved changes do not matter.
  ///
  /// ```swift
  /// let request = Note.fetchRequest()
  /// request.predicate = NSPredicate(format: "title == %@", "Linux")
  /// print(try context.explain(request))
  /// ```
  ///
  /// - Parameters:
  ///   - request: the fetch.
  ///   - prefersIndexes: whether a server plans as for tables of many rows, also if they have few. SQLite always does.
  /// - Throws: ``ManagedObjectError``, as a fetch does. Use it on the context's isolation.
  public final func explain<ResultType>(
    _ request: NSFetchRequest<ResultType>, prefersIndexes: Bool = false
  ) throws -> FetchExplanation {
    try reportingNSErrors {
      preconditionIsolated("explain(_:)")
      var plan = try request.plan(in: self)
      plan.keysOnly = plan.keysOnly || request.resultType == .managedObjectIDResultType
      let handles = try handles(for: plan) ?? coordinator().handles(for: plan.binding)
      let query = try plan.query()
      var statements: [StatementPlan] = []
      for handle in handles {
        statements += try plan.answering(source()) { _ in
          try handle.store.plans(of: query, prefersIndexes: prefersIndexes)
        }
      }
      return FetchExplanation(
        entity: plan.binding.name, hasCondition: request.predicate != nil, statements: statements)
    }
  }
}

extension NSFetchRequest {
  /// How the stores would answer the fetch in a context; see `NSManagedObjectContext.explain(_:prefersIndexes:)`.
  public func explain(in context: NSManagedObjectContext) throws -> FetchExplanation {
    try context.explain(self)
  }

  /// How the stores would answer the fetch in the context whose block runs, which ``execute()`` finds as well.
  ///
  /// - Throws: ``ManagedObjectError`` with code `.unsupportedRequest` if there is no such context, or more than one.
  public func explain() throws -> FetchExplanation { try currentContext().explain(self) }
}
