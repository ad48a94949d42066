public import CDEManagedModel
@_spi(CDE) internal import CDEPredicates
public import Foundation

/// The coordinator's result of a request.
nonisolated open class NSPersistentStoreResult: NSObject {}

/// The kinds of results of a batch update.
public enum NSBatchUpdateRequestResultType: UInt, Sendable {
  /// `true`, as an `NSNumber`.
  case statusOnlyResultType = 0
  /// The IDs of the updated objects.
  case updatedObjectIDsResultType = 1
  /// The number of updated objects, as an `NSNumber`.
  case updatedObjectsCountResultType = 2
}

/// The kinds of results of a batch deletion.
public enum NSBatchDeleteRequestResultType: UInt, Sendable {
  /// `true`, as an `NSNumber`.
  case resultTypeStatusOnly = 0
  /// The IDs of the deleted objects.
  case resultTypeObjectIDs = 1
  /// The number of deleted objects, as an `NSNumber`.
  case resultTypeCount = 2
}

/// The kinds of results of a batch insertion.
public enum NSBatchInsertRequestResultType: UInt, Sendable {
  /// `true`, as an `NSNumber`.
  case statusOnly = 0
  /// The IDs of the new objects.
  case objectIDs = 1
  /// The number of inserted objects, as an `NSNumber`.
  case count = 2
}

/// Sets attributes of all matching objects, in the store, in one transaction.
///
/// ```swift
/// let request = NSBatchUpdateRequest(entityName: "Item")
/// request.predicate = NSPredicate(format: "isDone == YES")
/// request.propertiesToUpdate = ["priority": 0]
/// request.resultType = .updatedObjectIDsResultType
/// let result = try context.execute(request) as? NSBatchUpdateResult
/// ```
///
/// As in Core Data, the request loads no object, calls no hook of an object and evaluates no validation rule.
/// No context changes until the result's IDs are merged with
/// ``NSManagedObjectContext/mergeChanges(fromRemoteContextSave:into:)``. The versions of the rows are raised,
/// so saves based on older values conflict. Derived attributes are updated.
nonisolated open class NSBatchUpdateRequest: NSPersistentStoreRequest, @unchecked Sendable {
  // Guard: configured by one owner, afterwards only read.

  /// Name of the entity whose objects are updated. An unknown name is an error when the request is executed.
  public let entityName: String
  /// The entity's description if the request was made with one. Otherwise the entity is found by
  /// ``entityName``.
  public let entity: NSEntityDescription?
  /// The condition for the objects; nil for all.
  open var predicate: NSPredicate? { didSet { predicate = predicate?.printable } }
  /// Whether objects of sub-entities are included; true by default.
  open var includesSubentities = true
  /// The new values by attribute name or description; nil or `NSNull` for no value.
  ///
  /// The store computes an `ExpressionTree` for each object, from its values before the update: `["count":
  /// try ExpressionTree(format: "count + 1")]`. A `TreeExpression`, which is Core Data's `NSExpression`, stands for
  /// its tree, and for the value if it is a constant. The expression may use attributes of the object itself, constants, arithmetic,
  /// `TERNARY`, text functions, and aggregates over to-many relationships to other entities. It can't follow
  /// to-one relationships. Integers are truncated towards zero, and limited to the largest value when they
  /// overflow.
  open var propertiesToUpdate: [AnyHashable: Any]?
  /// The contents of the result: success, the IDs or the number of the updated objects. Success by default.
  open var resultType = NSBatchUpdateRequestResultType.statusOnlyResultType

  /// Makes a request for the objects of an entity. The entity is found by its name when the request is
  /// executed.
  public init(entityName: String) {
    self.entityName = entityName
    entity = nil
    super.init()
  }

  /// Makes a request for the objects of an entity. An entity of another model is found by its name when the
  /// request is executed.
  public init(entity: NSEntityDescription) {
    entityName = entity.name ?? ""
    self.entity = entity
    super.init()
  }

  public convenience override init() { self.init(entityName: "") }
}

