@_spi(CDE) internal import CDEManagedModel
@_spi(CDE) internal import CDEModelFiles
@_spi(CDE) internal import CDESQLiteStore
internal import CDEStore
internal import Foundation

/// The migration of one store to a model: both models, and how they belong together. Made from what is in the store's file.
struct PendingMigration {
  let mapping: InferredMapping
  let modelSource: StoreMigrationPlan.ModelSource
  private let migration: StoreMigration
  private let source: ModelBinding
  private let destination: ModelBinding
  private let entities: Set<EntityIndex>
  private let configuration: SQLiteStore.Configuration

  /// Looks for the old model, and compares it with the new one.
  ///
  /// - Returns: nil if the store has the new version already.
  init?(
    _ description: NSPersistentStoreDescription, _ configuration: SQLiteStore.Configuration,
    to destination: ModelBinding, entities: Set<EntityIndex>
  ) throws {
    let file = try SQLiteStore.inspection(configuration)
    let hashes = file.versionHashes.mapValues { Data($0) }
    let wanted = entities.map { destination.schema.entities[$0].source }
    if hashes == Dictionary(wanted.map { ($0.name, Data($0.versionHash)) }, uniquingKeysWith: { $1 }) {
      return nil
    }
    guard let found = Self.sourceModel(description, file, hashes, destination.model) else {
      throw ManagedObjectError(
        .migrationLacksSourceModel,
        "The store at \(description.url?.path ?? "") was made with another version of the model, which is neither in the "
          + "store nor among the models of the program. Add that version to the program's model files, or to "
          + "migrationSourceModels of the description.")
    }
    modelSource = found.from
    let old = found.model
    do { mapping = try InferredMapping(from: old, to: destination.model) } catch {
      throw ManagedObjectError(
        .inferredMapping,
        "The store at \(description.url?.path ?? "") can't be migrated to the new model, and stays as it is: \(error.message)",
        cause: error, entity: error.entity, property: error.property)
    }
    source = try ModelBinding.of(old)
    self.destination = destination
    self.entities = entities
    self.configuration = configuration
    migration = StoreMigration(mapping, to: destination)
  }

  /// The model with which a store was made, and where it was found.
  static func sourceModel(
    _ description: NSPersistentStoreDescription, _ file: StoreInspection, _ hashes: [String: Data],
    _ new: NSManagedObjectModel
  ) -> (model: NSManagedObjectModel, from: StoreMigrationPlan.ModelSource)? {
    if let given = NSManagedObjectModel.models(withHashes: hashes, among: description.migrationSourceModels),
      let model = given.count == 1 ? given[0] : NSManagedObjectModel(byMerging: given)
    {
      return (model, .description)
    }
    if let archive = file.modelArchive,
      let model = try? NSManagedObjectModel(compiledModel: Data(archive)), model.contains(hashes)
    {
      return (model, .store)
    }
    let folders =
      ModelResources.folders(of: new.callingModule) + [Bundle.main.resourceURL ?? Bundle.main.bundleURL]
    return ModelVersions.model(withHashes: hashes, in: folders).map { ($0, .resources) }
  }

  func survey() throws(StoreError) -> MigrationSurvey {
    try SQLiteStore.survey(
      migration, from: source.schema, to: destination.schema, entities: entities, configuration: configuration
    )
  }

  func run() throws(StoreError) {
    try SQLiteStore.migrate(
      migration, from: source.schema, to: destination.schema, entities: entities,
      configuration: configuration,
      modelCache: destination.modelCache)
  }
}
