internal import Foundation
internal import Synchronization

/// The notifications' names, for the contexts that post them.
enum PostedNames {
  static let objectsDidChange = Notification.Name("NSObjectsChangedInManagingContextNotification")

  /// Whether code of the process has used the name of the notification about changed objects.
  ///
  /// If the name was not used there is no observer, and objects that a merge brings need not be made.
  static var isObjectsDidChangeUsed: Bool { used.load(ordering: .relaxed) }
  private static let used = Atomic<Bool>(false)

  static func useObjectsDidChange() -> Notification.Name {
    used.store(true, ordering: .relaxed)
    return objectsDidChange
  }

  static let didSaveObjectIDs = Notification.Name("NSManagedObjectContextDidSaveObjectIDsNotification")

  /// Whether code of the process has used the name of the notification about the IDs of saved objects.
  ///
  /// If the name was not used there is no observer, and the IDs need not be made.
  static var isDidSaveObjectIDsUsed: Bool { usedForIDs.load(ordering: .relaxed) }
  private static let usedForIDs = Atomic<Bool>(false)

  static func useDidSaveObjectIDs() -> Notification.Name {
    usedForIDs.store(true, ordering: .relaxed)
    return didSaveObjectIDs
  }
}
