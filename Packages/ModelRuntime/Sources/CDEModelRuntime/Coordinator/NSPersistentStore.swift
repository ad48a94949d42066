@_spi(CDE) internal import CDESQLiteStore
internal import CDEStore
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

  /// Who hears what the store is asked: the description's observer.
  @_spi(CDE) public var observer: (any StoreActivityObserver)? { handle.observer }

  /// Writes all that is committed to a new file, a database without a log. External values are not copied.
  ///
  /// - Throws: ``ManagedObjectError``, also for a file that exists already.
  @_spi(CDE) public func writeCopy(to url: URL) throws {
    guard let store = handle.store as? SQLiteStore else {
      throw ManagedObjectError(.unsupportedRequest, "Only SQLite stores can be copied to a file.")
    }
    do { try store.copy(to: url.path) } catch { throw ManagedObjectError.store(error) }
  }
}
