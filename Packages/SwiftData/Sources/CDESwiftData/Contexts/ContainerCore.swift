@_spi(CDE) internal import CDEExecutors
internal import CDEManagedModel
@_spi(CDE) internal import CDEModelRuntime
internal import Foundation

/// The stores of a container. Contexts keep them open, also after the container was freed.
final class ContainerCore: @unchecked Sendable {
  // Guard: immutable after the initialiser, except for the main context, which the main actor uses alone.
  let schema: Schema
  let prepared: PreparedSchema
  let migrationPlan: (any SchemaMigrationPlan.Type)?
  let configurations: [ModelConfiguration]
  let container: NSPersistentContainer
  @MainActor private var knownMainContext = MemoryReference()

  var coordinator: NSPersistentStoreCoordinator { container.persistentStoreCoordinator }

  /// - Parameter options: further options of the stores.
  init(
    _ schema: Schema, _ migrationPlan: (any SchemaMigrationPlan.Type)?,
    _ configurations: [ModelConfiguration],
    options: [String: Any] = [:]
  ) throws {
    self.schema = schema
    self.migrationPlan = migrationPlan
    self.configurations = configurations.isEmpty ? [ModelConfiguration(schema: schema)] : configurations
    do {
      let (prepared, descriptions) = try Self.descriptions(of: self.configurations, in: schema)
      self.prepared = prepared
      container = NSPersistentContainer(name: "default", managedObjectModel: prepared.model)
      container.persistentStoreDescriptions = descriptions
      for description in descriptions {
        for (key, value) in options { description.setOption(value, forKey: key) }
      }
      // A class of an older version may be one of this version, too, and takes the older schema for its new instances meanwhile.
      defer { if migrationPlan != nil { prepared.serve() } }
      try migrationPlan?.prepare(descriptions, to: prepared.model)
      let progress = OpeningProgress(descriptions)
      try load()
      progress?.end()
    } catch let error as SwiftDataError {
      throw error
    } catch {
      throw SwiftDataError.loadIssueModelContainer.about(
        "The container's stores can't be opened: \((error as? ManagedObjectError)?.message ?? "\(error)")",
        cause: error)
    }
  }

  /// The stores that a migration has open.
  init(_ schema: Schema, _ prepared: PreparedSchema, _ container: NSPersistentContainer) {
    self.schema = schema
    self.prepared = prepared
    self.container = container
    migrationPlan = nil
    configurations = []
  }

  deinit { knownMainContext.refer(to: nil) }

  /// The schema in the runtime's form, and how each store is opened.
  static func descriptions(
    of configurations: [ModelConfiguration], in schema: Schema
  ) throws -> (PreparedSchema, [NSPersistentStoreDescription]) {
    let names = try entities(of: configurations, in: schema)
    let descriptions = configurations.map { configuration in
      let description = description(of: configuration)
      if !names.isEmpty { description.configuration = configuration.storeName }
      return description
    }
    return (try PreparedSchema.prepare(schema, names), descriptions)
  }

  /// The entities of each store, if there are several stores.
  private static func entities(
    of configurations: [ModelConfiguration], in schema: Schema
  ) throws -> [String: Set<String>] {
    let urls = configurations.filter { !$0.isStoredInMemoryOnly }.map(\.url)
    let names = configurations.map(\.storeName)
    if Set(urls).count < urls.count || Set(names).count < names.count {
      throw SwiftDataError.duplicateConfiguration
    }
    let all = Set(schema.entities.map(\.name))
    for configuration in configurations {
      try configuration.validate()
      let own = Set(configuration.schema?.entities.map(\.name) ?? [])
      if let unknown = own.subtracting(all).min() {
        throw SwiftDataError.configurationSchemaNotFoundInContainerSchema.about(
          "The configuration \(configuration.name) has the entity \(unknown), which the container's schema lacks. Add its model "
            + "to the container's schema.", entity: unknown)
      }
    }
    if configurations.count < 2 { return [:] }
    // A configuration without a schema of its own has the entities that no other names.
    let named = configurations.reduce(into: Set<String>()) { set, configuration in
      set.formUnion(configuration.schema?.entities.map(\.name) ?? [])
    }
    return Dictionary(
      uniqueKeysWithValues: configurations.map { configuration in
        (
          configuration.storeName,
          configuration.schema.map { Set($0.entities.map(\.name)) } ?? all.subtracting(named)
        )
      })
  }

  private static func description(of configuration: ModelConfiguration) -> NSPersistentStoreDescription {
    let description = NSPersistentStoreDescription()
    if configuration.isStoredInMemoryOnly {
      description.type = NSInMemoryStoreType
    } else {
      description.url = configuration.url
    }
    description.isReadOnly = !configuration.allowsSave
    description.setOption(true, forKey: NSPersistentHistoryTrackingKey)
    // Contexts follow other containers and other processes.
    description.setOption(true, forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
    return description
  }

  private func load() throws {
    var failure: (any Error)?
    container.loadPersistentStores { _, error in if failure == nil { failure = error } }
    if let failure { throw failure }
  }

  @MainActor func mainContext() -> ModelContext {
    if let known = knownMainContext.object { return unsafeDowncast(known, to: ModelContext.self) }
    let made = ModelContext(mainOf: self)
    knownMainContext.refer(to: made)
    return made
  }

  /// Removes the stores' rows by making the stores anew.
  func erase() throws {
    for store in coordinator.persistentStores {
      let (url, type) = (store.url, store.type)
      try coordinator.remove(store)
      if let url, type != NSInMemoryStoreType {
        try coordinator.destroyPersistentStore(at: url, ofType: type, options: nil)
      }
    }
    try load()
  }
}

extension ModelConfiguration {
  /// The name of the store's part of the model.
  fileprivate var storeName: String { name.isEmpty ? "default" : name }
}