/// Deletes all objects that a fetch request finds, in the store, in one transaction.
///
/// Delete rules apply as in single deletions: cascades are followed, and to-one relationships of remaining
/// objects are cleared. A denial, or a required relationship that would be cleared, fails the whole request.
/// The result names the objects found, but not those that delete rules deleted. Merging its IDs into a
/// context removes both.
///
/// The request calls no hook of an object. No context changes until the IDs are merged.
nonisolated open class NSBatchDeleteRequest: NSPersistentStoreRequest, @unchecked Sendable {
  // Guard: configured by one owner, afterwards only read.

  /// The request that finds the objects to delete.
  public let fetchRequest: NSFetchRequest<any NSFetchRequestResult>
  let objectIDs: [NSManagedObjectID]?
  /// The contents of the result: success, the IDs or the number of the objects found. Success by default.
  open var resultType = NSBatchDeleteRequestResultType.resultTypeStatusOnly

  /// Deletes the objects that a request finds, with its limit and offset.
  ///
  /// - Parameter fetchRequest: the request. It is copied.
  public init(fetchRequest: NSFetchRequest<any NSFetchRequestResult>) {
    self.fetchRequest = fetchRequest.anonymous()
    objectIDs = nil
    super.init()
  }

  /// Deletes the objects that a request of any type finds, with its limit and offset.
  ///
  /// - Parameter fetchRequest: the request. It is copied.
  @_disfavoredOverload
  public convenience init<ResultType>(fetchRequest: NSFetchRequest<ResultType>) {
    self.init(fetchRequest: fetchRequest.anonymous())
  }

  /// Deletes objects of one inheritance tree by their permanent IDs.
  public init(objectIDs: [NSManagedObjectID]) {
    fetchRequest = NSFetchRequest()
    fetchRequest.entity = objectIDs.first?.entity
    self.objectIDs = objectIDs
    super.init()
  }
}

/// Inserts many objects, in the store, in one transaction.
///
/// Values are given by attribute name, as dictionaries or through one reused object. Other attributes get
/// their defaults. Relationships can't be set. Required attributes must have values. Validation rules are not
/// evaluated.
///
/// The type of the context's merge policy decides about a unique value that another row has, as in Core Data. With
/// `.errorMergePolicyType`, the type at first, the whole request fails with code `.uniquenessConflict`. With
/// `.mergeByPropertyObjectTrumpMergePolicyType` the row that has the value takes the given values, and with
/// `.overwriteMergePolicyType` the defaults of all other attributes as well. With the other types that row stays as it is.
/// Of several objects with one value the first one counts as the row. The result then names the inserted rows and the rows
/// that took values. The methods of a policy's subclass are not called, because there are no objects to pass.
///
/// Takes the memory of 16 MB of objects. More of them are in a temporary file until they are written: in the folder that the
/// environment's `TMPDIR` names, otherwise in `/var/tmp`. The store is not locked while a handler makes objects. If objects have unique values
/// that others have, and the merge policy resolves that, all objects are in memory. The IDs of a result take memory, too.
///
/// A request of more than 512 objects ends with `CancellationError`, and nothing is saved, when the task is cancelled that executes it.
/// The progress that is current on the thread counts the objects that are written, and cancels as well, with an error of the code
/// `.store`:
///
/// ```swift
/// let progress = Progress(totalUnitCount: 100)
/// progress.becomeCurrent(withPendingUnitCount: 100)
/// defer { progress.resignCurrent() }
/// try context.execute(request)
/// ```
nonisolated open class NSBatchInsertRequest: NSPersistentStoreRequest, @unchecked Sendable {
  // Guard: configured by one owner, afterwards only read.

  /// Name of the entity whose objects are inserted. An unknown name is an error when the request is executed.
  public let entityName: String
  /// The entity's description if the request was made with one. Otherwise the entity is found by
  /// ``entityName``.
  public let entity: NSEntityDescription?
  /// One dictionary for each object.
  open var objectsToInsert: [[String: Any]]?
  /// Fills an empty dictionary for the next object. Returns true instead if there are no more objects.
  open var dictionaryHandler: ((NSMutableDictionary) -> Bool)?
  /// Sets the values of the next object in an object without a context. Returns true instead if there are no
  /// more objects.
  ///
  /// Each call gets the same object, with the defaults. Do not keep its values or references to it.
  open var managedObjectHandler: ((NSManagedObject) -> Bool)?
  /// The contents of the result: success, the IDs or the number of the new objects. Success by default.
  open var resultType = NSBatchInsertRequestResultType.statusOnly

  /// Inserts an object for each dictionary.
  ///
  /// - Parameters:
  ///   - entityName: Name of an entity that is not abstract.
  ///   - dictionaries: The values of each object by attribute name.
  public init(entityName: String, objects dictionaries: [[String: Any]]) {
    self.entityName = entityName
    entity = nil
    objectsToInsert = dictionaries
    super.init()
  }

  /// Inserts an object for each dictionary.
  ///
  /// - Parameters:
  ///   - entity: An entity that is not abstract. An entity of another model is found by its name.
  ///   - dictionaries: The values of each object by attribute name.
  public init(entity: NSEntityDescription, objects dictionaries: [[String: Any]]) {
    entityName = entity.name ?? ""
    self.entity = entity
    objectsToInsert = dictionaries
    super.init()
  }

  /// Inserts objects whose values a handler returns one after the other, so that they need not all be in
  /// memory as dictionaries.
  ///
  /// - Parameters:
  ///   - entityName: Name of an entity that is not abstract.
  ///   - handler: Adds the values of the next object by attribute name to an empty dictionary and returns
  ///     false, or returns true if there are no more objects. Called within
  ///     ``NSManagedObjectContext/execute(_:)``, on the context's isolation.
  public init(
    entityName: String, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool
  ) {
    self.entityName = entityName
    entity = nil
    dictionaryHandler = handler
    super.init()
  }

  /// Inserts objects whose values a handler returns one after the other, so that they need not all be in
  /// memory as dictionaries.
  ///
  /// - Parameters:
  ///   - entity: An entity that is not abstract. An entity of another model is found by its name.
  ///   - handler: Adds the values of the next object by attribute name to an empty dictionary and returns
  ///     false, or returns true if there are no more objects. Called within
  ///     ``NSManagedObjectContext/execute(_:)``, on the context's isolation.
  public init(
    entity: NSEntityDescription, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool
  ) {
    entityName = entity.name ?? ""
    self.entity = entity
    dictionaryHandler = handler
    super.init()
  }

  /// Inserts objects whose values a handler sets in an object without a context, one after the other.
  ///
  /// - Parameters:
  ///   - entityName: Name of an entity that is not abstract.
  ///   - handler: Sets attributes of the object and returns false, or returns true if there are no more
  ///     objects. Each call gets the same object, with the defaults. Called within
  ///     ``NSManagedObjectContext/execute(_:)``, on the context's isolation.
  public init(
    entityName: String, managedObjectHandler handler: @escaping (NSManagedObject) -> Bool
  ) {
    self.entityName = entityName
    entity = nil
    managedObjectHandler = handler
    super.init()
  }

  /// Inserts objects whose values a handler sets in an object without a context, one after the other.
  ///
  /// - Parameters:
  ///   - entity: An entity that is not abstract. An entity of another model is found by its name.
  ///   - handler: Sets attributes of the object and returns false, or returns true if there are no more
  ///     objects. Each call gets the same object, with the defaults. Called within
  ///     ``NSManagedObjectContext/execute(_:)``, on the context's isolation.
  public init(
    entity: NSEntityDescription, managedObjectHandler handler: @escaping (NSManagedObject) -> Bool
  ) {
    entityName = entity.name ?? ""
    self.entity = entity
    managedObjectHandler = handler
    super.init()
  }
}

