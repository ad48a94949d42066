public import Foundation

// What Core Data has and this library does not. The names are declared so that the compiler says what to use instead.

// MARK: Stores

/// A store that is written as a whole.
@available(
  *, unavailable,
  message: "Stores of other kinds are not supported. Use NSSQLiteStoreType or NSInMemoryStoreType."
)
open class NSAtomicStore: NSObject {}

/// A record of an atomic store.
@available(
  *, unavailable,
  message: "Stores of other kinds are not supported. Use NSSQLiteStoreType or NSInMemoryStoreType."
)
open class NSAtomicStoreCacheNode: NSObject {}

/// A store of an application's own kind.
@available(
  *, unavailable,
  message: "Stores of other kinds are not supported. Use NSSQLiteStoreType or NSInMemoryStoreType."
)
open class NSIncrementalStore: NSObject {}

/// A record of an incremental store.
@available(
  *, unavailable,
  message: "Stores of other kinds are not supported. Use NSSQLiteStoreType or NSInMemoryStoreType."
)
open class NSIncrementalStoreNode: NSObject {}

// MARK: Requests

/// A save, as a store of an application's own kind gets it.
@available(
  *, unavailable,
  message: "Stores of other kinds are not supported. Use NSSQLiteStoreType or NSInMemoryStoreType."
)
open class NSSaveChangesRequest: NSObject {}

// MARK: CloudKit and Spotlight

/// How a store is mirrored to CloudKit.
@available(
  *, unavailable, message: "Stores are not mirrored to CloudKit on Linux. Use it in #if canImport(CloudKit)."
)
open class NSPersistentCloudKitContainerOptions: NSObject {
  /// Makes options for a container of CloudKit.
  public init(containerIdentifier: String) {}
  /// The container's identifier.
  open var containerIdentifier: String { "" }
}

/// A request for the events of mirroring.
@available(
  *, unavailable, message: "Stores are not mirrored to CloudKit on Linux. Use it in #if canImport(CloudKit)."
)
open class NSPersistentCloudKitContainerEventRequest: NSObject {}

/// The events of mirroring.
@available(
  *, unavailable, message: "Stores are not mirrored to CloudKit on Linux. Use it in #if canImport(CloudKit)."
)
open class NSPersistentCloudKitContainerEventResult: NSObject {}

/// How a CloudKit schema is made.
@available(
  *, unavailable, message: "Stores are not mirrored to CloudKit on Linux. Use it in #if canImport(CloudKit)."
)
public enum NSPersistentCloudKitContainerSchemaInitializationOptions {}

/// Exports objects to Spotlight.
@available(*, unavailable, message: "Linux has no Spotlight.")
open class NSCoreDataCoreSpotlightDelegate: NSObject {}

extension NSPersistentCloudKitContainer {
  /// What happened while a store was mirrored.
  @available(
    *, unavailable,
    message: "Stores are not mirrored to CloudKit on Linux. Use it in #if canImport(CloudKit)."
  )
  public final class Event: NSObject {}

  /// Posted by Core Data when mirroring begins and ends.
  @available(
    *, unavailable,
    message: "Stores are not mirrored to CloudKit on Linux. Use it in #if canImport(CloudKit)."
  )
  public static var eventChangedNotification: Notification.Name { fatalError() }

  /// The key of an event.
  @available(
    *, unavailable,
    message: "Stores are not mirrored to CloudKit on Linux. Use it in #if canImport(CloudKit)."
  )
  public static var eventNotificationUserInfoKey: String { "" }

  /// Makes the schema in CloudKit.
  @available(
    *, unavailable,
    message: "Stores are not mirrored to CloudKit on Linux. Use it in #if canImport(CloudKit)."
  )
  public func initializeCloudKitSchema() throws {}

  /// Whether an object may be changed, which sharing can forbid.
  @available(
    *, unavailable,
    message: "Stores are not mirrored to CloudKit on Linux. Use it in #if canImport(CloudKit)."
  )
  public func canUpdateRecord(forManagedObjectWith objectID: NSManagedObjectID) -> Bool { true }

  /// Whether an object may be deleted, which sharing can forbid.
  @available(
    *, unavailable,
    message: "Stores are not mirrored to CloudKit on Linux. Use it in #if canImport(CloudKit)."
  )
  public func canDeleteRecord(forManagedObjectWith objectID: NSManagedObjectID) -> Bool { true }

  /// Whether a store may be changed, which sharing can forbid.
  @available(
    *, unavailable,
    message: "Stores are not mirrored to CloudKit on Linux. Use it in #if canImport(CloudKit)."
  )
  public func canModifyManagedObjects(in store: NSPersistentStore) -> Bool { true }
}
