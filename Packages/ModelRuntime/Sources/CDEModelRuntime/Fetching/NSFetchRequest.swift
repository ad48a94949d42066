public import CDEManagedModel
@_spi(CDE) internal import CDEPredicates
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
  /// Dictionaries with the values of ``NSFetchRequest/propertiesToFetch``, computed in the store.
  public static let dictionaryResultType = NSFetchRequestResultType(rawValue: 2)
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
  ///
  /// A compound that Foundation made is kept as an equal `TreeCompoundPredicate`, which prints as its condition.
  open var predicate: NSPredicate? { didSet { predicate = predicate?.printable } }
  /// The order of the objects; nil for any order.
  open var sortDescriptors: [NSSortDescriptor]?
  /// The maximum number of objects; 0 for all.
  open var fetchLimit = 0
  /// The number of objects to skip at the start of the order.
  open var fetchOffset = 0
  /// The number of objects whose rows are read together; 0 for all at once.
  ///
  /// With a batch size the fetch reads keys alone, in their order, and its objects are faults. The first use of one
  /// reads the rows of its batch. Rows of objects that are kept stay in memory; the context's
  /// ``NSManagedObjectContext/stream(_:batchSize:)`` keeps none. Without an effect if
  /// ``returnsObjectsAsFaults`` is false, the limit is not greater, or objects are refreshed. The context remembers the
  /// batches of its last four such results.
  open var fetchBatchSize = 0
  /// The result of the fetch: by default the objects, otherwise their IDs, their number or dictionaries with some
  /// of their values. The fetch throws if the result is no `ResultType`.
  open var resultType: NSFetchRequestResultType = .managedObjectResultType
  /// Whether objects of sub-entities are included; true by default.
  open var includesSubentities = true
  /// Whether the context's unsaved changes are included; true by default. Dictionaries never include them, as in
  /// Core Data.
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
  /// The values of each dictionary of a request with ``NSFetchRequestResultType/dictionaryResultType``; nil for all
  /// attributes. Other requests ignore it.
  ///
  /// Names of attributes, of elements of composite attributes and of to-one relationships, key paths over to-one
  /// relationships such as `"author.name"`, `"objectID"`, collection operators such as `"tags.@count"`, the
  /// descriptions of properties, and `NSExpressionDescription`s. The name is the key in the dictionary.
  open var propertiesToFetch: [Any]?
  /// The values that are equal for the objects of a group, as names or descriptions. Each group gives one
  /// dictionary, and ``propertiesToFetch`` may have only these values and aggregates.
  open var propertiesToGroupBy: [Any]?
  /// The condition for groups. It is made of grouped values, aggregates and the names of expressions to fetch, each
  /// as a key or as a variable: `$total > 100`.
  open var havingPredicate: NSPredicate? { didSet { havingPredicate = havingPredicate?.printable } }
  /// Whether equal dictionaries are returned once; false by default. The order may then only use fetched values.
  /// Objects and their IDs are always distinct.
  open var returnsDistinctResults = false
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
  open var entity: NSEntityDescription? {
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

  /// The entity, if it was given as a description and is not found by its name.
  @_spi(CDE) open var _givenEntity: NSEntityDescription? { givenEntity }

  /// Notes the entity that a fetch found by its name.
  @_spi(CDE) open func _note(found description: NSEntityDescription) {
    foundEntity.withLock { if $0 !== description { $0 = description } }
  }

  /// The entity, the condition and the order, as Core Data prints them.
  open override var description: String {
    let order = sortDescriptors.map { $0.map(\.description).joined(separator: ", ") }
    return "<NSFetchRequest> (entity: \(entityName ?? "(null)"); "
      + "predicate: (\(predicate?.canonicalFormat ?? "(null)")); sortDescriptors: (\(order ?? "(null)"));)"
  }

  open override func copy() -> Any {
    let copy = NSFetchRequest<ResultType>()
    copy.entityName = entityName
    copy.givenEntity = _givenEntity
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
    copy.propertiesToFetch = propertiesToFetch
    copy.propertiesToGroupBy = propertiesToGroupBy
    copy.havingPredicate = havingPredicate
    copy.returnsDistinctResults = returnsDistinctResults
    return copy
  }

  /// The request without its result type, with names resolved in a model.
  func plan(of model: ModelBinding) throws -> FetchPlan {
    let binding: EntityBinding?
    if let given = _givenEntity {
      binding = model.binding(for: given) ?? given.name.flatMap(model.entity(named:))
    } else {
      binding = entityName.flatMap(model.entity(named:))
    }
    guard let binding else {
      throw ManagedObjectError(
        .unknownEntity,
        "The model has no entity named \"\(entityName ?? "")\". \(Spelling.hint(entityName ?? "", model.entities.map(\.name)))",
        entity: entityName)
    }
    if _givenEntity == nil { _note(found: binding.description) }
    if let type = ResultType.self as? NSManagedObject.Type, type != NSManagedObject.self {
      ManagedObjectClasses.register(type)
    }
    var plan = FetchPlan(binding: binding)
    do {
      plan.predicate = try predicate?.predicateTree() ?? .constant(true)
      plan.sort = try (sortDescriptors ?? []).map { try SortTerm($0) }
      if resultType == .dictionaryResultType {
        plan.dictionaries = DictionaryResults(
          properties: propertiesToFetch, groups: propertiesToGroupBy ?? [],
          having: try havingPredicate?.predicateTree(), isDistinct: returnsDistinctResults)
      }
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
    let isPaged =
      returnsObjectsAsFaults && !shouldRefreshRefetchedObjects && resultType == .managedObjectResultType
    if fetchBatchSize > 0, isPaged, fetchLimit <= 0 || fetchLimit > fetchBatchSize {
      plan.batchSize = fetchBatchSize
      plan.keysOnly = true
    }
    plan.realizesFaults = !returnsObjectsAsFaults
    plan.refreshes = shouldRefreshRefetchedObjects
    plan.prefetch = relationshipKeyPathsForPrefetching ?? []
    plan.stores = affectedStores
    return plan
  }
}

/// A fetch request of any result type.
@_spi(CDE) public protocol AnyFetchRequest: NSPersistentStoreRequest {
  var entityName: String? { get set }
  var entity: NSEntityDescription? { get set }
  var _givenEntity: NSEntityDescription? { get }
  var predicate: NSPredicate? { get set }
  var sortDescriptors: [NSSortDescriptor]? { get set }
  var fetchLimit: Int { get set }
  var fetchOffset: Int { get set }
  var fetchBatchSize: Int { get set }
  var resultType: NSFetchRequestResultType { get set }
  var includesSubentities: Bool { get set }
  var includesPendingChanges: Bool { get set }
  var includesPropertyValues: Bool { get set }
  var returnsObjectsAsFaults: Bool { get set }
  var shouldRefreshRefetchedObjects: Bool { get set }
  var relationshipKeyPathsForPrefetching: [String]? { get set }
  var propertiesToFetch: [Any]? { get set }
  var propertiesToGroupBy: [Any]? { get set }
  var havingPredicate: NSPredicate? { get set }
  var returnsDistinctResults: Bool { get set }
  func _note(found description: NSEntityDescription)
}

@_spi(CDE) extension NSFetchRequest: AnyFetchRequest {}
