internal import CDEModelRuntime
public import Foundation

// The names of mirroring to CloudKit. Stores are not mirrored here, but they work, and sources that set mirroring up compile.

/// How a store is mirrored to CloudKit. Here it is kept and has no effect.
open class NSPersistentCloudKitContainerOptions: NSObject {
  /// The container's identifier.
  public let containerIdentifier: String

  /// Makes options for a container of CloudKit.
  public init(containerIdentifier: String) { self.containerIdentifier = containerIdentifier }
}

extension NSPersistentStoreDescription {
  private static let key = "CDECloudKitContainerOptions"

  /// How Core Data mirrors the store to CloudKit. Here the options are kept and have no effect.
  public var cloudKitContainerOptions: NSPersistentCloudKitContainerOptions? {
    get { options[Self.key] as? NSPersistentCloudKitContainerOptions }
    set { setOption(newValue, forKey: Self.key) }
  }
}

/// How a CloudKit schema is made.
public struct NSPersistentCloudKitContainerSchemaInitializationOptions: OptionSet, Sendable {
  /// The option's bits.
  public let rawValue: UInt
  /// Options by their bits.
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// Checks the model and makes nothing.
  public static let dryRun = Self(rawValue: 2)
  /// Prints the schema.
  public static let printSchema = Self(rawValue: 4)
}

extension NSPersistentCloudKitContainer {
  /// What happens while a store is mirrored. Nothing does here, so there are no events.
  public final class Event: NSObject {
    /// The steps of mirroring.
    public enum EventType: Int, Sendable {
      /// The mirroring of a store was set up.
      case setup
      /// Records of CloudKit were written to the store.
      case `import`
      /// Changes of the store were sent to CloudKit.
      case export
    }

    /// The event's identifier.
    public let identifier: UUID
    /// The identifier of the store.
    public let storeIdentifier: String
    /// What the event is.
    public let type: EventType
    /// When it began.
    public let startDate: Date
    /// When it ended; nil while it goes on.
    public let endDate: Date?
    /// Whether it was done.
    public let succeeded: Bool
    /// Why it was not.
    public let error: (any Error)?

    private init(_ storeIdentifier: String, _ type: EventType, _ startDate: Date) {
      identifier = UUID()
      (self.storeIdentifier, self.type, self.startDate) = (storeIdentifier, type, startDate)
      (endDate, succeeded, error) = (nil, false, nil)
    }
  }

  /// Posted by Core Data when mirroring begins and ends. Never posted here.
  public static let eventChangedNotification = Notification.Name(
    "NSPersistentCloudKitContainerEventChangedNotification")

  /// The key of an event.
  public static let eventNotificationUserInfoKey = "event"

  /// Makes the schema in CloudKit.
  ///
  /// - Throws: always `CocoaError` of the code `featureUnsupported`, because there is no CloudKit on Linux.
  public func initializeCloudKitSchema(
    options: NSPersistentCloudKitContainerSchemaInitializationOptions = []
  ) throws {
    throw CocoaError(
      .featureUnsupported,
      userInfo: [
        NSLocalizedDescriptionKey:
          "There is no CloudKit on Linux, so no schema can be made. Call initializeCloudKitSchema on Apple's platforms, in "
          + "#if canImport(CloudKit)."
      ])
  }

  /// Whether an object may be changed. Sharing, which can forbid it, does not exist here.
  public func canUpdateRecord(forManagedObjectWith objectID: NSManagedObjectID) -> Bool {
    canModifyStore(of: objectID)
  }

  /// Whether an object may be deleted. Sharing, which can forbid it, does not exist here.
  public func canDeleteRecord(forManagedObjectWith objectID: NSManagedObjectID) -> Bool {
    canModifyStore(of: objectID)
  }

  /// Whether objects of a store may be changed: it was not opened for reading alone.
  public func canModifyManagedObjects(in store: NSPersistentStore) -> Bool { !store.isReadOnly }

  private func canModifyStore(of objectID: NSManagedObjectID) -> Bool {
    objectID.persistentStore.map(canModifyManagedObjects) ?? true
  }
}

/// A request for the events of mirroring. Its result is empty.
@available(
  *, unavailable, message: "Stores are not mirrored to CloudKit on Linux. Use it in #if canImport(CloudKit)."
)
open class NSPersistentCloudKitContainerEventRequest: NSObject {}

/// The events of mirroring.
@available(
  *, unavailable, message: "Stores are not mirrored to CloudKit on Linux. Use it in #if canImport(CloudKit)."
)
open class NSPersistentCloudKitContainerEventResult: NSObject {}
