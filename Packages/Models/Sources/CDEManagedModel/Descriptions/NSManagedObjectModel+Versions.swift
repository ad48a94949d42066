public import Foundation

extension NSManagedObjectModel {
  /// Merges the models with which a store was made.
  ///
  /// Of several versions of a model, the one is taken that has the store's version hashes. Programs that migrate step by
  /// step find the source of the next step in this way.
  ///
  /// - Parameters:
  ///   - models: The candidates: models of parts of the store, and several versions of each.
  ///   - metadata: The store's metadata, from `metadataForPersistentStore`.
  /// - Returns: `nil` when no model and no combination of models has all entities of the store. A model that has
  ///   further entities is used only if no other fits.
  public convenience init?(
    byMerging models: [NSManagedObjectModel], forStoreMetadata metadata: [String: Any]
  ) {
    guard let hashes = Self.versionHashes(inStoreMetadata: metadata),
      let chosen = Self.models(withHashes: hashes, among: models)
    else { return nil }
    self.init(byMerging: chosen)
  }

  /// The version hashes of a store's entities by name; `nil` when the metadata is not that of a store.
  @_spi(CDE) public static func versionHashes(
    inStoreMetadata metadata: [String: Any]
  ) -> [String: Data]? {
    metadata["NSStoreModelVersionHashes"] as? [String: Data]
  }

  /// The models that have exactly the entities of a store together, or else one that has more.
  ///
  /// The candidates are read up to the first one that has the same entities.
  @_spi(CDE) public static func models(
    withHashes hashes: [String: Data], among candidates: some Sequence<NSManagedObjectModel>
  ) -> [NSManagedObjectModel]? {
    guard !hashes.isEmpty else { return nil }
    var parts: [NSManagedObjectModel] = []
    var larger: (model: NSManagedObjectModel, entities: Int)?
    for model in candidates {
      let own = model.entityVersionHashesByName
      if own == hashes { return [model] }
      if !own.isEmpty, own.allSatisfy({ hashes[$0.key] == $0.value }) {
        parts.append(model)
      } else if own.count < larger?.entities ?? .max, hashes.allSatisfy({ own[$0.key] == $0.value }) {
        larger = (model, own.count)
      }
    }
    let covered = Set(parts.flatMap { $0.entityVersionHashesByName.keys })
    if covered.count == hashes.count { return parts }
    return larger.map { [$0.model] }
  }
}
