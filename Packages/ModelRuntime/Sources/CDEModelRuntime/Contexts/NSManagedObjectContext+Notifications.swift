public import Foundation

extension Notification.Name {
  /// Posted before a save validates and writes. `object` is the context. Posted on the context's isolation.
  public static var NSManagedObjectContextWillSave: Notification.Name { PostedNames.willSave.used() }
  /// Posted after a save. `userInfo` contains three sets, which may be empty: the inserted, updated and
  /// deleted objects.
  public static var NSManagedObjectContextDidSave: Notification.Name { PostedNames.didSave.used() }
  /// Posted when objects of a context changed in memory.
  ///
  /// Before a process uses this name, contexts do not make the objects that a merge inserts. After its first
  /// use they make these objects, and the notification names them as inserted. An observer that writes the
  /// name as a literal therefore gets no such objects.
  public static var NSManagedObjectContextObjectsDidChange: Notification.Name {
    PostedNames.objectsDidChange.used()
  }
}

extension NSManagedObjectContext {
  /// Posted before a save validates and writes: `Notification.Name.NSManagedObjectContextWillSave`.
  public static var willSaveObjectsNotification: Notification.Name { .NSManagedObjectContextWillSave }
  /// Posted after a save: `Notification.Name.NSManagedObjectContextDidSave`.
  public static var didSaveObjectsNotification: Notification.Name { .NSManagedObjectContextDidSave }
  /// Posted when objects of a context changed in memory. See
  /// `Notification.Name.NSManagedObjectContextObjectsDidChange` for the effect of the first use of the name.
  public static var didChangeObjectsNotification: Notification.Name {
    .NSManagedObjectContextObjectsDidChange
  }
  /// Posted after a save, after ``didSaveObjectsNotification``, with three sets of IDs, which may be empty. Contexts post it from the
  /// first use of this name on: an observer that writes the name as a literal gets nothing.
  public static var didSaveObjectIDsNotification: Notification.Name { PostedNames.didSaveObjectIDs.used() }
  /// Posted once for each merge, with sets of IDs. Contexts post it from the first use of this name on, as
  /// ``didSaveObjectIDsNotification``.
  public static var didMergeChangesObjectIDsNotification: Notification.Name {
    PostedNames.didMergeObjectIDs.used()
  }
}

// Keys of userInfo, with Core Data's values. The first group holds Set<NSManagedObject>.
/// Holds the objects that were inserted, by the context or by a merge.
public let NSInsertedObjectsKey = "inserted"
/// Holds the objects with changed values.
public let NSUpdatedObjectsKey = "updated"
/// Holds the objects that were deleted, by the context or by a merge.
public let NSDeletedObjectsKey = "deleted"
/// Holds the objects whose values were read again or dropped, by a refresh or a merge.
public let NSRefreshedObjectsKey = "refreshed"
/// Core Data's key of single invalidated objects. This library does not post it. A refresh names objects as
/// refreshed.
public let NSInvalidatedObjectsKey = "invalidated"
/// Present, with any value, when the context dropped all its objects.
public let NSInvalidatedAllObjectsKey = "invalidatedAll"
/// Present when the changes came from a merge.
public let NSObjectsChangedByMergeChangesKey = "NSObjectsChangedByMergeChangesKey"

// These hold Set<NSManagedObjectID>.
/// Holds the IDs of the objects that were inserted.
public let NSInsertedObjectIDsKey = "inserted_objectIDs"
/// Holds the IDs of the objects with changed values.
public let NSUpdatedObjectIDsKey = "updated_objectIDs"
/// Holds the IDs of the objects that were deleted.
public let NSDeletedObjectIDsKey = "deleted_objectIDs"
/// Core Data's key of the IDs of refreshed objects. This library neither posts nor reads it.
public let NSRefreshedObjectIDsKey = "refreshed_objectIDs"
/// Core Data's key of the IDs of invalidated objects. This library neither posts nor reads it.
public let NSInvalidatedObjectIDsKey = "invalidated_objectIDs"
