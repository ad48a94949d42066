@_spi(CDE) internal import CDEManagedModel
@_spi(CDE) internal import CDEModelFiles
internal import CDEStore
internal import Foundation

/// The migration of one store to a model: both models, and how they belong together. Made from what the store says.
struct PendingMigration {
  let mapping: InferredMapping
  let modelSource: StoreMigrationPlan.ModelSource
  private let migration: StoreMigration
  private let source: ModelBinding
  private let request: MigrationRequest

  /// Looks for the old model, and compares it with the new one.
  ///
  /// - Returns: nil if the store has the new version already.
  init?(_ request: MigrationRequest) throws {
    if request.storedHashes == request.newHashes { return nil }
    let found = try request.sourceModel()
    modelSource = found.from
    let old = found.model
    do { mapping = try InferredMapping(from: old, to: request.destination.model) } catch {
      throw ManagedObjectError(
        .inferredMapping,
        "The store at \(request.path) can't be migrated to the new model, and stays as it is: \(error.message)",
        cause: error, entity: error.entity, property: error.property)
    }
    source = try ModelBinding.of(old)
    self.request = request
    migration = StoreMigration(mapping, to: request.destination)
  }

  func survey() throws(StoreError) -> MigrationSurvey {
    try request.store.survey(
      migration, from: source.schema, to: request.destination.schema, entities: request.entities)
  }

  func run(_ pace: MigrationPace) throws(StoreError) {
    // If another process was faster, the store has the version that this one wants.
    _ = try request.store.migrate(
      migration, from: source.schema, to: request.destination.schema, entities: request.entities,
      modelCache: request.destination.modelCache, pace: pace)
  }
}
