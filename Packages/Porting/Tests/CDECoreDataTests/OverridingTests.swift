import CDECoreData
@_spi(CDE) import CDESQLiteFaults
import Testing

/// A container as tests of applications write it: everything that can be overridden is.
private final class MockContainer: NSPersistentContainer, @unchecked Sendable {
  // Guard: used by one test, on one thread.
  let substitute: NSManagedObjectContext
  private(set) var loads = 0

  init(substitute: NSManagedObjectContext) {
    self.substitute = substitute
    super.init(name: "Mock", managedObjectModel: makeModel())
  }

  override var name: String { "\(super.name)!" }
  override var viewContext: NSManagedObjectContext { substitute }
  override var managedObjectModel: NSManagedObjectModel { super.managedObjectModel }
  override var persistentStoreCoordinator: NSPersistentStoreCoordinator { super.persistentStoreCoordinator }
  override var persistentStoreDescriptions: [NSPersistentStoreDescription] {
    get { super.persistentStoreDescriptions }
    set { super.persistentStoreDescriptions = newValue }
  }

  override func loadPersistentStores(
    completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
  ) {
    loads += 1
    super.loadPersistentStores { description, error in block(description, error) }
  }

  override func newBackgroundContext() -> NSManagedObjectContext { substitute }
}

@Suite("What applications override, and make without arguments")
struct OverridingTests {
  @Test("Members of a container can be overridden, and are called")
  func container() throws {
    let substitute = NSManagedObjectContext(concurrencyType: .privateQueue)
    let mock = MockContainer(substitute: substitute)
    mock.persistentStoreDescriptions = [
      NSPersistentStoreDescription(url: ProcessFolder.newURL().appendingPathComponent("Mock.sqlite"))
    ]
    let container: NSPersistentContainer = mock
    var reports: [(any Error)?] = []
    container.loadPersistentStores { _, error in reports.append(error) }
    #expect(mock.loads == 1 && reports.count == 1 && reports[0] == nil)
    #expect(container.viewContext === substitute && container.newBackgroundContext() === substitute)
    #expect(container.name == "Mock!")
    #expect(container.persistentStoreCoordinator.persistentStores.count == 1)
    #expect(container.managedObjectModel === container.persistentStoreCoordinator.managedObjectModel)
  }

  @Test("A property's entity is used without a question mark")
  func entityOfProperty() throws {
    let note = try #require(makeModel().entitiesByName["Note"])
    let tags = try #require(note.relationshipsByName["tags"])
    #expect(tags.entity.name == "Note")
    #expect(tags.entity.managedObjectClassName == "NSManagedObject")
    #expect(NSAttributeDescription().entity == nil)
  }

  @Test("An ID that was made for no object equals only itself, and finds nothing")
  func looseID() throws {
    let stack = try Stack()
    let (id, other) = (NSManagedObjectID(), NSManagedObjectID())
    #expect(id == id && id != other && id.isTemporaryID && id.persistentStore == nil)
    #expect(id.uriRepresentation() != other.uriRepresentation())
    let context = stack.container.newBackgroundContext()
    context.performAndWait {
      #expect(throws: (any Error).self) { try context.existingObject(with: id) }
      #expect(context.registeredObject(for: id) == nil)
    }
  }

  @Test("A context that is made without a type works")
  func contextWithoutType() throws {
    let stack = try Stack()
    let context = NSManagedObjectContext()
    context.persistentStoreCoordinator = stack.container.persistentStoreCoordinator
    try context.performAndWait {
      stack.insertNote("A", in: context)
      try context.save()
      #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Note")) == 1)
    }
  }

  @Test("What sets mirroring up compiles, the store works, and the schema's error says what to do")
  func mirroring() throws {
    let container = NSPersistentCloudKitContainer(name: "Notes", managedObjectModel: makeModel())
    let description = NSPersistentStoreDescription(
      url: ProcessFolder.newURL().appendingPathComponent("Notes.sqlite"))
    #expect(description.cloudKitContainerOptions == nil)
    description.cloudKitContainerOptions = NSPersistentCloudKitContainerOptions(
      containerIdentifier: "iCloud.notes")
    #expect(description.cloudKitContainerOptions?.containerIdentifier == "iCloud.notes")
    container.persistentStoreDescriptions = [description]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    #expect(failure == nil)
    let error = #expect(throws: CocoaError.self) {
      try container.initializeCloudKitSchema(options: [.dryRun, .printSchema])
    }
    #expect(error?.code == .featureUnsupported)
    #expect(error?.localizedDescription.contains("#if canImport(CloudKit)") == true)
    let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
    #expect(container.canModifyManagedObjects(in: store))
    #expect(container.canUpdateRecord(forManagedObjectWith: NSManagedObjectID()))
    #expect(
      NSPersistentCloudKitContainer.eventChangedNotification.rawValue.hasSuffix("EventChangedNotification"))
  }
}
