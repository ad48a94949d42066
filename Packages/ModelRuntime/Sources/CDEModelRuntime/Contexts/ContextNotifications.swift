public import Foundation

extension Notification.Name {
  /// Posted before a save validates and writes; `object` is the context, on its isolation.
  public static let NSManagedObjectContextWillSave = Notification.Name(
    "NSManagingContextWillSaveChangesNotification")
  /// Posted after a save, with the inserted, updated and deleted objects: three sets, which may be empty.
  public static let NSManagedObjectContextDidSave = Notification.Name(
    "NSManagingContextDidSaveChangesNotification")
  /// Posted when objects of a context changed in memory.
  ///
  /// Once a process has used this name, contexts make the objects that merges bring, to name them as inserted. Until
  /// then they make none of them, so an observer that spells the name out by itself finds no such objects.
  public static var NSManagedObjectContextObjectsDidChange: Notification.Name {
    PostedNames.useObjectsDidChange()
  }
}

extension NSManagedObjectContext {
  public static let willSaveObjectsNotification = Notification.Name.NSManagedObjectContextWillSave
  public static let didSaveObjectsNotification = Notification.Name.NSManagedObjectContextDidSave
  public static var didChangeObjectsNotification: Notification.Name {
    .NSManagedObjectContextObjectsDidChange
  }
  /// Posted once for each merge, with sets of IDs.
  public static let didMergeChangesObjectIDsNotification = Notification.Name(
    "NSManagedObjectContextDidMergeChangesObjectIDsNotification")
}

// Keys of userInfo, with Core Data's values. The first group holds Set<NSManagedObject>.
public let NSInsertedObjectsKey = "inserted"
public let NSUpdatedObjectsKey = "updated"
public let NSDeletedObjectsKey = "deleted"
public let NSRefreshedObjectsKey = "refreshed"
public let NSInvalidatedObjectsKey = "invalidated"
/// Present, whatever its value, when the context forgot all its objects.
public let NSInvalidatedAllObjectsKey = "invalidatedAll"
/// Present when the changes came from a merge.
public let NSObjectsChangedByMergeChangesKey = "NSObjectsChangedByMergeChangesKey"

// These hold Set<NSManagedObjectID>.
public let NSInsertedObjectIDsKey = "inserted_objectIDs"
public let NSUpdatedObjectIDsKey = "updated_objectIDs"
public let NSDeletedObjectIDsKey = "deleted_objectIDs"
public let NSRefreshedObjectIDsKey = "refreshed_objectIDs"
public let NSInvalidatedObjectIDsKey = "invalidated_objectIDs"
