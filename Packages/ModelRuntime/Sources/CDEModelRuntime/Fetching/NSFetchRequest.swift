public import CDEManagedModel
internal import CDEPredicates
internal import CDEStore
@_spi(CDE) internal import CDEExecutors
public import Foundation

/// What a fetch can yield.
public protocol NSFetchRequestResult {}

extension NSManagedObject: NSFetchRequestResult {}
extension NSManagedObjectID: NSFetchRequestResult {}
extension NSNumber: NSFetchRequestResult {}
extension NSDictionary: NSFetchRequestResult {}

/// What kind of result a fetch yields.
public struct NSFetchRequestResultType: OptionSet, Sendable {
  public let rawValue: UInt
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// The objects themselves: what a fetch yields unless told otherwise.
  public static let managedObjectResultType: NSFetchRequestResultType = []
  /// The objects' IDs, for which the rows' values are not read.
  public static let managedObjectIDResultType = NSFetchRequestResultType(rawValue: 1)
  /// One `NSNumber`: how many objects there are.
  public static let countResultType = NSFetchRequestResultType(rawValue: 4)
}

/// Anything a coordinator can be asked.
nonisolated open class NSPersistentStoreRequest: NSObject, @unchecked Sendable {
  // Guard: configured by one owner, then only read.

  /// The stores that the request is for; nil for all.
  ///
  /// An entity's objects are in one store: a request that names others finds and changes nothing, and a batch insertion
  /// throws. So does a store of another coordinator.
  open var affectedStores: [NSPersistentStore]?
}

/// Which objects to fetch, in which order, and how.
///
/// Configure it in one place, then share it as you like: fetching only reads it.
///
/// ```swift
/// let request = NSFetchRequest<Item>(entityName: "Item")
/// request.predicate = NSPredicate(format: "title BEGINSWITH %@", "A")
/// request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
/// let items = try context.fetch(request)
/// ```
nonisolated open class NSFetchRequest<ResultType>: NSPersistentStoreRequest, @unchecked Sendable {
  // Guard: configured by one owner, then only read.

  /// Name of the entity to fetch.
  open var entityName: String?
  private var givenEntity: NSEntityDescription?
  /// Which objects; nil for all.
  open var predicate: NSPredicate?
  /// In which order; nil for none in particular.
  open var sortDescriptors: [NSSortDescriptor]?
  /// At most so many objects; 0 for all.
  open var fetchLimit = 0
  /// How many objects of the order to leave out at the start.
  open var fetchOffset = 0
  /// A hint only: rows come in batches of the store's own, and values are decoded when read.
  open var fetchBatchSize = 0
  /// What the fetch yields: the objects at first, else their IDs or their number. A result that is no
  /// `ResultType` makes the fetch throw.
  open var resultType: NSFetchRequestResultType = .managedObjectResultType
  /// Whether objects of sub-entities count; true at first.
  open var includesSubentities = true
  /// Whether unsaved changes of the context count; true at first.
  open var includesPendingChanges = true
  /// Whether the values are read along with the keys; true at first. Without them objects come as faults.
  open var includesPropertyValues = true
  /// Whether objects may come as faults although their rows were read; true at first. With false no
  /// object of the result is a fault.
  open var returnsObjectsAsFaults = true
  /// Whether unchanged registered objects take the values just read; false at first.
  open var shouldRefreshRefetchedObjects = false
  /// Relationships to load along with the result, in one query for each step of a path.
  open var relationshipKeyPathsForPrefetching: [String]?
  public override init() { super.init() }

  /// Makes a request for all objects of an entity, to be found by its name in the model of the context that
  /// fetches.
  public init(entityName: String) {
    self.entityName = entityName
    super.init()
    if let type = ResultType.self as? NSManagedObject.Type { ManagedObjectClasses.register(type) }
  }

  /// The entity that a fetch found by its name. Behind a lock, because several contexts may share the request.
  private let foundEntity = Lock<NSEntityDescription?>(nil)

  /// The entity: given as a description, or found by its name in the model of the context that fetched last.
  public var entity: NSEntityDescription? {
    get {
      if let givenEntity { return givenEntity }
      guard let found = foundEntity.withLock({ $0 }), found.name == entityName else { return nil }
      return found
    }
    set {
      givenEntity = newValue
      entityName = newValue?.name
    }
  }

  open override func copy() -> Any {
    let copy = NSFetchRequest<ResultType>()
    copy.entityName = entityName
    copy.givenEntity = givenEntity
    copy.predicate = predicate
    copy.sortDescriptors = sortDescriptors
    copy.fetchLimit = fetchLimit
    copy.fetchOffset = fetchOffset
    copy.fetchBatchSize = fetchBatchSize
    copy.resultType = resultType
    copy.includesSubentities = includesSubentities
    copy.includesPendingChanges = includesPendingChanges
    copy.includesPropertyValues = includesPropertyValues
    copy.returnsObjectsAsFaults = returnsObjectsAsFaults
    copy.shouldRefreshRefetchedObjects = shouldRefreshRefetchedObjects
    copy.relationshipKeyPathsForPrefetching = relationshipKeyPathsForPrefetching
    copy.affectedStores = affectedStores
    return copy
  }

  /// The request without its result type, in the terms of a model.
  func plan(of model: ModelBinding) throws -> FetchPlan {
    let binding: EntityBinding?
    if let givenEntity {
      binding = model.binding(for: givenEntity) ?? givenEntity.name.flatMap(model.entity(named:))
    } else {
      binding = entityName.flatMap(model.entity(named:))
    }
    guard let binding else {
      throw ManagedObjectError(
        .unknownEntity,
        "The model has no entity named \"\(entityName ?? "")\". \(Spelling.hint(entityName ?? "", model.entities.map(\.name)))",
        entity: entityName)
    }
    if givenEntity == nil {
      let description = binding.description
      foundEntity.withLock { if $0 !== description { $0 = description } }
    }
    if let type = ResultType.self as? NSManagedObject.Type, type != NSManagedObject.self {
      ManagedObjectClasses.register(type)
    }
    var plan = FetchPlan(binding: binding)
    do {
      plan.predicate = try predicate?.predicateTree() ?? .constant(true)
      plan.sort = try (sortDescriptors ?? []).map { try SortTerm($0) }
    } catch {
      throw ManagedObjectError(
        .predicate,
        "The fetch of \(binding.name) can't be used: \((error as? any CDEError)?.message ?? "\(error)")",
        cause: error, entity: binding.name)
    }
    plan.limit = fetchLimit > 0 ? fetchLimit : nil
    plan.offset = max(fetchOffset, 0)
    plan.includesSubentities = includesSubentities
    plan.includesPending = includesPendingChanges
    plan.keysOnly = !includesPropertyValues && returnsObjectsAsFaults
    plan.realizesFaults = !returnsObjectsAsFaults
    plan.refreshes = shouldRefreshRefetchedObjects
    plan.prefetch = relationshipKeyPathsForPrefetching ?? []
    plan.stores = affectedStores
    return plan
  }
}
