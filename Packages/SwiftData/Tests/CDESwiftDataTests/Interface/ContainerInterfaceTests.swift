import CDESwiftData
import Foundation
import Testing

@Suite("The interface of containers and configurations")
struct ContainerInterfaceTests {
  private enum Version: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Journey.self] }
  }

  private enum Plan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Version.self] }
    static var stages: [MigrationStage] { [] }
  }

  @Test("A container is made of classes or a schema, a plan and configurations")
  @MainActor
  func container() throws {
    isEquatable(ModelContainer.self)
    isSendable(ModelContainer.self)
    let _: (Schema, (any SchemaMigrationPlan.Type)?, ModelConfiguration...) throws -> ModelContainer =
      ModelContainer.init(for:migrationPlan:configurations:)
    let _: (Schema, (any SchemaMigrationPlan.Type)?, [ModelConfiguration]) throws -> ModelContainer =
      ModelContainer.init(for:migrationPlan:configurations:)
    let _: (Schema, (any SchemaMigrationPlan.Type)?, any DataStoreConfiguration...) throws -> ModelContainer =
      ModelContainer.init(for:migrationPlan:configurations:)
    let _: (Schema, (any SchemaMigrationPlan.Type)?, [any DataStoreConfiguration]) throws -> ModelContainer =
      ModelContainer.init(for:migrationPlan:configurations:)
    let _: KeyPath<ModelContainer, Schema> = \ModelContainer.schema
    let _: KeyPath<ModelContainer, (any SchemaMigrationPlan.Type)?> = \ModelContainer.migrationPlan
    let _: KeyPath<ModelContainer, Set<ModelConfiguration>> = \ModelContainer.configurations
    let _: KeyPath<ModelContainer, ModelContext> = \ModelContainer.mainContext
    let _: (ModelContainer) -> () -> Void = ModelContainer.deleteAllData
    let _: (ModelContainer) -> () throws -> Void = ModelContainer.erase

    let memory = ModelConfiguration(isStoredInMemoryOnly: true)
    let container = try ModelContainer(
      for: Journey.self, Halt.self, migrationPlan: Plan.self, configurations: memory)
    #expect(container.schema.entities.count == 3 && container.configurations == [memory])
    #expect(container.migrationPlan == Plan.self)
    #expect(container.mainContext === container.mainContext && container.mainContext.container == container)
    container.mainContext.insert(Journey(name: "a"))
    try container.mainContext.save()
    try container.erase()
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Journey>()) == 0)
    let schema = Schema([Journey.self])
    let others = [
      try ModelContainer(for: schema, configurations: memory),
      try ModelContainer(for: schema, migrationPlan: nil, configurations: [memory]),
    ]
    #expect(others[0] != others[1] && others[0] == others[0])
    ModelContext(others[0]).insert(Journey(name: "a"))
    others[0].deleteAllData()
    #expect(try ModelContext(others[0]).fetchCount(FetchDescriptor<Journey>()) == 0)
  }

  @Test("A configuration has a name, a place, a schema and leave to save")
  func configuration() throws {
    isHashable(ModelConfiguration.self)
    isSendable(ModelConfiguration.self)
    isIdentifiable(ModelConfiguration.self, by: URL.self)
    let _: (Bool) -> ModelConfiguration = ModelConfiguration.init(isStoredInMemoryOnly:)
    let _: (any PersistentModel.Type..., Bool) -> ModelConfiguration =
      ModelConfiguration.init(for:isStoredInMemoryOnly:)
    let _:
      (
        String?, Schema?, Bool, Bool, ModelConfiguration.GroupContainer, ModelConfiguration.CloudKitDatabase
      ) -> ModelConfiguration =
        ModelConfiguration.init(
          _:schema:isStoredInMemoryOnly:allowsSave:groupContainer:cloudKitDatabase:)
    let _: (String?, Schema?, URL, Bool, ModelConfiguration.CloudKitDatabase) -> ModelConfiguration =
      ModelConfiguration.init(_:schema:url:allowsSave:cloudKitDatabase:)
    let _: KeyPath<ModelConfiguration, URL> = \ModelConfiguration.url
    let _: KeyPath<ModelConfiguration, String> = \ModelConfiguration.name
    let _: WritableKeyPath<ModelConfiguration, Schema?> = \ModelConfiguration.schema
    let _: KeyPath<ModelConfiguration, Bool> = \ModelConfiguration.allowsSave
    let _: KeyPath<ModelConfiguration, Bool> = \ModelConfiguration.isStoredInMemoryOnly
    let _: KeyPath<ModelConfiguration, String?> = \ModelConfiguration.groupAppContainerIdentifier
    let _: KeyPath<ModelConfiguration, String?> = \ModelConfiguration.cloudKitContainerIdentifier
    let _: KeyPath<ModelConfiguration, ModelConfiguration.GroupContainer> =
      \ModelConfiguration.groupContainer
    let _: KeyPath<ModelConfiguration, ModelConfiguration.CloudKitDatabase> =
      \ModelConfiguration.cloudKitDatabase
    let _: KeyPath<ModelConfiguration, URL> = \ModelConfiguration.id
    let _: (ModelConfiguration) -> () throws -> Void = ModelConfiguration.validate
    let _: KeyPath<ModelConfiguration, String> = \ModelConfiguration.debugDescription

    let databases: [ModelConfiguration.CloudKitDatabase] = [
      ModelConfiguration.CloudKitDatabase.automatic, ModelConfiguration.CloudKitDatabase.none,
      ModelConfiguration.CloudKitDatabase.private("iCloud.a"),
    ]
    let groups: [ModelConfiguration.GroupContainer] = [
      ModelConfiguration.GroupContainer.automatic, ModelConfiguration.GroupContainer.none,
      ModelConfiguration.GroupContainer.identifier("group.a"),
    ]
    #expect(Set(databases).count == 3 && Set(groups).count == 3)
    var configuration = ModelConfiguration(
      "a", groupContainer: groups[2], cloudKitDatabase: databases[2])
    #expect(configuration.groupAppContainerIdentifier == "group.a")
    #expect(configuration.cloudKitContainerIdentifier == "iCloud.a")
    configuration.schema = Schema([Halt.self])
    #expect(configuration.debugDescription.contains("entities: Halt, Journey, Traveller"))
    try configuration.validate()
    // The standard is a store on the disc that may be written.
    let standard = ModelConfiguration()
    #expect(!standard.isStoredInMemoryOnly && standard.allowsSave && standard.schema == nil)
    #expect(ModelConfiguration(for: Journey.self).schema?.entity(for: Halt.self) != nil)
  }
}
