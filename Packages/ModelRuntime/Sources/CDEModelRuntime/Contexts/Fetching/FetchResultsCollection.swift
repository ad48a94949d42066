/// The objects of a fetch, in its order. Their rows are read in batches, when an object of a batch is used.
///
/// ```swift
/// let entries = try context.fetch(request, batchSize: 100)
/// let last = entries[entries.count - 1]
/// for entry in entries { print(entry.title) }
/// ```
///
/// The collection has the key of each object, 8 bytes, and keeps the objects of the last four batches that
/// were used. Other objects are freed unless something else keeps them, so memory does not grow with the
/// number of objects that are read. An array keeps all of its objects.
///
/// The members and their order are those of the moment of the fetch. Values are those of the moment when the
/// batch is read. The row of an object may have been deleted since. Such an object is a fault without a row,
/// whose values are the declared defaults, like an object in an array whose row has been deleted.
///
/// Use it on its context's isolation, as the objects. Copies share the batches.
///
/// SwiftData's `FetchResultsCollection` is the model. Core Data's array of a request with a `fetchBatchSize`
/// does the same.
public struct FetchResultsCollection<Element: NSManagedObject>: RandomAccessCollection {
  private let batches: FetchedBatches

  init(_ batches: FetchedBatches) { self.batches = batches }

  public var startIndex: Int { 0 }
  public var endIndex: Int { batches.count }

  /// The object at a position. Reads the rows of its batch unless it is among the last four.
  ///
  /// If the rows can't be read, the object is a fault, whose next use reads again. As with any fault that
  /// can't be read, the failure is reported and the next save that depends on it throws.
  ///
  /// - Precondition: the position is an index of the collection, and the context's isolation is current.
  public subscript(position: Int) -> Element {
    // The fetch has checked the classes of the entity and its sub-entities.
    unsafeDowncast(batches.object(at: position), to: Element.self)
  }
}

@available(*, unavailable, message: "The objects of a collection belong to their context's isolation.")
extension FetchResultsCollection: Sendable {}

extension NSManagedObjectContext {
  /// Fetches objects as a collection that reads them in batches, and keeps few of them.
  ///
  /// The fetch reads the keys of all objects in their order. With unsaved changes in the context, it also makes
  /// an object for each of them, and frees it again.
  ///
  /// - Parameters:
  ///   - request: the fetch. Its result is objects. ``NSFetchRequest/relationshipKeyPathsForPrefetching`` and
  ///     ``NSFetchRequest/shouldRefreshRefetchedObjects`` apply to each batch when it is read.
  ///   - batchSize: the number of objects that are read together, at least one.
  /// - Throws: the errors of ``fetch(_:)-(NSFetchRequest<ResultType>)``, and ``ManagedObjectError`` with code
  ///   `.unsupportedRequest` if the request's result is not objects.
  public func fetch<Object: NSManagedObject>(
    _ request: NSFetchRequest<Object>, batchSize: Int
  ) throws -> FetchResultsCollection<Object> {
    try reportingNSErrors {
      preconditionIsolated("fetch(_:batchSize:)")
      let plan = try request.plan(in: self)
      guard request.resultType == .managedObjectResultType else {
        throw ManagedObjectError(
          .unsupportedRequest,
          "A fetch in batches yields objects. Set the resultType of the request for \(plan.binding.name) to "
            + ".managedObjectResultType, or call fetch(_:).", entity: plan.binding.name)
      }
      return FetchResultsCollection(try batches(of: plan, holding: Object.self, size: batchSize))
    }
  }

  func batches<Object: NSManagedObject>(
    of plan: FetchPlan, holding type: Object.Type, size: Int
  ) throws -> FetchedBatches {
    if plan.limit == 0 { return FetchedBatches(self, plan, size) }
    // An object of another class may be in the result and stay registered.
    let isSure =
      classesMatch(type, plan)
      && (!hasOtherClasses
        || registry.all().allSatisfy { !plan.entities.contains($0._binding.index) || $0 is Object })
    guard type == NSManagedObject.self || isSure else {
      throw ManagedObjectError(
        .unsupportedRequest,
        "A fetch of \(plan.binding.name) can yield objects that are not \(type). Correct the request's type or "
          + "the entity's managedObjectClassName.", entity: plan.binding.name)
    }
    let batches = FetchedBatches(self, plan, size)
    try batches.fetch()
    return batches
  }
}
