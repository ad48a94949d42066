internal import CDEManagedModel
internal import CDEModelRuntime
public import Foundation
internal import Synchronization

/// The notifications of model contexts. They are posted from the first use of one of their names on.
enum ModelNotifications {
  private static let used = Atomic<Bool>(false)

  static var areUsed: Bool { used.load(ordering: .relaxed) }

  static func use() { used.store(true, ordering: .relaxed) }

  /// The objects of a save, before it.
  struct Changes {
    private let inserted: [NSManagedObject]
    private let updated: [NSManagedObject]
    private let deleted: [NSManagedObject]

    init(_ context: NSManagedObjectContext) {
      inserted = Array(context.insertedObjects)
      updated = Array(context.updatedObjects)
      deleted = Array(context.deletedObjects)
    }

    func post(_ context: ModelContext) {
      func ids(_ objects: [NSManagedObject]) -> [PersistentIdentifier] {
        objects.map { PersistentIdentifier($0.objectID) }.sorted()
      }
      NotificationCenter.default.post(
        name: ModelContext.didSaveName, object: context,
        userInfo: [
          ModelContext.NotificationKey.insertedIdentifiers.rawValue: ids(inserted),
          ModelContext.NotificationKey.updatedIdentifiers.rawValue: ids(updated),
          ModelContext.NotificationKey.deletedIdentifiers.rawValue: ids(deleted),
        ])
    }
  }
}

extension ModelContext {
  static let willSaveName = Notification.Name("ModelContextWillSave")
  static let didSaveName = Notification.Name("ModelContextDidSave")

  /// Posted before a save, on the context's isolation.
  public static var willSave: Notification.Name {
    ModelNotifications.use()
    return willSaveName
  }

  /// Posted after a save, with the identifiers of the saved models. Keys are the raw values of ``NotificationKey``.
  public static var didSave: Notification.Name {
    ModelNotifications.use()
    return didSaveName
  }

  /// Keys of the information in a notification; values are arrays of ``PersistentIdentifier``.
  public enum NotificationKey: String, Sendable {
    case queryGeneration
    case invalidatedAllIdentifiers
    case insertedIdentifiers = "inserted"
    case updatedIdentifiers = "updated"
    case deletedIdentifiers = "deleted"
  }
}
