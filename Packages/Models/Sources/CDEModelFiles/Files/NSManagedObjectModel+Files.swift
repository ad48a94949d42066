@_spi(CDE) public import CDEManagedModel
public import Foundation

extension NSManagedObjectModel {
  /// Reads a model from a file or folder, and returns nil when that can't be done. ``init(modelFile:module:)``
  /// throws the reason instead.
  ///
  /// Class names without a module mean classes of the calling module first, then those of the modules that it imports.
  ///
  /// - Parameters:
  ///   - url: An `.xcdatamodeld` or a `.momd`, of which the current version is read, an `.xcdatamodel` or a `.mom`. Core
  ///     Data reads the compiled forms only.
  ///   - file: The calling file, which the compiler fills in.
  public convenience init?(contentsOf url: URL, _ file: String = #fileID) {
    do { try self.init(modelFile: url, module: ModelResources.module(in: file)) } catch { return nil }
  }

  /// The same for code that names the initialiser without calling it, as in `urls.compactMap(NSManagedObjectModel.init(contentsOf:))`.
  ///
  /// The module of the caller is not known. Classes are found that were named with their module, or registered before.
  @_disfavoredOverload
  public convenience init?(contentsOf url: URL) { self.init(contentsOf: url, "") }

  /// Reads a model from a file or folder.
  ///
  /// - Parameters:
  ///   - url: An `.xcdatamodeld` or a `.momd`, of which the current version is read, an `.xcdatamodel` or a
  ///     `.mom`. For an `.omo` the `.mom` beside it is read, which has the same model.
  ///   - module: The module of the classes that the editor shows in the “Current Product Module”. Without
  ///     it, such a class is found by its bare name.
  /// - Throws: ``ModelFileError`` that names the file and, where known, the element and the line. Whether the
  ///   model can be used is checked at its first use.
  public convenience init(modelFile url: URL, module: String? = nil) throws {
    self.init()
    callingModule = module
    switch url.pathExtension {
    case "xcdatamodeld", "xcdatamodel":
      try ModelSource(contentsOf: url).fill(self) { ClassNames.resolved($0, module: module) }
    case "momd":
      try CompiledModelFolder(url).read(into: self, module: module)
    case "mom":
      try CompiledModelReader(try ModelFile.data(at: url), file: url.path).fill(self, module: module)
    case "omo":
      let file = try CompiledModelFolder.archive(of: url)
      try CompiledModelReader(try ModelFile.data(at: file), file: file.path).fill(self, module: module)
    default:
      guard ModelFile.exists(url) else {
        throw ModelFileError(.missing, "There is no such model.", file: url.path)
      }
      throw ModelFileError(
        .unsupportedFormat,
        "This is no model. Models are .xcdatamodeld, .xcdatamodel, .momd and .mom.", file: url.path)
    }
  }

  /// Reads a compiled model from the bytes of a `.mom`, or from the model that a store keeps a copy of.
  ///
  /// - Parameters:
  ///   - data: The archive.
  ///   - module: The module of the classes that are written with a leading dot.
  /// - Throws: ``ModelFileError``.
  public convenience init(compiledModel data: Data, module: String? = nil) throws {
    self.init()
    try CompiledModelReader(data, file: "").fill(self, module: module)
  }
}
