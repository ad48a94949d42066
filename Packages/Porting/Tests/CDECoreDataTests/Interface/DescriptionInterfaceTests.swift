import CDECoreData
@_spi(CDE) import CDESQLiteFaults
import Testing

private final class OverriddenDescription: NSPersistentStoreDescription, @unchecked Sendable {
  // Guard: used by one test, on one thread.
  override init(url: URL) { super.init(url: url) }

  override var url: URL? {
    get { super.url }
    set { super.url = newValue }
  }
  override var type: String {
    get { NSInMemoryStoreType }
    set { super.type = newValue }
  }
  override var configuration: String? {
    get { super.configuration }
    set { super.configuration = newValue }
  }
  override var isReadOnly: Bool {
    get { super.isReadOnly }
    set { super.isReadOnly = newValue }
  }
  override var timeout: TimeInterval {
    get { super.timeout }
    set { super.timeout = newValue }
  }
  override var shouldAddStoreAsynchronously: Bool {
    get { super.shouldAddStoreAsynchronously }
    set { super.shouldAddStoreAsynchronously = newValue }
  }
  override var shouldMigrateStoreAutomatically: Bool {
    get { super.shouldMigrateStoreAutomatically }
    set { super.shouldMigrateStoreAutomatically = newValue }
  }
  override var shouldInferMappingModelAutomatically: Bool {
    get { super.shouldInferMappingModelAutomatically }
    set { super.shouldInferMappingModelAutomatically = newValue }
  }
  override func setOption(_ option: Any?, forKey key: String) { super.setOption(option, forKey: key) }
  override func setValue(_ value: String?, forPragmaNamed name: String) {
    super.setValue(value, forPragmaNamed: name)
  }
}

@Suite("The interface of store descriptions")
struct DescriptionInterfaceTests {
  private typealias Description = NSPersistentStoreDescription

  @Test("A description has Core Data's members")
  func description() {
    let _: any NSCopying.Type = NSPersistentStoreDescription.self
    let _: () -> NSPersistentStoreDescription = NSPersistentStoreDescription.init
    let _: (URL) -> NSPersistentStoreDescription = NSPersistentStoreDescription.init(url:)
    let _: ReferenceWritableKeyPath<Description, URL?> = \NSPersistentStoreDescription.url
    let _: ReferenceWritableKeyPath<Description, String> = \NSPersistentStoreDescription.type
    let _: ReferenceWritableKeyPath<Description, String?> = \NSPersistentStoreDescription.configuration
    let _: KeyPath<Description, [String: Any]> = \NSPersistentStoreDescription.options
    let _: (Description) -> (NSObject?, String) -> Void = NSPersistentStoreDescription.setOption(_:forKey:)
    let _: ReferenceWritableKeyPath<Description, Bool> = \NSPersistentStoreDescription.isReadOnly
    let _: ReferenceWritableKeyPath<Description, TimeInterval> = \NSPersistentStoreDescription.timeout
    let _: KeyPath<Description, [String: String]> = \NSPersistentStoreDescription.sqlitePragmas
    let _: (Description) -> (NSObject?, String) -> Void =
      NSPersistentStoreDescription.setValue(_:forPragmaNamed:)
    let _: ReferenceWritableKeyPath<Description, Bool> =
      \NSPersistentStoreDescription.shouldAddStoreAsynchronously
    let _: ReferenceWritableKeyPath<Description, Bool> =
      \NSPersistentStoreDescription.shouldMigrateStoreAutomatically
    let _: ReferenceWritableKeyPath<Description, Bool> =
      \NSPersistentStoreDescription.shouldInferMappingModelAutomatically
    let _: ReferenceWritableKeyPath<Description, NSPersistentCloudKitContainerOptions?> =
      \NSPersistentStoreDescription.cloudKitContainerOptions
    let description = NSPersistentStoreDescription()
    #expect(description.type == NSSQLiteStoreType && !description.isReadOnly && description.timeout == 240)
    #expect(description.shouldMigrateStoreAutomatically && description.shouldInferMappingModelAutomatically)
    #expect(!description.shouldAddStoreAsynchronously && description.configuration == nil)
    #expect(description.cloudKitContainerOptions == nil)
    let migrates = NSPersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null")).options
    #expect(migrates[NSMigratePersistentStoresAutomaticallyOption] as? Bool == true)
    #expect(migrates[NSInferMappingModelAutomaticallyOption] as? Bool == true)
    description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
    description.setValue("DELETE" as NSString, forPragmaNamed: "journal_mode")
    #expect(description.options[NSPersistentHistoryTrackingKey] as? Bool == true)
    #expect(description.sqlitePragmas == ["journal_mode": "DELETE"])
  }

  @Test("A container reads what a description overrides")
  func overriding() {
    let url = ProcessFolder.newURL().appendingPathComponent("Notes.sqlite")
    let container = NSPersistentContainer(name: "Notes", managedObjectModel: makeModel())
    container.persistentStoreDescriptions = [OverriddenDescription(url: url)]
    container.loadPersistentStores { _, error in #expect(error == nil) }
    #expect(container.persistentStoreCoordinator.persistentStores.map(\.type) == [NSInMemoryStoreType])
    #expect(!FileManager.default.fileExists(atPath: url.path))
  }
}
