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
  let configurations: [any DataStoreConfiguration]
  /// The stores of the application's own types, by the names of their entities.
  private let customStores: [String: CustomStore]
  /// The stores of the application's own types.
  let custom: [CustomStore]
  let container: NSPersistentContainer
  @MainActor private var knownMainContext = MemoryReference()

  private struct Served: @unchecked Sendable {
    // Guard: the lock around it.
    weak var container: ModelContainer?
  }

  private let lastServed = Lock(Served())
  /// The container that the program has, while it lives. Contexts return it, and do not keep it: it may have the main context.
  var served: ModelContainer? { lastServed.withLock { $0.container } }

  func serve(_ container: ModelContainer) { lastServed.withLock { $0.container = container } }

  var coordinator: NSPersistentStoreCoordinator { container.persistentStoreCoordinator }

  /// - Parameter options: further options of the stores.
  init(
    _ schema: Schema, _ migrationPlan: (any SchemaMigrationPlan.Type)?,
    _ configurations: [any DataStoreConfiguration],
    options: [String: Any] = [:]
  ) throws {
    self.schema = schema
    self.migrationPlan = migrationPlan
    self.configurations = configurations.isEmpty ? [ModelConfiguration(schema: schema)] : configurations
    do {
      let names = try Self.entities(of: self.configurations, in: schema)
      let prepared = try PreparedSchema.prepare(schema, names)
      self.prepared = prepared
      container = NSPersistentContainer(name: "default", managedObjectModel: prepared.model)
      container.persistentStoreDescriptions = []
      var customStores: [String: CustomStore] = [:]
      var custom: [CustomStore] = []
      var ofRows: [NSPersistentStoreDescription] = []
      for configuration in self.configurations {
        let description: NSPersistentStoreDescription
        if let configuration = configuration as? ModelConfiguration {
          description = try Self.description(of: configuration)
          ofRows.append(description)
        } else {
          let entities =
            names[configuration.storeName].map { own in own.sorted() } ?? schema.entities.map(\.name)
          let part = configuration.schema ?? schema.part(entities)
          let store = CustomStore(try configuration.makeStore(part, migrationPlan, prepared), prepared)
          for entity in entities { customStores[entity] = store }
          custom.append(store)
          description = CustomStoreEngine.description(of: store)
        }
        if !names.isEmpty { description.configuration = configuration.storeName }
        container.persistentStoreDescriptions.append(description)
      }
      self.customStores = customStores
      self.custom = custom
      for description in ofRows {
        for (key, value) in options { description.setOption(value, forKey: key) }
      }
      // A class of an older version may be one of this version, too, and takes the older schema for its new instances meanwhile.
      defer { if migrationPlan != nil { prepared.serve() } }
      // A custom store migrates its contents itself.
      try migrationPlan?.prepare(ofRows, to: prepared.model)
      let progress = OpeningProgress(ofRows)
      try load()
      progress?.end()
    } catch let error as SwiftDataError {
      throw error
    } catch let error as DataStoreError {
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
    customStores = [:]
    custom = []
  }

  deinit { knownMainContext.refer(to: nil) }

  /// The schema in the runtime's form, and how each of this library's stores is opened.
  static func descriptions(
    of configurations: [ModelConfiguration], in schema: Schema
  ) throws -> (PreparedSchema, [NSPersistentStoreDescription]) {
    let names = try entities(of: configurations, in: schema)
    let descriptions = try configurations.map { configuration in
      let description = try description(of: configuration)
      if !names.isEmpty { description.configuration = configuration.storeName }
      return description
    }
    return (try PreparedSchema.prepare(schema, names), descriptions)
  }

  /// The entities of each store, if there are several stores.
  private static func entities(
    of configurations: [any DataStoreConfiguration], in schema: Schema
  ) throws -> [String: Set<String>] {
    let places = configurations.compactMap { $0 as? ModelConfiguration }.filter { !$0.isStoredInMemoryOnly }
      .map(\.place)
    let names = configurations.map(\.storeName)
    if Set(places).count < places.count || Set(names).count < names.count {
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

  private static func description(
    of configuration: ModelConfiguration
  ) throws -> NSPersistentStoreDescription {
    let description = NSPersistentStoreDescription()
    if configuration.isStoredInMemoryOnly {
      description.type = NSInMemoryStoreType
    } else {
      try configuration.set(description)
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

  /// The store of the application's that has the models of an entity; nil for other entities.
  func customStore(of entity: String) -> CustomStore? {
    customStores.isEmpty ? nil : customStores[entity]
  }

  /// Removes the stores' rows: of custom stores by their own means, of engines by deleting them, and by making the other stores anew.
  func erase() throws {
    for store in custom { try store.erase() }
    let descriptions = container.persistentStoreDescriptions.filter {
      [NSSQLiteStoreType, NSInMemoryStoreType].contains($0.type)
    }
    for store in coordinator.persistentStores
    where [NSSQLiteStoreType, NSInMemoryStoreType].contains(store.type) {
      let (url, type) = (store.url, store.type)
      try coordinator.remove(store)
      if let url, type != NSInMemoryStoreType {
        try coordinator.destroyPersistentStore(at: url, ofType: type, options: nil)
      }
    }
    var failure: (any Error)?
    for description in descriptions {
      coordinator.addPersistentStore(with: description) { _, error in failure = failure ?? error }
    }
    if let failure { throw failure }
    if descriptions.count + custom.count < container.persistentStoreDescriptions.count { try deleteRows() }
  }

  /// Deletes all models in one save. Those of stores that were made anew are none.
  private func deleteRows() throws {
    let context = ModelContext(standIn: self)
    for entity in prepared.model.entities where entity.superentity == nil {
      guard let name = entity.name, customStore(of: name) == nil else { continue }
      let request = NSFetchRequest<NSManagedObject>(entityName: name)
      for object in try context.context.fetch(request) { context.context.delete(object) }
    }
    try context.save()
  }
}

extension DataStoreConfiguration {
  /// The name of the store's part of the model.
  fileprivate var storeName: String { name.isEmpty ? "default" : name }
}
