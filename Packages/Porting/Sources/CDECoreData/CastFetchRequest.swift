@_spi(CDE) internal import CDEModelRuntime
import Foundation

/// A request with the results of another type. Everything that it says is what the request says that was cast, and changes are made there.
///
/// Swift makes the results of the type that an object has, not of the type of the variable. So a cast has to be an object of its own.
final class CastFetchRequest<ResultType>: NSFetchRequest<ResultType>, @unchecked Sendable {
  // Guard: as the request that was cast.

  let original: any AnyFetchRequest

  init(_ original: any AnyFetchRequest) {
    self.original = original
    super.init()
  }

  override var affectedStores: [NSPersistentStore]? {
    get { original.affectedStores }
    set { original.affectedStores = newValue }
  }
  override var entityName: String? {
    get { original.entityName }
    set { original.entityName = newValue }
  }
  override var entity: NSEntityDescription? {
    get { original.entity }
    set { original.entity = newValue }
  }
  override var _givenEntity: NSEntityDescription? { original._givenEntity }
  override var predicate: NSPredicate? {
    get { original.predicate }
    set { original.predicate = newValue }
  }
  override var sortDescriptors: [NSSortDescriptor]? {
    get { original.sortDescriptors }
    set { original.sortDescriptors = newValue }
  }
  override var fetchLimit: Int {
    get { original.fetchLimit }
    set { original.fetchLimit = newValue }
  }
  override var fetchOffset: Int {
    get { original.fetchOffset }
    set { original.fetchOffset = newValue }
  }
  override var fetchBatchSize: Int {
    get { original.fetchBatchSize }
    set { original.fetchBatchSize = newValue }
  }
  override var resultType: NSFetchRequestResultType {
    get { original.resultType }
    set { original.resultType = newValue }
  }
  override var includesSubentities: Bool {
    get { original.includesSubentities }
    set { original.includesSubentities = newValue }
  }
  override var includesPendingChanges: Bool {
    get { original.includesPendingChanges }
    set { original.includesPendingChanges = newValue }
  }
  override var includesPropertyValues: Bool {
    get { original.includesPropertyValues }
    set { original.includesPropertyValues = newValue }
  }
  override var returnsObjectsAsFaults: Bool {
    get { original.returnsObjectsAsFaults }
    set { original.returnsObjectsAsFaults = newValue }
  }
  override var shouldRefreshRefetchedObjects: Bool {
    get { original.shouldRefreshRefetchedObjects }
    set { original.shouldRefreshRefetchedObjects = newValue }
  }
  override var relationshipKeyPathsForPrefetching: [String]? {
    get { original.relationshipKeyPathsForPrefetching }
    set { original.relationshipKeyPathsForPrefetching = newValue }
  }
  override var propertiesToFetch: [Any]? {
    get { original.propertiesToFetch }
    set { original.propertiesToFetch = newValue }
  }
  override var propertiesToGroupBy: [Any]? {
    get { original.propertiesToGroupBy }
    set { original.propertiesToGroupBy = newValue }
  }
  override var havingPredicate: NSPredicate? {
    get { original.havingPredicate }
    set { original.havingPredicate = newValue }
  }
  override var returnsDistinctResults: Bool {
    get { original.returnsDistinctResults }
    set { original.returnsDistinctResults = newValue }
  }

  override func _note(found description: NSEntityDescription) { original._note(found: description) }
}
