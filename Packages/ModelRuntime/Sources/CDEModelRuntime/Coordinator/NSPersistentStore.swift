public import Foundation

/// A store that is loaded.
nonisolated public final class NSPersistentStore: NSObject, @unchecked Sendable {
  // Guard: immutable but for the weak coordinator, which is set before the store is shared.
  public let type: String
  public let url: URL?
  public let configurationName: String
  public let options: [AnyHashable: Any]?
  public internal(set) weak var persistentStoreCoordinator: NSPersistentStoreCoordinator?
  let handle: StoreHandle

  init(handle: StoreHandle, description: NSPersistentStoreDescription) {
    self.handle = handle
    type = description.type
    url = description.url
    configurationName = description.configuration ?? "PF_DEFAULT_CONFIGURATION_NAME"
    options = description.options
    super.init()
    handle.persistentStore = self
  }

  /// The store's UUID.
  public var identifier: String { handle.identifier }

  public var isReadOnly: Bool { handle.store.isReadOnly }
}
