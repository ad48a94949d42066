public import Foundation

extension Notification.Name {
  /// Posted by a coordinator after it opened or closed a store, on the thread that did so. `userInfo` contains an array of
  /// stores under ``NSAddedPersistentStoresKey`` or ``NSRemovedPersistentStoresKey``.
  public static let NSPersistentStoreCoordinatorStoresDidChange = Notification.Name(
    "_NSPersistentStoreCoordinatorStoresDidChangeNotification")
  /// Posted before a coordinator closes a store. `object` is the store.
  public static let NSPersistentStoreCoordinatorWillRemoveStore = Notification.Name(
    "_NSPersistentStoreCoordinatorWillRemoveStoreNotification")
}

/// Holds the stores that a coordinator opened.
public let NSAddedPersistentStoresKey = "NSAddedPersistentStoresKey"
/// Holds the stores that a coordinator closed.
public let NSRemovedPersistentStoresKey = "NSRemovedPersistentStoresKey"

extension NSPersistentStoreCoordinator {
  func postChange(_ key: String, _ store: NSPersistentStore) {
    NotificationCenter.default.post(
      name: .NSPersistentStoreCoordinatorStoresDidChange, object: self, userInfo: [key: [store]])
  }
}
