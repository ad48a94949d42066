public import CDEManagedModel
public import Foundation

extension NSMappingModel {
  /// Reads a mapping model from a file, and returns nil when that can't be done. ``init(mappingFile:models:)`` throws the reason
  /// instead.
  ///
  /// - Parameter url: A `.cdm`. An `.xcmappingmodel` is read, too, if its models are where it says. Core Data reads the
  ///   compiled form only.
  public convenience init?(contentsOf url: URL?) {
    guard let url else { return nil }
    do { try self.init(mappingFile: url) } catch { return nil }
  }

  /// Finds the compiled mapping model for two versions of a model in some bundles: each of its mappings has the version hash of
  /// the entity in both models.
  ///
  /// The package manager on Linux puts resources of each target into a folder beside the program. For `nil`, the folders of
  /// the calling target and of the main bundle are searched first, then those of all targets.
  ///
  /// - Parameters:
  ///   - bundles: Where to look; `nil` for the program.
  ///   - sourceModel: The old model.
  ///   - destinationModel: The new model.
  ///   - file: The calling file, which the compiler fills in.
  /// - Returns: `nil` when no file fits, or when a model is missing. A file that can't be read does not fit.
  public convenience init?(
    from bundles: [Bundle]?, forSourceModel sourceModel: NSManagedObjectModel?,
    destinationModel: NSManagedObjectModel?, _ file: String = #fileID
  ) {
    guard let sourceModel, let destinationModel else { return nil }
    let module = ModelResources.module(in: file)
    let folders =
      bundles?.compactMap { $0.resourceURL ?? $0.bundleURL }
      ?? ModelResources.ownFolders(of: module) + ModelResources.folders(of: module)
    let hashes = (sourceModel.entityVersionHashesByName, destinationModel.entityVersionHashesByName)
    for folder in folders {
      for name in (try? ModelFile.names(in: folder)) ?? [] where name.hasSuffix(".cdm") {
        guard let found = try? Self.mappings(in: folder.appendingPathComponent(name), models: []),
          found.allSatisfy({ $0.fits(source: hashes.0, destination: hashes.1) })
        else { continue }
        self.init()
        entityMappings = found
        return
      }
    }
    return nil
  }

  /// Reads a mapping model from a file.
  ///
  /// - Parameters:
  ///   - url: A `.cdm` or an `.xcmappingmodel`.
  ///   - models: The models that an `.xcmappingmodel` is for, which it names by their folders. Without them they are
  ///     looked for where the file says.
  /// - Throws: ``ModelFileError`` that names the file and, where known, the element and the line.
  public convenience init(mappingFile url: URL, models: [URL] = []) throws {
    let mappings = try Self.mappings(in: url, models: models)
    self.init()
    entityMappings = mappings
  }

  /// Reads a compiled mapping model.
  ///
  /// - Parameter data: The bytes of a `.cdm`.
  /// - Throws: ``ModelFileError``.
  public convenience init(compiledMapping data: Data) throws {
    let mappings = try CompiledMappingReader(data, file: "").mappings()
    self.init()
    entityMappings = mappings
  }

  /// Whether each mapping is for these versions of its entities. Mappings made in code may have no versions; then the names count.
  @_spi(CDE) public func fits(
    source: NSManagedObjectModel, destination: NSManagedObjectModel
  ) -> Bool {
    func fits(_ name: String?, _ hash: Data?, _ model: NSManagedObjectModel) -> Bool {
      guard let name else { return true }
      guard let entity = model.entitiesByName[name] else { return false }
      return hash == nil || hash == entity.versionHash
    }
    return (entityMappings ?? []).allSatisfy { mapping in
      fits(mapping.sourceEntityName, mapping.sourceEntityVersionHash, source)
        && fits(mapping.destinationEntityName, mapping.destinationEntityVersionHash, destination)
    }
  }

  static func mappings(in url: URL, models: [URL]) throws(ModelFileError) -> [NSEntityMapping] {
    switch url.pathExtension {
    case "cdm": return try CompiledMappingReader(try ModelFile.data(at: url), file: url.path).mappings()
    case "xcmappingmodel":
      let source = try MappingSource(contentsOf: url)
      let resolved = try MappingModels(of: source, at: url, among: models)
      return try MappingResolver(source, resolved).mappings()
    default:
      guard ModelFile.exists(url) else {
        throw ModelFileError(.missing, "There is no such mapping model.", file: url.path)
      }
      throw ModelFileError(
        .unsupportedFormat, "This is no mapping model. Mapping models are .xcmappingmodel and .cdm.",
        file: url.path)
    }
  }
}

extension NSEntityMapping {
  /// Whether the mapping is for these versions of its entities.
  fileprivate func fits(source: [String: Data], destination: [String: Data]) -> Bool {
    func fits(_ name: String?, _ hash: Data?, _ hashes: [String: Data]) -> Bool {
      guard let name else { return true }
      return hash != nil && hashes[name] == hash
    }
    return fits(sourceEntityName, sourceEntityVersionHash, source)
      && fits(destinationEntityName, destinationEntityVersionHash, destination)
  }
}
