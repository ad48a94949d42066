@_spi(CDE) public import CDEManagedModel
public import Foundation

/// All versions of the models among some resources, to find the one that a store was made with.
@_spi(CDE) public enum ModelVersions {
  /// Finds the model with the entities of a store: one version, or several models' versions merged.
  ///
  /// Files that can't be read do not fit. A version that has further entities is used only if no other fits.
  ///
  /// - Parameters:
  ///   - hashes: the version hashes of the store's entities by name.
  ///   - folders: where to look.
  ///   - module: the module of the classes that are written with a leading dot.
  /// - Returns: `nil` when no version, and no combination of them, has all entities.
  public static func model(
    withHashes hashes: [String: Data], in folders: [URL], module: String? = nil
  ) -> NSManagedObjectModel? {
    let versions = folders.lazy.flatMap(files).compactMap {
      try? NSManagedObjectModel(modelFile: $0, module: module)
    }
    guard let models = NSManagedObjectModel.models(withHashes: hashes, among: versions) else { return nil }
    if models.count == 1 { return models[0] }
    let merged = NSManagedObjectModel(byMerging: models)
    merged?.callingModule = module
    return merged
  }

  /// The files of single versions in a folder.
  private static func files(in folder: URL) -> [URL] {
    ModelBundles.models(in: [folder]).flatMap { url in
      switch url.pathExtension {
      case "momd": (try? CompiledModelFolder.versionFiles(in: url)) ?? []
      case "xcdatamodeld": (try? ModelSourceFolder(url).versionFiles) ?? []
      default: [url]
      }
    }
  }
}

extension NSManagedObjectModel {
  /// Whether the model has these entities in these versions.
  @_spi(CDE) public func contains(_ hashes: [String: Data]) -> Bool {
    let own = entityVersionHashesByName
    return !hashes.isEmpty && hashes.allSatisfy { own[$0.key] == $0.value }
  }
}
