@_spi(CDE) public import CDEManagedModel
public import Foundation

/// All versions of the models among some resources, to find the one that a store was made with.
@_spi(CDE) public enum ModelVersions {
  /// Finds the model with the entities of a store: one version, or several models' versions merged.
  ///
  /// Files that can't be read do not fit.
  ///
  /// - Parameters:
  ///   - hashes: the version hashes of the store's entities by name.
  ///   - folders: where to look.
  /// - Returns: `nil` when no version, and no combination of them, has all entities.
  public static func model(withHashes hashes: [String: Data], in folders: [URL]) -> NSManagedObjectModel? {
    var parts: [NSManagedObjectModel] = []
    for url in folders.flatMap(files) {
      guard let model = try? NSManagedObjectModel(modelFile: url) else { continue }
      if model.contains(hashes) { return model }
      // A model of a part of the store.
      let own = model.entityVersionHashesByName
      if !own.isEmpty, own.allSatisfy({ hashes[$0.key] == $0.value }) { parts.append(model) }
    }
    guard parts.count > 1, let merged = NSManagedObjectModel(byMerging: parts), merged.contains(hashes) else {
      return nil
    }
    return merged
  }

  /// The files of single versions in a folder.
  private static func files(in folder: URL) -> [URL] {
    ModelBundles.models(in: [folder]).flatMap { url -> [URL] in
      switch url.pathExtension {
      case "momd":
        let names = (try? ModelFile.names(in: url)) ?? []
        return names.filter { $0.hasSuffix(".mom") }.map { url.appendingPathComponent($0) }
      case "xcdatamodeld":
        guard let source = try? ModelSourceFolder(url) else { return [] }
        return source.versions.map { source.url(of: $0) }
      default: return [url]
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
