import CDECoreData
@_spi(CDE) import CDESQLiteFaults
import Testing

/// A container as applications write it: everything that can be overridden is.
private final class OverriddenContainer: NSPersistentContainer, @unchecked Sendable {
  // Guard: used by one test, on one thread.
  var calls: [String] = []

  override init(name: String, managedObjectModel model: NSManagedObjectModel) {
    super.init(name: name, managedObjectModel: model)
  }

  override class func defaultDirectoryURL() -> URL { ProcessFolder.url }

  override var name: String { "\(super.name)!" }
  override var viewContext: NSManagedObjectContext { super.viewContext }
  override var managedObjectModel: NSManagedObjectModel { super.managedObjectModel }
  override var persistentStoreCoordinator: NSPersistentStoreCoordinator { super.persistentStoreCoordinator }
  override var persistentStoreDescriptions: [NSPersistentStoreDescription] {
    get { super.persistentStoreDescriptions }
    set { super.persistentStoreDescriptions = newValue }
  }

  override func loadPersistentStores(
    completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
  ) {
    calls.append("loadPersistentStores")
    super.loadPersistentStores(completionHandler: block)
  }

  override func newBackgroundContext() -> NSManagedObjectContext {
    calls.append("newBackgroundContext")
    return super.newBackgroundContext()
  }

  override func performBackgroundTask(_ block: @escaping @Sendable (NSManagedObjectContext) -> Void) {
    super.performBackgroundTask(block)
  }
}

private final class OverriddenCloudKitContainer: NSPersistentCloudKitContainer, @unchecked Sendable {
  // Guard: it has no state of its own.
  override var name: String { "\(super.name)?" }
}

private final class OverriddenOptions: NSPersistentCloudKitContainerOptions {
  override init(containerIdentifier: String) { super.init(containerIdentifier: "\(containerIdentifier)!") }
}

/// A class that is known at run time only.
private func make<Container: NSPersistentContainer>(_ type: Container.Type) -> Container {
  type.init(name: "Notes", managedObjectModel: makeModel())
}

@Suite("The interface of containers")
struct ContainerInterfaceTests {
  private typealias Container = NSPersistentContainer
  private typealias Description = NSPersistentStoreDescription

  @Test("A container has Core Data's members")
  func container() {
    let named: (String) -> NSPersistentContainer = { NSPersistentContainer(name: $0) }
    let _: (String, NSManagedObjectModel) -> NSPersistentContainer =
      NSPersistentContainer.init(name:managedObjectModel:)
    let _: () -> URL = NSPersistentContainer.defaultDirectoryURL
    let _: KeyPath<Container, String> = \NSPersistentContainer.name
    let _: KeyPath<Container, NSManagedObjectContext> = \NSPersistentContainer.viewContext
    let _: KeyPath<Container, NSManagedObjectModel> = \NSPersistentContainer.managedObjectModel
    let _: KeyPath<Container, NSPersistentStoreCoordinator> =
      \NSPersistentContainer.persistentStoreCoordinator
    let _: ReferenceWritableKeyPath<Container, [Description]> =
      \NSPersistentContainer.persistentStoreDescriptions
    let _: (Container) -> (@escaping (Description, (any Error)?) -> Void) -> Void =
      NSPersistentContainer.loadPersistentStores(completionHandler:)
    let _: (Container) -> () -> NSManagedObjectContext = NSPersistentContainer.newBackgroundContext
    let _: (Container) -> (@escaping @Sendable (NSManagedObjectContext) -> Void) -> Void =
      NSPersistentContainer.performBackgroundTask(_:)
    #expect(named("Nowhere").name == "Nowhere")
    let container = make(NSPersistentContainer.self)
    #expect(container.name == "Notes" && container.viewContext.concurrencyType == .mainQueueConcurrencyType)
    #expect(container.persistentStoreDescriptions.map(\.type) == [NSSQLiteStoreType])
    #expect(container.persistentStoreDescriptions.first?.url?.lastPathComponent == "Notes.sqlite")
  }

  @Test("Code that knows the base class calls what a container overrides")
  func overriding() async throws {
    let overridden = OverriddenContainer(name: "Notes", managedObjectModel: makeModel())
    let container: NSPersistentContainer = overridden
    let url = ProcessFolder.newURL().appendingPathComponent("Notes.sqlite")
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
    container.loadPersistentStores { _, error in #expect(error == nil) }
    #expect(container.name == "Notes!" && container.newBackgroundContext() !== container.viewContext)
    #expect(overridden.calls == ["loadPersistentStores", "newBackgroundContext"])
    #expect(container.persistentStoreCoordinator.persistentStores.count == 1)
    #expect(type(of: container).defaultDirectoryURL() == ProcessFolder.url)
    let number: Int = try await container.performBackgroundTask { context in
      try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Note"))
    }
    #expect(number == 0)
  }

  @Test("A container that mirrors elsewhere has the members that set it up")
  func cloudKit() throws {
    typealias CloudKit = NSPersistentCloudKitContainer
    let _: NSPersistentContainer.Type = NSPersistentCloudKitContainer.self
    let _: (CloudKit) -> (NSPersistentCloudKitContainerSchemaInitializationOptions) throws -> Void =
      NSPersistentCloudKitContainer.initializeCloudKitSchema(options:)
    let _: (CloudKit) -> (NSManagedObjectID) -> Bool =
      NSPersistentCloudKitContainer.canUpdateRecord(forManagedObjectWith:)
    let _: (CloudKit) -> (NSManagedObjectID) -> Bool =
      NSPersistentCloudKitContainer.canDeleteRecord(forManagedObjectWith:)
    let _: (CloudKit) -> (NSPersistentStore) -> Bool =
      NSPersistentCloudKitContainer.canModifyManagedObjects(in:)
    let _: NSObject.Type = NSPersistentCloudKitContainer.Event.self
    let _: Notification.Name = NSPersistentCloudKitContainer.eventChangedNotification
    let _: String = NSPersistentCloudKitContainer.eventNotificationUserInfoKey
    let _: (String) -> NSPersistentCloudKitContainerOptions =
      NSPersistentCloudKitContainerOptions.init(containerIdentifier:)
    let _: KeyPath<NSPersistentCloudKitContainerOptions, String> =
      \NSPersistentCloudKitContainerOptions.containerIdentifier
    #expect(OverriddenOptions(containerIdentifier: "A").containerIdentifier == "A!")
    let options: [NSPersistentCloudKitContainerSchemaInitializationOptions] = [
      NSPersistentCloudKitContainerSchemaInitializationOptions.dryRun,
      NSPersistentCloudKitContainerSchemaInitializationOptions.printSchema,
    ]
    #expect(options.map(\.rawValue) == [2, 4])
    let container = OverriddenCloudKitContainer(name: "Notes", managedObjectModel: makeModel())
    #expect(
      container.name == "Notes?" && container.canUpdateRecord(forManagedObjectWith: NSManagedObjectID()))
  }
}
