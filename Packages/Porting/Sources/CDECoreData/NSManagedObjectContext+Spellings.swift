@_spi(CDE) internal import CDEModelRuntime
public import Foundation

/// Core Data's older name of the type.
public typealias NSManagedObjectContextConcurrencyType = NSManagedObjectContext.ConcurrencyType

extension NSManagedObjectContext {
  /// The keys of notifications' `userInfo`, in Core Data's newer spelling.
  public enum NotificationKey: String, Sendable {
    /// Core Data's key of the context that merged. Not posted; the notification's object is the context.
    case sourceContext
    /// Core Data's key of the query generation. Not posted: there are none.
    case queryGeneration = "newQueryGeneration"
    /// Present when the context dropped all its objects.
    case invalidatedAllObjects = "invalidatedAll"
    /// Holds the objects that were inserted.
    case insertedObjects = "inserted"
    /// Holds the objects with changed values.
    case updatedObjects = "updated"
    /// Holds the objects that were deleted.
    case deletedObjects = "deleted"
    /// Holds the objects whose values were read again or dropped.
    case refreshedObjects = "refreshed"
    /// Core Data's key of single invalidated objects. Not posted: such objects are named as refreshed.
    case invalidatedObjects = "invalidated"
    /// Holds the IDs of the objects that were inserted.
    case insertedObjectIDs = "inserted_objectIDs"
    /// Holds the IDs of the objects with changed values.
    case updatedObjectIDs = "updated_objectIDs"
    /// Holds the IDs of the objects that were deleted.
    case deletedObjectIDs = "deleted_objectIDs"
    /// Core Data's key of the IDs of refreshed objects. Not posted.
    case refreshedObjectIDs = "refreshed_objectIDs"
    /// Core Data's key of the IDs of invalidated objects. Not posted.
    case invalidatedObjectIDs = "invalidated_objectIDs"
  }
}

extension Notification.Name {
  /// Posted after a save, with sets of IDs: `NSManagedObjectContext.didSaveObjectIDsNotification`.
  public static var NSManagedObjectContextDidSaveObjectIDs: Notification.Name {
    NSManagedObjectContext.didSaveObjectIDsNotification
  }
  /// Posted once for each merge, with sets of IDs.
  public static var NSManagedObjectContextDidMergeChangesObjectIDs: Notification.Name {
    NSManagedObjectContext.didMergeChangesObjectIDsNotification
  }
  /// Posted by Core Data when iCloud changes the stores of a coordinator. It is never posted here.
  public static let NSPersistentStoreCoordinatorStoresWillChange = Notification.Name(
    "NSPersistentStoreCoordinatorStoresWillChangeNotification")
}

/// Holds the stores that iCloud replaced. Never posted here.
public let NSUUIDChangedPersistentStoresKey = "NSUUIDChangedPersistentStoresKey"

extension NSPersistentStoreCoordinator {
  /// Runs a block and waits for it. The coordinator may be used on any thread, so the block runs on this one.
  public func performAndWait<Value, Failure: Error>(
    _ block: () throws(Failure) -> Value
  ) throws(Failure) -> Value { try block() }

  /// Runs a block later, in the background. The coordinator may be used on any thread.
  public func perform(_ block: @escaping @Sendable () -> Void) { Task.detached { block() } }

  /// Runs a block. The coordinator may be used on any thread, so the block stays on the caller's actor.
  nonisolated(nonsending)
    public func perform<Value, Failure: Error>(
      _ block: () throws(Failure) -> Value
    ) async throws(Failure) -> Value
  { try block() }

  /// Carries out a request as `context.execute(request)` does. The result of a fetch request is an array.
  ///
  /// - Throws: `ManagedObjectError`.
  @discardableResult
  public func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext) throws -> Any
  {
    try context.performAndWait {
      let result = try context.execute(request)
      // A fetch in the background has no results yet.
      return (result as? NSPersistentStoreAsynchronousResult)?.anyFinalResult ?? result
    }
  }
}