/// The result of a batch request. `result` is `[NSManagedObjectID]` or an `NSNumber`, depending on
/// `resultType`.
nonisolated public class _NSBatchResult<ResultType: Sendable>: NSPersistentStoreResult {
  /// `[NSManagedObjectID]`, or an `NSNumber`.
  public let result: Any?
  /// The kind of `result`, from the request.
  public let resultType: ResultType

  init(_ result: Any, _ type: ResultType) {
    self.result = result
    resultType = type
  }
}

/// The result of ``NSManagedObjectContext/execute(_:)`` for an ``NSBatchUpdateRequest``.
nonisolated public final class NSBatchUpdateResult: _NSBatchResult<NSBatchUpdateRequestResultType> {}

/// The result of ``NSManagedObjectContext/execute(_:)`` for an ``NSBatchDeleteRequest``.
nonisolated public final class NSBatchDeleteResult: _NSBatchResult<NSBatchDeleteRequestResultType> {}

/// The result of ``NSManagedObjectContext/execute(_:)`` for an ``NSBatchInsertRequest``.
nonisolated public final class NSBatchInsertResult: _NSBatchResult<NSBatchInsertRequestResultType> {}

extension NSFetchRequest {
  /// The same request without its result type.
  func anonymous() -> NSFetchRequest<any NSFetchRequestResult> {
    let copy = NSFetchRequest<any NSFetchRequestResult>()
    copy.entityName = entityName
    if let entity { copy.entity = entity }
    copy.predicate = predicate
    copy.sortDescriptors = sortDescriptors
    copy.fetchLimit = fetchLimit
    copy.fetchOffset = fetchOffset
    copy.includesSubentities = includesSubentities
    copy.affectedStores = affectedStores
    return copy
  }
}
