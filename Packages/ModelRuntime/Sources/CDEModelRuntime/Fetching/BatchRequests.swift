public import CDEManagedModel
public import Foundation

/// What a coordinator answers to a request.
nonisolated open class NSPersistentStoreResult: NSObject {}

/// What a batch update yields.
public enum NSBatchUpdateRequestResultType: UInt, Sendable {
  /// `true`, as an `NSNumber`.
  case statusOnlyResultType = 0
  /// The IDs of the updated objects.
  case updatedObjectIDsResultType = 1
  /// How many objects were updated, as an `NSNumber`.
  case updatedObjectsCountResultType = 2
}

/// What a batch deletion yields.
public enum NSBatchDeleteRequestResultType: UInt, Sendable {
  /// `true`, as an `NSNumber`.
  case resultTypeStatusOnly = 0
  /// The IDs of the deleted objects.
  case resultTypeObjectIDs = 1
  /// How many objects were deleted, as an `NSNumber`.
  case resultTypeCount = 2
}

/// What a batch insertion yields.
public enum NSBatchInsertRequestResultType: UInt, Sendable {
  /// `true`, as an `NSNumber`.
  case statusOnly = 0
  /// The IDs of the new objects.
  case objectIDs = 1
  /// How many objects were inserted, as an `NSNumber`.
  case count = 2
}

/// Sets attributes of all objects that match, in the store, in one transaction.
///
/// ```swift
/// let request = NSBatchUpdateRequest(entityName: "Item")
/// request.predicate = NSPredicate(format: "isDone == YES")
/// request.propertiesToUpdate = ["priority": 0]
/// request.resultType = .updatedObjectIDsResultType
/// let result = try context.execute(request) as? NSBatchUpdateResult
/// ```
///
/// As in Core Data, nothing is loaded, no hook of an object is called, no validation rule is asked, and no
/// context changes until the result's IDs are merged with
/// ``NSManagedObjectContext/mergeChanges(fromRemoteContextSave:into:)``. Versions are raised, so saves based
/// on older values conflict; derived attributes follow.
nonisolated open class NSBatchUpdateRequest: NSPersistentStoreRequest, @unchecked Sendable {
  // Guard: configured by one owner, then only read.

  /// Name of the entity whose objects are updated; an unknown one is an error when the request is executed.
  public let entityName: String
  /// The entity's description if the request was made with one; else it is found by ``entityName``.
  public let entity: NSEntityDescription?
  /// Which objects; nil for all.
  open var predicate: NSPredicate?
  /// Whether objects of sub-entities count; true at first.
  open var includesSubentities = true
  /// The new values by attribute, named or described; nil or `NSNull` for none.
  ///
  /// An `ExpressionTree` is computed by the store for each object, from its values before the update:
  /// `["count": try ExpressionTree(format: "count + 1")]`. Core Data takes an `NSExpression` here, which Foundation
  /// can't make on Linux. The expression may use attributes of the object itself, constants, arithmetic, `TERNARY`,
  /// text functions, and aggregates over to-many relationships to other entities, but nothing behind a to-one
  /// relationship. Integers are cut off towards zero, and stay at the greatest when they overflow.
  open var propertiesToUpdate: [AnyHashable: Any]?
  /// What the result holds: success, the IDs or the number of the updated objects. Success at first.
  open var resultType = NSBatchUpdateRequestResultType.statusOnlyResultType

  /// Makes a request for the objects of an entity, to be found by its name when the request is executed.
  public init(entityName: String) {
    self.entityName = entityName
    entity = nil
    super.init()
  }

  /// Makes a request for the objects of an entity. One of another model is found by its name when the request
  /// is executed.
  public init(entity: NSEntityDescription) {
    entityName = entity.name ?? ""
    self.entity = entity
    super.init()
  }

  public convenience override init() { self.init(entityName: "") }
}

