public import CDEManagedModel
public import CDEModelRuntime

/// The stores of a schema, and the main context. Pass it between isolations.
public class ModelContainer: Equatable, @unchecked Sendable {
  // Guard: immutable, except for the main context, which the main actor uses alone.
  let core: ContainerCore
  @MainActor private var keptMainContext: ModelContext?

  /// Opens the stores of model classes, and makes those that do not exist.
  ///
  /// - Parameters:
  ///   - types: the classes; those that they reach by relationships are added.
  ///   - migrationPlan: the versions of the schema, for stores of older ones. Without a plan, differences are inferred.
  ///   - configurations: the stores; one file in the default folder without any.
  /// - Throws: ``SwiftDataError``: classes that contradict each other, or a store that can't be opened, with the cause.
  public convenience init(
    for types: any PersistentModel.Type..., migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
    configurations: ModelConfiguration...
  ) throws {
    try self.init(for: Schema(types), migrationPlan: migrationPlan, configurations: configurations)
  }

  /// Opens the stores of a schema, and makes those that do not exist.
  public convenience init(
    for schema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
    configurations: ModelConfiguration...
  ) throws {
    try self.init(for: schema, migrationPlan: migrationPlan, configurations: configurations)
  }

  /// Opens the stores of a schema, and makes those that do not exist.
  public convenience init(
    for schema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
    configurations: [ModelConfiguration]
  ) throws {
    self.init(try ContainerCore(schema, migrationPlan, configurations))
  }

  /// Opens stores of the application's own types, beside others, and makes those that do not exist.
  ///
  /// - Parameters:
  ///   - types: the classes; those that they reach by relationships are added.
  ///   - migrationPlan: the versions of the schema, for stores of older ones. A store of the application's migrates its contents itself.
  ///   - configurations: the stores. Each has the models of its schema; one without a schema has those that no other names.
  /// - Throws: ``SwiftDataError``: classes that contradict each other, or a store that can't be opened, with the cause.
  @_disfavoredOverload
  public convenience init(
    for types: any PersistentModel.Type..., migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
    configurations: any DataStoreConfiguration...
  ) throws {
    try self.init(for: Schema(types), migrationPlan: migrationPlan, configurations: configurations)
  }

  /// Opens stores of the application's own types, beside others, and makes those that do not exist.
  @_disfavoredOverload
  public convenience init(
    for schema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
    configurations: any DataStoreConfiguration...
  ) throws {
    try self.init(for: schema, migrationPlan: migrationPlan, configurations: configurations)
  }

  /// Opens stores of the application's own types, beside others, and makes those that do not exist.
  @_disfavoredOverload
  public convenience init(
    for schema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
    configurations: [any DataStoreConfiguration]
  ) throws {
    self.init(try ContainerCore(schema, migrationPlan, configurations))
  }

  init(_ core: ContainerCore) {
    self.core = core
    core.serve(self)
  }

  /// The entities of the stores.
  public var schema: Schema { core.schema }

  /// The versions of the schema.
  public var migrationPlan: (any SchemaMigrationPlan.Type)? { core.migrationPlan }

  /// The stores of rows. Those of the application's own types are not among them.
  public var configurations: Set<ModelConfiguration> {
    Set(core.configurations.compactMap { $0 as? ModelConfiguration })
  }

  /// The context of the main actor. It saves by itself soon after changes.
  @MainActor public var mainContext: ModelContext {
    if let keptMainContext { return keptMainContext }
    let made = core.mainContext()
    keptMainContext = made
    return made
  }

  /// Removes all models from the stores. Contexts lose what they have of them.
  ///
  /// A store that can't be removed is reported. ``erase()`` throws its error.
  public func deleteAllData() {
    do { try core.erase() } catch { ModelReport.send("The stores could not be erased: \(error)") }
  }

  /// Removes all models from the stores, by making the stores anew.
  public func erase() throws { try core.erase() }

  /// Whether the containers have the same stores open.
  public static func == (first: ModelContainer, second: ModelContainer) -> Bool { first.core === second.core }
}

// For the layer of test support, whose stores are loaded by containers of its own.
@_spi(CDE) extension ModelContainer {
  /// A container over stores that are loaded already, with the model of ``Schema/preparedModel()``.
  public convenience init(_ schema: Schema, over container: NSPersistentContainer) throws {
    self.init(ContainerCore(schema, try PreparedSchema.prepare(schema), container))
  }
}

@_spi(CDE) extension Schema {
  /// The model of a container over the schema, which new instances of its classes take from now on.
  public func preparedModel() throws -> NSManagedObjectModel { try PreparedSchema.prepare(self).model }
}
