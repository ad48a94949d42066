import CDECoreData
@_spi(CDE) import CDESQLiteFaults
import Testing

private final class OverriddenCoordinator: NSPersistentStoreCoordinator, @unchecked Sendable {
  // Guard: it has no state of its own.
  override init(managedObjectModel model: NSManagedObjectModel) { super.init(managedObjectModel: model) }
}

@Suite("The interface of stores and coordinators")
struct StoreInterfaceTests {
  private typealias Store = NSPersistentStore
  private typealias Coordinator = NSPersistentStoreCoordinator
  private typealias Options = [AnyHashable: Any]

  @available(*, deprecated, message: "The types have deprecations of their own.")
  private static var unsupported: [String] {
    [
      NSPersistentStore.StoreType.binary.rawValue, NSPersistentStore.StoreType.xml.rawValue,
      NSBinaryStoreType, NSXMLStoreType,
    ]
  }

  @Test("A store has Core Data's members")
  func store() throws {
    let _: KeyPath<Store, String> = \NSPersistentStore.type
    let _: KeyPath<Store, URL?> = \NSPersistentStore.url
    let _: KeyPath<Store, String> = \NSPersistentStore.configurationName
    let _: KeyPath<Store, [AnyHashable: Any]?> = \NSPersistentStore.options
    let _: KeyPath<Store, String> = \NSPersistentStore.identifier
    let _: KeyPath<Store, Bool> = \NSPersistentStore.isReadOnly
    let _: KeyPath<Store, NSPersistentStoreCoordinator?> = \NSPersistentStore.persistentStoreCoordinator
    let _: ReferenceWritableKeyPath<Store, [String: Any]?> = \NSPersistentStore.metadata
    let types: [NSPersistentStore.StoreType] = [
      NSPersistentStore.StoreType.sqlite, NSPersistentStore.StoreType.inMemory,
    ]
    let constants: [String] = [NSSQLiteStoreType, NSInMemoryStoreType]
    #expect(types.map(\.rawValue) == constants && constants == ["SQLite", "InMemory"])
    let stack = try Stack()
    let store = try #require(stack.container.persistentStoreCoordinator.persistentStores.first)
    #expect(store.type == NSSQLiteStoreType && store.url == stack.url && !store.isReadOnly)
    #expect(store.configurationName == "PF_DEFAULT_CONFIGURATION_NAME")
    // Implicitly unwrapped, as in Core Data.
    let uuid: Any? = store.metadata[NSStoreUUIDKey]
    #expect(uuid as? String == store.identifier)
    #expect(store.persistentStoreCoordinator === stack.container.persistentStoreCoordinator)
  }

  @Test("A coordinator adds, finds and removes stores")
  func coordinator() throws {
    let _: (NSManagedObjectModel) -> NSPersistentStoreCoordinator =
      NSPersistentStoreCoordinator.init(managedObjectModel:)
    let _: KeyPath<Coordinator, NSManagedObjectModel> = \NSPersistentStoreCoordinator.managedObjectModel
    let _: KeyPath<Coordinator, [NSPersistentStore]> = \NSPersistentStoreCoordinator.persistentStores
    let _: ReferenceWritableKeyPath<Coordinator, String?> = \NSPersistentStoreCoordinator.name
    let _: (Coordinator) -> (URL) -> NSPersistentStore? = NSPersistentStoreCoordinator.persistentStore(for:)
    let _: (Coordinator) -> (String, String?, URL?, Options?) throws -> NSPersistentStore =
      NSPersistentStoreCoordinator.addPersistentStore(ofType:configurationName:at:options:)
    let _:
      (Coordinator) -> (NSPersistentStore.StoreType, String?, URL, Options?) throws -> NSPersistentStore =
        NSPersistentStoreCoordinator.addPersistentStore(type:configuration:at:options:)
    let _:
      (Coordinator) -> (
        NSPersistentStoreDescription, @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
      ) -> Void = NSPersistentStoreCoordinator.addPersistentStore(with:completionHandler:)
    let _: (Coordinator) -> (NSPersistentStore) throws -> Void = NSPersistentStoreCoordinator.remove(_:)
    let _: (Coordinator) -> (NSPersistentStore) -> URL = NSPersistentStoreCoordinator.url(for:)
    let _: (Coordinator) -> (URL, NSPersistentStore) -> Bool = NSPersistentStoreCoordinator.setURL(_:for:)
    let _: (Coordinator) -> (URL) -> NSManagedObjectID? =
      NSPersistentStoreCoordinator.managedObjectID(forURIRepresentation:)
    let coordinator: NSPersistentStoreCoordinator = OverriddenCoordinator(managedObjectModel: makeModel())
    coordinator.name = "A"
    let url = ProcessFolder.newURL().appendingPathComponent("Notes.sqlite")
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    let store = try coordinator.addPersistentStore(type: .sqlite, at: url)
    #expect(coordinator.persistentStore(for: url) === store && coordinator.url(for: store) == url)
    try coordinator.remove(store)
    #expect(coordinator.persistentStores.isEmpty && coordinator.name == "A")
  }

