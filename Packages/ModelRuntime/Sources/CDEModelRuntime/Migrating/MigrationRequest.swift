@_spi(CDE) internal import CDEManagedModel
@_spi(CDE) internal import CDEModelFiles
internal import CDEStore
internal import Foundation

/// The migration of a store: which store, and the version that it gets.
struct MigrationRequest {
  let description: NSPersistentStoreDescription
  let store: any MigratableStore
  /// The new version of the model, and the entities of it that the store has.
  let destination: ModelBinding
  let entities: Set<EntityIndex>
  /// What the store said. A migration reads it again with the lock of the store.
  private let version: any StoredVersion
  /// The configuration of the models that the store has; nil for the whole model.
  let configuration: String?
  /// The version hashes of the entities in the store.
  let storedHashes: [String: Data]

  /// Reads which version the store has.
  ///
  /// - Returns: nil if there is no store.
  /// - Throws: `StoreError`: it can't be read.
  init?(
    _ description: NSPersistentStoreDescription, _ store: any MigratableStore, to destination: ModelBinding,
    entities: Set<EntityIndex>
  ) throws(StoreError) {
    guard let version = try store.version() else { return nil }
    self.description = description
    self.store = store
    self.destination = destination
    self.entities = store.holdsWholeModel ? Set(destination.schema.entities.indices) : entities
    configuration = store.holdsWholeModel ? nil : description.configuration
    self.version = version
    storedHashes = version.versionHashes.mapValues { Data($0) }
  }

  /// Where the store is, for messages.
  var path: String { description.place }

  /// The archive of the model that the store keeps; nil without one.
  var modelArchive: [UInt8]? { version.modelArchive }

  /// The version hashes that the store has in the end.
  var newHashes: [String: Data] {
    let wanted = entities.map { destination.schema.entities[$0].source }
    return Dictionary(wanted.map { ($0.name, Data($0.versionHash)) }) { first, _ in first }
  }

  // MARK: The old model

  /// The model with which the store was made, and where it was found.
  func sourceModel() throws -> (model: NSManagedObjectModel, from: StoreMigrationPlan.ModelSource) {
    let hashes = storedHashes
    if let given = NSManagedObjectModel.models(withHashes: hashes, among: description.migrationSourceModels),
      let model = given.count == 1 ? given[0] : NSManagedObjectModel(byMerging: given)
    {
      return (model, .description)
    }
    // As a store opens by its copy alone: hashes that are computed otherwise here are those of the file.
    let copy = Result {
      try NSManagedObjectModel(
        CachedModel(description.url ?? URL(fileURLWithPath: path), version), module: nil)
    }
    if case .success(let model) = copy, hashes.isEmpty || model.contains(hashes) { return (model, .store) }
    let folders =
      ModelResources.folders(of: destination.model.callingModule)
      + [Bundle.main.resourceURL ?? Bundle.main.bundleURL]
    if let model = ModelVersions.model(withHashes: hashes, in: folders) { return (model, .resources) }
    var cause: (any Error)?
    if case .failure(let error) = copy { cause = error }
    throw ManagedObjectError(
      .migrationLacksSourceModel,
      "The store at \(path) was made with another version of the model, which is neither in the store nor among the models "
        + "of the program. Add that version to the program's model files, or to migrationSourceModels of the description.",
      cause: cause)
  }
}
