@_spi(CDE) internal import CDEExecutors
@_spi(CDE) internal import CDEManagedModel
internal import CDEStore
public import Foundation

/// A loaded store.
nonisolated public final class NSPersistentStore: NSObject, @unchecked Sendable {
  // Guard: immutable except for the weak coordinator, which is set before the store is shared, and the
  // metadata, which has its own lock.

  /// The store's type: ``NSSQLiteStoreType`` or ``NSInMemoryStoreType``.
  public let type: String
  /// The URL from the store's description, without a password; nil for a store in memory without a URL.
  public let url: URL?
  /// The store's configuration of the model; `PF_DEFAULT_CONFIGURATION_NAME` for the whole model.
  public let configurationName: String
  /// The options that the store was loaded with, by the names of the option constants.
  public let options: [AnyHashable: Any]?
  /// The coordinator that loaded the store.
  weak var owner: AnyObject?
  let handle: StoreHandle
  /// The metadata read last.
  private let lastMetadata: Lock<StoreMetadata>

  init(handle: StoreHandle, description: NSPersistentStoreDescription, metadata: StoreMetadata) {
    self.handle = handle
    lastMetadata = Lock(metadata)
    type = description.type
    url = description.url?.withoutPassword
    configurationName = description.configuration ?? NSManagedObjectModel.defaultConfigurationName
    options = description.options
    super.init()
    handle.made = self
  }

  private func readMetadata() -> StoreMetadata {
    do throws(StoreError) {
      let read = try handle.store.metadata()
      lastMetadata.withLock { $0 = read }
      return read
    } catch {
      if error.code != .closed {
        Diagnostics.report(
          "The metadata of the store \(identifier) could not be read. The metadata read last is returned: \(error)"
        )
      }
      return lastMetadata.withLock { $0 }
    }
  }

  /// The store's UUID.
  public var identifier: String { handle.identifier }

  /// Whether the store is read-only, because of ``NSReadOnlyPersistentStoreOption`` or because its file has
  /// triggers of another library. A save to it throws.
  public var isReadOnly: Bool { handle.store.isReadOnly }

  /// The metadata in the store: its UUID, its type, the version hashes of its entities, and values of the program.
  ///
  /// Each access reads the store. Setting replaces the values of the program, like
  /// ``NSPersistentStoreCoordinator/setMetadata(_:for:)``: at once, and not with the next save as in Core Data.
  public var metadata: [String: Any]! {
    get {
      var metadata = readMetadata().values.mapValues(\.foundationValue)
      // The file stores these values elsewhere. A store in memory has the type SQLite, too.
      metadata[NSStoreUUIDKey] = identifier
      metadata[NSStoreTypeKey] = type
      return metadata
    }
    set {
      do throws(StoreError) {
        try handle.store.setMetadata(StoreMetadata(foundationValues: newValue ?? [:]))
      } catch {
        Diagnostics.report("The metadata of the store \(identifier) could not be written: \(error)")
      }
    }
  }

  /// The observer of the requests to the store, from the description.
  @_spi(CDE) public var observer: (any StoreActivityObserver)? { handle.observer }

  /// Writes all committed data to a new file, a database without a log. External values are not copied.
  ///
  /// - Throws: ``ManagedObjectError``, also for a file that exists already.
  @_spi(CDE) public func writeCopy(to url: URL) throws {
    guard let store = handle.engine as? any FileStore else {
      throw ManagedObjectError(.unsupportedRequest, "Only SQLite stores can be copied to a file.")
    }
    do { try store.copy(to: url.path) } catch { throw ManagedObjectError.store(error) }
  }
}

extension NSPersistentStoreDescription {
  /// Where the store is, for messages.
  var place: String { url?.place ?? "(memory)" }
}

extension URL {
  /// The path of a file, or the URL of a server without its password, for messages.
  var place: String { isFileURL ? path : withoutPassword.absoluteString }

  /// The URL of a server without its password, for errors, logs and notifications. File URLs stay as they are.
  var withoutPassword: URL {
    guard !isFileURL, var parts = URLComponents(url: self, resolvingAgainstBaseURL: false) else {
      return self
    }
    parts.password = nil
    let items = parts.queryItems?.filter { !["password", "sslpassword"].contains($0.name) }
    if items?.count != parts.queryItems?.count { parts.queryItems = items?.isEmpty == true ? nil : items }
    return parts.url ?? self
  }
}

/// The stores that coordinators of this process have open.
enum OpenStores {
  private struct Entry: @unchecked Sendable {
    // Guard: the lock around the list.
    weak var store: NSPersistentStore?
  }

  private static let known = Lock<[Entry]>([])

  static func add(_ store: NSPersistentStore) {
    known.withLock { entries in
      entries.removeAll { $0.store == nil }
      entries.append(Entry(store: store))
    }
  }

  /// Closes the stores of a file. Their contexts can neither read nor save afterwards.
  ///
  /// - Returns: whether any was open.
  static func close(at url: URL) -> Bool {
    let path = resolved(url)
    let stores = known.withLock { $0.compactMap(\.store) }
      .filter { store in store.url.map { $0.isFileURL && resolved($0) == path } ?? false }
    // A store that was closed before throws.
    return stores.reduce(false) { wasOpen, store in (try? store.handle.close()) != nil || wasOpen }
  }

  private static func resolved(_ url: URL) -> String {
    url.resolvingSymlinksInPath().standardizedFileURL.path
  }
}
