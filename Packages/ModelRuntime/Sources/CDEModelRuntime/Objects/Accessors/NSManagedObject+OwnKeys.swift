internal import Foundation

// Key-value coding reaches the properties of every managed object by their names. On Apple's platforms the Objective-C runtime finds them.
extension NSManagedObject {
  /// The value of a property that the class itself declares, for key-value coding and predicates in memory; nil for other keys.
  final func ownValue(forKey key: String) -> Any?? {
    switch key {
    case "self", "SELF": .some(self)
    case "objectID": .some(objectID)
    case "entity": .some(entity)
    case "managedObjectContext": .some(managedObjectContext)
    case "isInserted", "inserted": .some(isInserted)
    case "isUpdated", "updated": .some(isUpdated)
    case "isDeleted", "deleted": .some(isDeleted)
    case "isFault", "fault": .some(isFault)
    case "hasChanges": .some(hasChanges)
    case "hasPersistentChangedValues": .some(hasPersistentChangedValues)
    case "description": .some(description)
    case "hash": .some(hash)
    default: nil
    }
  }
}
