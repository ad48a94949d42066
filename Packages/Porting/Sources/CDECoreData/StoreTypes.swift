public import Foundation

extension NSPersistentStore {
  /// The type of a store, in Core Data's newer spelling.
  public struct StoreType: RawRepresentable, Hashable, Sendable {
    /// The type's name, as in the older spelling.
    public let rawValue: String
    /// A type of a name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A file in Core Data's SQLite layout.
    public static let sqlite = StoreType(rawValue: NSSQLiteStoreType)
    /// A store in memory. Its data is lost with its coordinator.
    public static let inMemory = StoreType(rawValue: NSInMemoryStoreType)
    /// A file of Core Data's binary format. Opening one is an error.
    @available(*, deprecated, message: "There are no binary stores. Use .sqlite or .inMemory.")
    public static let binary = StoreType(rawValue: "Binary")
    /// An XML file. Opening one is an error.
    @available(*, deprecated, message: "There are no XML stores. Use .sqlite or .inMemory.")
    public static let xml = StoreType(rawValue: "XML")
  }
}

// Libraries name these types beside those that they use, so the names compile. The stores themselves do not exist.

/// The type of a file of Core Data's binary format. Opening one is an error.
@available(
  *, deprecated, message: "There are no binary stores. Use NSSQLiteStoreType or NSInMemoryStoreType."
)
public let NSBinaryStoreType = "Binary"
/// The type of an XML file. Opening one is an error.
@available(*, deprecated, message: "There are no XML stores. Use NSSQLiteStoreType or NSInMemoryStoreType.")
public let NSXMLStoreType = "XML"

extension NSPersistentStoreCoordinator {
  /// Opens or creates a store.
  ///
  /// - Throws: `ManagedObjectError`; the cause is the store's or the model's own error.
  @discardableResult
  public func addPersistentStore(
    type: NSPersistentStore.StoreType, configuration: String? = nil, at url: URL,
    options: [AnyHashable: Any]? = nil
  ) throws -> NSPersistentStore {
    try addPersistentStore(
      ofType: type.rawValue, configurationName: configuration, at: url, options: options)
  }

  /// Deletes the files of a store. A store of this coordinator is closed first.
  ///
  /// - Throws: `ManagedObjectError` if a file can't be deleted.
  public func destroyPersistentStore(
    at url: URL, type: NSPersistentStore.StoreType, options: [AnyHashable: Any]? = nil
  ) throws {
    try destroyPersistentStore(at: url, ofType: type.rawValue, options: options)
  }

  /// Reads the metadata of a store that is not opened, with Core Data's keys.
  ///
  /// - Throws: `ManagedObjectError`, for a missing file too.
  public class func metadataForPersistentStore(
    type: NSPersistentStore.StoreType, at url: URL, options: [AnyHashable: Any]? = nil
  ) throws -> [String: Any] {
    try metadataForPersistentStore(ofType: type.rawValue, at: url, options: options)
  }

  /// Replaces the metadata of a store that is not opened, except for the keys that describe the file itself.
  ///
  /// - Throws: `ManagedObjectError`, for a missing file too.
  public class func setMetadata(
    _ metadata: [String: Any]?, type: NSPersistentStore.StoreType, at url: URL,
    options: [AnyHashable: Any]? = nil
  ) throws {
    try setMetadata(metadata, forPersistentStoreOfType: type.rawValue, at: url, options: options)
  }

  /// Replaces a store, or makes one, by a copy of another one.
  ///
  /// - Throws: `ManagedObjectError`. Then the store at the destination is as before.
  public func replacePersistentStore(
    at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil,
    withPersistentStoreFrom sourceURL: URL,
    sourceOptions: [AnyHashable: Any]? = nil, type: NSPersistentStore.StoreType
  ) throws {
    try replacePersistentStore(
      at: destinationURL, destinationOptions: destinationOptions, withPersistentStoreFrom: sourceURL,
      sourceOptions: sourceOptions, ofType: type.rawValue)
  }

  /// Copies a store of this coordinator to another place, and uses the copy from then on. The old files stay.
  ///
  /// - Throws: `ManagedObjectError`; the old store is open again then.
  @discardableResult
  public func migratePersistentStore(
    _ store: NSPersistentStore, to url: URL, options: [AnyHashable: Any]? = nil,
    type: NSPersistentStore.StoreType
  ) throws -> NSPersistentStore {
    try migratePersistentStore(store, to: url, options: options, withType: type.rawValue)
  }

  /// The place of a store.
  public func url(for store: NSPersistentStore) -> URL { store.url ?? URL(fileURLWithPath: "/dev/null") }
}

extension NSMigrationManager {
  /// Migrates a store into another one, in Core Data's newer spelling.
  ///
  /// - Throws: `ManagedObjectError`. Then the old store is as before, and a store that this migration made is deleted.
  public func migrateStore(
    from sourceURL: URL, type sourceType: NSPersistentStore.StoreType,
    options sourceOptions: [AnyHashable: Any]? = nil, mapping: NSMappingModel, to destinationURL: URL,
    type destinationType: NSPersistentStore.StoreType, options destinationOptions: [AnyHashable: Any]? = nil
  ) throws {
    try migrateStore(
      from: sourceURL, sourceType: sourceType.rawValue, options: sourceOptions, with: mapping,
      toDestinationURL: destinationURL, destinationType: destinationType.rawValue,
      destinationOptions: destinationOptions)
  }
}
