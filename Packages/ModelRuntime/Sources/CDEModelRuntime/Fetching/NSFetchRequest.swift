public import CDEManagedModel
internal import CDEPredicates
internal import CDEStore
@_spi(CDE) internal import CDEExecutors
public import Foundation

/// A type that a fetch can return.
public protocol NSFetchRequestResult {}

extension NSManagedObject: NSFetchRequestResult {}
extension NSManagedObjectID: NSFetchRequestResult {}
extension NSNumber: NSFetchRequestResult {}
extension NSDictionary: NSFetchRequestResult {}

/// The kind of result of a fetch.
public struct NSFetchRequestResultType: OptionSet, Sendable {
  public let rawValue: UInt
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// The objects themselves. This is the default.
  public static let managedObjectResultType: NSFetchRequestResultType = []
  /// The objects' IDs. The rows' values are not read.
  public static let managedObjectIDResultType = NSFetchRequestResultType(rawValue: 1)
  /// One `NSNumber`: the number of objects.
  public static let countResultType = NSFetchRequestResultType(rawValue: 4)
}

/// A request to a coordinator.
nonisolated open class NSPersistentStoreRequest: NSObject, @unchecked Sendable {
  // Guard: configured by one owner, afterwards only read.

  /// The stores that the request applies to; nil for all.
  ///
  /// An entity's objects are in one store. A request that names other stores finds and changes nothing, but a
  /// batch insertion throws. A store of another coordinator causes an error.
  open var affectedStores: [NSPersistentStore]?
}

/// The objects to fetch, their order and other options.
///
/// Configure it in one place. Afterwards isolations may share it, because fetching only reads it.
///
/// ```swift
/// let request = NSFetchRequest<Item>(entityName: "Item")
/// request.predicate = NSPredicate(format: "title BEGINSWITH %@", "A")
/// request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
/// let items = try context.fetch(request)
/// ```
nonisolated open class NSFetchRequest<ResultType>: NSPersistentStoreRequest, @unchecked Sendable {
  // Guard: configured by one owner, afterwards only read.

  /// Name of the entity to fetch.
  open var entityName: String?
  private var givenEntity: NSEntityDescription?
  /// The condition for the objects; nil for all.
  open var predicate: NSPredicate?
  /// The order of the objects; nil for any order.
  open var sortDescriptors: [NSSortDescriptor]?
  /// The maximum number of objects; 0 for all.
  open var fetchLimit = 0
  /// The number of objects to skip at the start of the order.
  open var fetchOffset = 0
  /// A hint only. The store selects the size of its batches, and values are decoded when they are read.
  open var fetchBatchSize = 0
  /// The result of the fetch: by default the objects, otherwise their IDs or their number. The fetch throws
  /// if the result is no `ResultType`.
  open var resultType: NSFetchRequestResultType = .managedObjectResultType
  /// Whether objects of sub-entities are included; true by default.
  open var includesSubentities = true
  /// Whether the context's unsaved changes are included; true by default.
  open var includesPendingChanges = true
  /// Whether values are read with the keys; true by default. Otherwise the objects are faults.
  open var includesPropertyValues = true
  /// Whether objects may be faults although their rows were read; true by default. With false no object of
  /// the result is a fault.
  open var returnsObjectsAsFaults = true
  /// Whether unchanged registered objects take the values just read; false by default.
  open var shouldRefreshRefetchedObjects = false
  /// Relationships to load with the result, in one query for each step of a path.
  open var relationshipKeyPathsForPrefetching: [String]?
  public override init() { super.init() }

  /// Makes a request for all objects of an entity. The entity is found by its name in the model of the
  /// fetching context.
  public init(entityName: String) {
    self.entityName = entityName
    super.init()
    if let type = ResultType.self as? NSManagedObject.Type { ManagedObjectClasses.register(type) }
  }

  /// The entity that a fetch found by its name. Protected by a lock, because several contexts may share the
  /// request.
  private let foundEntity = Lock<NSEntityDescription?>(nil)

  /// The entity: the given description, or the entity found by its name in the model of the last fetching
  /// context.
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

  /// The request without its result type, with names resolved in a model.
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
