import CoreDataEvolution
import Foundation
import Synchronization

/// Catches what a save posts, to merge it where and when a row measures that.
enum SaveNotification {
  /// Changes and saves a context.
  ///
  /// - Returns: the notification of the save, without the context that posted it.
  static func caught(of writer: NSManagedObjectContext, _ change: () -> Void) throws -> Notification {
    let caught = Mutex<CommittedTransaction?>(nil)
    let token = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidSave, object: writer, queue: nil
    ) { notification in
      let commit = notification.userInfo?[CommittedTransaction.userInfoKey] as? CommittedTransaction
      caught.withLock { $0 = commit }
    }
    defer { NotificationCenter.default.removeObserver(token) }
    try writer.performAndWait {
      change()
      try writer.save()
    }
    guard let commit = caught.withLock({ $0 }) else {
      preconditionFailure("A save posted no notification with its transaction.")
    }
    return Notification(
      name: .NSManagedObjectContextDidSave, object: nil, userInfo: [CommittedTransaction.userInfoKey: commit])
  }
}