  @Test("A coordinator reads and writes metadata, with a store and without")
  func metadata() throws {
    let _: (Coordinator) -> (NSPersistentStore) -> [String: Any] = NSPersistentStoreCoordinator.metadata(for:)
    let _: (Coordinator) -> ([String: Any]?, NSPersistentStore) -> Void =
      NSPersistentStoreCoordinator.setMetadata(_:for:)
    let older: (String, URL, Options?) throws -> [String: Any] =
      NSPersistentStoreCoordinator.metadataForPersistentStore(ofType:at:options:)
    let newer: (NSPersistentStore.StoreType, URL, Options?) throws -> [String: Any] =
      NSPersistentStoreCoordinator.metadataForPersistentStore(type:at:options:)
    let stack = try Stack()
    let coordinator = stack.container.persistentStoreCoordinator
    let store = try #require(coordinator.persistentStores.first)
    var metadata: [String: Any] = coordinator.metadata(for: store)
    metadata["key"] = "value"
    coordinator.setMetadata(metadata, for: store)
    #expect(try older(NSSQLiteStoreType, stack.url, nil)["key"] as? String == "value")
    #expect(try newer(.sqlite, stack.url, nil)["key"] as? String == "value")
  }

  @Test("A coordinator destroys, replaces and migrates stores")
  func files() throws {
    typealias Type = NSPersistentStore.StoreType
    let _: (Coordinator) -> (URL, String, Options?) throws -> Void =
      NSPersistentStoreCoordinator.destroyPersistentStore(at:ofType:options:)
    let _: (Coordinator) -> (URL, Type, Options?) throws -> Void =
      NSPersistentStoreCoordinator.destroyPersistentStore(at:type:options:)
    let _: (Coordinator) -> (URL, Options?, URL, Options?, String) throws -> Void =
      NSPersistentStoreCoordinator.replacePersistentStore(
        at:destinationOptions:withPersistentStoreFrom:sourceOptions:ofType:)
    let _: (Coordinator) -> (URL, Options?, URL, Options?, Type) throws -> Void =
      NSPersistentStoreCoordinator.replacePersistentStore(
        at:destinationOptions:withPersistentStoreFrom:sourceOptions:type:)
    let _: (Coordinator) -> (NSPersistentStore, URL, Options?, String) throws -> NSPersistentStore =
      NSPersistentStoreCoordinator.migratePersistentStore(_:to:options:withType:)
    let _: (Coordinator) -> (NSPersistentStore, URL, Options?, Type) throws -> NSPersistentStore =
      NSPersistentStoreCoordinator.migratePersistentStore(_:to:options:type:)
    let stack = try Stack()
    let coordinator = stack.container.persistentStoreCoordinator
    try coordinator.destroyPersistentStore(at: stack.url, type: .sqlite)
    #expect(coordinator.persistentStores.isEmpty && !stack.files.contains("Notes.sqlite"))
  }

  @Test("A coordinator runs blocks and requests, and tells the newest token")
  func work() async throws {
    let _: (Coordinator) -> (NSPersistentStoreRequest, NSManagedObjectContext) throws -> Any =
      NSPersistentStoreCoordinator.execute(_:with:)
    let _: (Coordinator) -> (@escaping @Sendable () -> Void) -> Void = NSPersistentStoreCoordinator.perform(
      _:)
    let _: (Coordinator) -> (() throws -> Int) throws -> Int = NSPersistentStoreCoordinator.performAndWait(_:)
    let _: (Coordinator) -> ([Any]?) -> NSPersistentHistoryToken? =
      NSPersistentStoreCoordinator.currentPersistentHistoryToken(fromStores:)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: makeModel())
    #expect(coordinator.performAndWait { coordinator.persistentStores.count } == 0)
    let number: Int = await coordinator.perform { coordinator.persistentStores.count }
    #expect(number == 0 && coordinator.currentPersistentHistoryToken(fromStores: nil) == nil)
  }

  @Test("Notifications have Core Data's names and keys")
  func notifications() {
    let names: [Notification.Name] = [
      Notification.Name.NSPersistentStoreCoordinatorStoresWillChange,
      Notification.Name.NSPersistentStoreCoordinatorStoresDidChange,
      Notification.Name.NSPersistentStoreCoordinatorWillRemoveStore,
      Notification.Name.NSPersistentStoreRemoteChange,
    ]
    let keys: [String] = [
      NSAddedPersistentStoresKey, NSRemovedPersistentStoresKey, NSUUIDChangedPersistentStoresKey,
      NSPersistentStoreURLKey, NSPersistentHistoryTokenKey,
    ]
    #expect(Set(names).count == 4 && Set(keys).count == 5)
  }
}
