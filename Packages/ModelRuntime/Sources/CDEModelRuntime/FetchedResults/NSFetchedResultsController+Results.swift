public import Foundation

// What delegates see. The members of the class would return values of another layout: a controller of items returns items.
// These call members that the compiler finds by the class of the controller.
extension NSFetchedResultsController where ResultType == any NSFetchRequestResult {
  /// The objects in order; nil before ``performFetch()``.
  public var fetchedObjects: [any NSFetchRequestResult]? { _results }

  /// The object at a place.
  ///
  /// - Precondition: the result has the place.
  public func object(at indexPath: IndexPath) -> any NSFetchRequestResult { _result(at: indexPath) }

  /// The place of an object; nil if the result does not contain it.
  public func indexPath(forObject object: any NSFetchRequestResult) -> IndexPath? {
    _indexPath(ofResult: object)
  }
}
