@_spi(CDE) public import CDEManagedModel
public import Foundation

/// Compiles models into the form that programs load, which is that of Core Data's own compiler.
///
/// Equal models give equal bytes. A file whose bytes would not change is not written, so that builds see
/// what has changed.
public enum ModelCompiler {
  /// Compiles a model or a mapping model.
  ///
  /// - Parameters:
  ///   - source: An `.xcdatamodeld`, of which all versions are compiled, an `.xcdatamodel`, or an `.xcmappingmodel`.
  ///   - destination: The `.momd` folder for an `.xcdatamodeld`, which is made if it does not exist, the
  ///     `.mom` file for an `.xcdatamodel`, or the `.cdm` file for an `.xcmappingmodel`. Versions of an earlier run
  ///     that are no longer in the model are removed from the folder.
  ///   - module: The module of the classes that are written with a leading dot. Without it the dot stays, and
  ///     the module is chosen when the model is loaded.
  ///   - models: The models that a mapping model is for. Without any, they are looked for where the mapping model says.
  /// - Throws: ``ModelFileError``. Nothing is written unless all versions can be compiled.
  public static func compile(
    _ source: URL, to destination: URL, module: String? = nil, models: [URL] = []
  ) throws(ModelFileError) {
    if source.pathExtension == "xcmappingmodel" {
      let mappings = try NSMappingModel.mappings(in: source, models: models)
      try write(try CompiledMappingWriter.data(of: mappings, file: source.path), to: destination)
      return
    }
    guard source.pathExtension == "xcdatamodeld" else {
      let model = try self.model(at: source, module: module)
      try write(try data(of: model, file: source.path), to: destination)
      return
    }
    let folder = try ModelSourceFolder(source)
    var files: [(name: String, data: Data)] = []
    var hashes: [String: PropertyListNode] = [:]
    var checksums: [String: PropertyListNode] = [:]
    for version in folder.versions {
      let url = folder.url(of: version)
      let model = try self.model(at: url, module: module)
      files.append(("\(version).mom", try data(of: model, file: url.path)))
      hashes[version] = .dictionary(model.entityVersionHashesByName.mapValues { .data($0) })
      checksums[version] = .string(model.versionChecksum)
    }
    let list = PropertyListNode.dictionary([
      "NSManagedObjectModel_CurrentVersionName": .string(folder.currentVersion),
      "NSManagedObjectModel_VersionHashes": .dictionary(hashes),
      "NSManagedObjectModel_VersionChecksums": .dictionary(checksums),
    ])
    files.append((CompiledModelFolder.listName, BinaryPropertyListWriter.data(list)))
    try write(files, to: destination)
  }

  /// What has no effect in a compiled model: elements that are unknown, such as those of a later Xcode, and inverses that the
  /// destination does not have.
  ///
  /// - Parameter source: An `.xcdatamodeld`, of which all versions are read, or an `.xcdatamodel`. There are no warnings about others.
  /// - Throws: ``ModelFileError``.
  public static func warnings(about source: URL) throws(ModelFileError) -> [ModelSource.Warning] {
    switch source.pathExtension {
    case "xcdatamodel": return try ModelSource(contentsOf: source).warnings
    case "xcdatamodeld":
      let folder = try ModelSourceFolder(source)
      var result: [ModelSource.Warning] = []
      for version in folder.versions {
        result += try ModelSource(contentsOf: folder.url(of: version)).warnings
      }
      return result
    default: return []
    }
  }

  /// The bytes of a `.mom` for a model that was made in any way.
  ///
  /// - Parameter model: The model. It need not be in use.
  /// - Throws: ``ModelFileError`` when a condition or a default value has no form in compiled models.
  public static func data(of model: NSManagedObjectModel) throws(ModelFileError) -> Data {
    try data(of: model, file: "")
  }

  /// The bytes of a `.cdm` for a mapping model that was made in any way.
  ///
  /// - Parameter mapping: The mapping model.
  /// - Throws: ``ModelFileError`` when an expression has no form in compiled mapping models.
  public static func data(of mapping: NSMappingModel) throws(ModelFileError) -> Data {
    try CompiledMappingWriter.data(of: mapping.entityMappings ?? [], file: "")
  }

  private static func data(
    of model: NSManagedObjectModel, file: String
  ) throws(ModelFileError) -> Data {
    try CompiledModelWriter.data(of: model, file: file)
  }

  private static func model(at url: URL, module: String?) throws(ModelFileError) -> NSManagedObjectModel {
    let model = NSManagedObjectModel()
    try ModelSource(contentsOf: url).fill(model) {
      module == nil ? $0 : ClassNames.resolved($0, module: module)
    }
    return model
  }

  // MARK: Writing

  private static func write(
    _ files: [(name: String, data: Data)], to folder: URL
  ) throws(ModelFileError) {
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let names = Set(files.map(\.name))
      for name in try FileManager.default.contentsOfDirectory(atPath: folder.path)
      where name.hasSuffix(".mom") && !names.contains(name) {
        try FileManager.default.removeItem(at: folder.appendingPathComponent(name))
      }
    } catch {
      throw inaccessible(folder, error)
    }
    for file in files { try write(file.data, to: folder.appendingPathComponent(file.name)) }
  }

  private static func write(_ data: Data, to file: URL) throws(ModelFileError) {
    if let existing = try? Data(contentsOf: file), existing == data { return }
    do { try data.write(to: file, options: .atomic) } catch { throw inaccessible(file, error) }
  }

  private static func inaccessible(_ url: URL, _ cause: any Error) -> ModelFileError {
    ModelFileError(
      .inaccessible, "The compiled model can't be written. Check the folder and its permissions.",
      file: url.path, cause: cause)
  }
}