/// Deletes all objects that a fetch request finds, in the store, in one transaction.
///
/// Delete rules hold as for single deletions: cascades are followed, to-one relationships of objects that stay
/// are cleared, and a denial, or a required relationship that would be cleared, fails the whole request. The
/// result names the objects found, not those that rules took along; merging its IDs into a context lets go
/// of both.
///
/// No hook of an object is called, and no context changes until the IDs are merged.
nonisolated open class NSBatchDeleteRequest: NSPersistentStoreRequest, @unchecked Sendable {
  // Guard: configured by one owner, then only read.

  /// What to delete.
  public let fetchRequest: NSFetchRequest<any NSFetchRequestResult>
  let objectIDs: [NSManagedObjectID]?
  /// What the result holds: success, the IDs or the number of the objects found. Success at first.
  open var resultType = NSBatchDeleteRequestResultType.resultTypeStatusOnly

  /// Deletes what a request finds, its limit and offset included.
  public init<ResultType>(fetchRequest: NSFetchRequest<ResultType>) {
    self.fetchRequest = fetchRequest.anonymous()
    objectIDs = nil
    super.init()
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
/// Values are given by attribute name, as dictionaries or through an object that serves for all. Attributes
/// not given get their defaults. Relationships can't be set. Required attributes must have values; validation
/// rules are not asked. A value that a uniqueness constraint forbids fails the whole request.
///
/// Costs packed rows in memory, some ten bytes for each property, until the transaction is written.
nonisolated open class NSBatchInsertRequest: NSPersistentStoreRequest, @unchecked Sendable {
  // Guard: configured by one owner, then only read.

  /// Name of the entity whose objects are inserted; an unknown one is an error when the request is executed.
  public let entityName: String
  /// The entity's description if the request was made with one; else it is found by ``entityName``.
  public let entity: NSEntityDescription?
  /// One dictionary for each object.
  open var objectsToInsert: [[String: Any]]?
  /// Fills an empty dictionary for the next object; returns true instead when there is none.
  open var dictionaryHandler: ((NSMutableDictionary) -> Bool)?
  /// Fills an object without a context for the next one; returns true instead when there is none.
  ///
  /// The object is the same each time, with the defaults: take nothing of it elsewhere.
  open var managedObjectHandler: ((NSManagedObject) -> Bool)?
  /// What the result holds: success, the IDs or the number of the new objects. Success at first.
  open var resultType = NSBatchInsertRequestResultType.statusOnly

  private init(_ name: String, _ entity: NSEntityDescription?) {
    entityName = name
    self.entity = entity
    super.init()
  }

  /// Inserts an object for each dictionary.
  ///
  /// - Parameters:
  ///   - entityName: Name of an entity that is not abstract.
  ///   - dictionaries: The values of each object by attribute name.
  public convenience init(entityName: String, objects dictionaries: [[String: Any]]) {
    self.init(entityName, nil)
    objectsToInsert = dictionaries
  }

  /// Inserts an object for each dictionary.
  ///
  /// - Parameters:
  ///   - entity: An entity that is not abstract; one of another model is found by its name.
  ///   - dictionaries: The values of each object by attribute name.
  public convenience init(entity: NSEntityDescription, objects dictionaries: [[String: Any]]) {
    self.init(entity.name ?? "", entity)
    objectsToInsert = dictionaries
  }

  /// Inserts the objects whose values a handler gives one after the other, so that not all need be in memory
  /// as dictionaries.
  ///
  /// - Parameters:
  ///   - entityName: Name of an entity that is not abstract.
  ///   - handler: Puts the values of the next object by attribute name into an empty dictionary and returns
  ///     false, or returns true when there is none. Called within ``NSManagedObjectContext/execute(_:)``, on
  ///     the context's isolation.
  public convenience init(
    entityName: String, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool
  ) {
    self.init(entityName, nil)
    dictionaryHandler = handler
  }

  /// Inserts the objects whose values a handler gives one after the other, so that not all need be in memory
  /// as dictionaries.
  ///
  /// - Parameters:
  ///   - entity: An entity that is not abstract; one of another model is found by its name.
  ///   - handler: Puts the values of the next object by attribute name into an empty dictionary and returns
  ///     false, or returns true when there is none. Called within ``NSManagedObjectContext/execute(_:)``, on
  ///     the context's isolation.
  public convenience init(
    entity: NSEntityDescription, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool
  ) {
    self.init(entity.name ?? "", entity)
    dictionaryHandler = handler
  }

  /// Inserts the objects whose values a handler sets in an object without a context, one after the other.
  ///
  /// - Parameters:
  ///   - entityName: Name of an entity that is not abstract.
  ///   - handler: Sets attributes of the object and returns false, or returns true when there is no next one.
  ///     It gets the same object each time, with the defaults. Called within
  ///     ``NSManagedObjectContext/execute(_:)``, on the context's isolation.
  public convenience init(
    entityName: String, managedObjectHandler handler: @escaping (NSManagedObject) -> Bool
  ) {
    self.init(entityName, nil)
    managedObjectHandler = handler
  }

  /// Inserts the objects whose values a handler sets in an object without a context, one after the other.
  ///
  /// - Parameters:
  ///   - entity: An entity that is not abstract; one of another model is found by its name.
  ///   - handler: Sets attributes of the object and returns false, or returns true when there is no next one.
  ///     It gets the same object each time, with the defaults. Called within
  ///     ``NSManagedObjectContext/execute(_:)``, on the context's isolation.
  public convenience init(
    entity: NSEntityDescription, managedObjectHandler handler: @escaping (NSManagedObject) -> Bool
  ) {
    self.init(entity.name ?? "", entity)
    managedObjectHandler = handler
  }
}

/// What a batch request yields: `result` is `[NSManagedObjectID]` or an `NSNumber`, as `resultType` says.
nonisolated public class _NSBatchResult<ResultType: Sendable>: NSPersistentStoreResult {
  /// `[NSManagedObjectID]`, or an `NSNumber`.
  public let result: Any?
  /// What `result` holds, as the request asked.
  public let resultType: ResultType

  init(_ result: Any, _ type: ResultType) {
    self.result = result
    resultType = type
  }
}

/// What ``NSManagedObjectContext/execute(_:)`` returns for an ``NSBatchUpdateRequest``.
nonisolated public final class NSBatchUpdateResult: _NSBatchResult<NSBatchUpdateRequestResultType> {}

/// What ``NSManagedObjectContext/execute(_:)`` returns for an ``NSBatchDeleteRequest``.
nonisolated public final class NSBatchDeleteResult: _NSBatchResult<NSBatchDeleteRequestResultType> {}

/// What ``NSManagedObjectContext/execute(_:)`` returns for an ``NSBatchInsertRequest``.
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
