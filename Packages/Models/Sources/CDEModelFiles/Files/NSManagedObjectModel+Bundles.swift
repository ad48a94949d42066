@_spi(CDE) public import CDEManagedModel
public import Foundation

extension NSManagedObjectModel {
  /// A model with the entities of all models in some bundles.
  ///
  /// Compiled models are read, and the `.xcdatamodeld` and `.xcdatamodel` folders for which there is no
  /// compiled model of the same name. The package manager on Linux puts resources of each target into a folder
  /// beside the program. For `nil`, the models of the calling target and of the main bundle are merged, or if there are
  /// none, those of all targets.
  ///
  /// - Parameters:
  ///   - bundles: Where to look; `nil` for the program.
  ///   - file: The calling file, which the compiler fills in.
  /// - Returns: `nil` when a model can't be read, or when two models describe an entity of the same name
  ///   differently. Core Data raises an exception in the last case.
  public class func mergedModel(from bundles: [Bundle]?, _ file: String = #fileID) -> NSManagedObjectModel? {
    let module = ModelResources.module(in: file)
    let folders = bundles?.compactMap { $0.resourceURL ?? $0.bundleURL }
    var files = ModelBundles.models(in: folders ?? ModelResources.ownFolders(of: module))
    if folders == nil, files.isEmpty { files = ModelBundles.models(in: ModelResources.folders(of: module)) }
    var models: [NSManagedObjectModel] = []
    for url in files {
      guard let model = NSManagedObjectModel(contentsOf: url, file) else { return nil }
      models.append(model)
    }
    let merged = NSManagedObjectModel(byMerging: models)
    merged?.callingModule = module
    return merged
  }

  /// The model in some bundles with which a store was made.
  ///
  /// All versions of the models are candidates, the current ones and the others. Models of parts of the store are merged.
  /// A program that migrates step by step begins with this model.
  ///
  /// - Parameters:
  ///   - bundles: Where to look; `nil` for the calling target and the main bundle, or if they have no such model, for
  ///     all targets.
  ///   - metadata: The store's metadata, from `metadataForPersistentStore`.
  ///   - file: The calling file, which the compiler fills in.
  /// - Returns: `nil` when no model and no combination of models has all entities of the store. Files that can't be
  ///   read do not fit.
  public class func mergedModel(
    from bundles: [Bundle]?, forStoreMetadata metadata: [String: Any], _ file: String = #fileID
  ) -> NSManagedObjectModel? {
    guard let hashes = versionHashes(inStoreMetadata: metadata) else { return nil }
    let module = ModelResources.module(in: file)
    if let folders = bundles?.compactMap({ $0.resourceURL ?? $0.bundleURL }) {
      return ModelVersions.model(withHashes: hashes, in: folders, module: module)
    }
    return ModelVersions.model(withHashes: hashes, in: ModelResources.ownFolders(of: module), module: module)
      ?? ModelVersions.model(withHashes: hashes, in: ModelResources.folders(of: module), module: module)
  }

  /// The checksums of all versions of a model, by the name of the version.
  ///
  /// A staged migration is written with these checksums. See `versionChecksum`.
  ///
  /// - Parameter modelURL: A `.momd` or an `.xcdatamodeld`. Core Data reads the compiled form only.
  /// - Throws: ``ModelFileError`` for a folder that is missing, and for a version that can't be read.
  public class func checksumsForVersionedModel(at modelURL: URL) throws -> [String: String] {
    let files =
      modelURL.pathExtension == "xcdatamodeld"
      ? try ModelSourceFolder(modelURL).versionFiles : try CompiledModelFolder.versionFiles(in: modelURL)
    var checksums: [String: String] = [:]
    for file in files {
      let name = file.deletingPathExtension().lastPathComponent
      checksums[name] = try NSManagedObjectModel(modelFile: file).versionChecksum
    }
    return checksums
  }
}

enum ModelBundles {
  /// The kinds of files that contain models; the preferred ones first.
  static let kinds = ["momd", "mom", "xcdatamodeld", "xcdatamodel"]

  static func models(in folders: [URL]) -> [URL] {
    var result: [URL] = []
    for folder in folders {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()) ?? []
      let files = names.map { folder.appendingPathComponent($0) }
      var taken: Set<String> = []
      for kind in kinds {
        for file in files where file.pathExtension == kind {
          if taken.insert(file.deletingPathExtension().lastPathComponent).inserted { result.append(file) }
        }
      }
    }
    return result
  }
}
