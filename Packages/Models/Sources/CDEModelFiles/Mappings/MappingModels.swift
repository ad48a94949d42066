internal import CDEManagedModel
internal import Foundation

/// The two models of a mapping model, which its source names by paths. Where there is no file at a path, the copy in the mapping model
/// counts.
struct MappingModels {
  let source: NSManagedObjectModel
  let destination: NSManagedObjectModel

  /// - Parameters:
  ///   - mapping: The source of the mapping model.
  ///   - url: Its folder.
  ///   - models: Where to look for the models. Without any, they are looked for in the folders around the mapping model, from
  ///     the nearest to the root.
  init(of mapping: MappingSource, at url: URL, among models: [URL]) throws(ModelFileError) {
    var versions: [URL] = []
    for model in models.sorted(by: { $0.path < $1.path }) { versions += try Self.versions(of: model) }
    func model(_ path: String?, _ copy: String?, _ which: String) throws(ModelFileError)
      -> NSManagedObjectModel
    {
      let found = path.flatMap { path in
        models.isEmpty ? Self.search(path, around: url) : Self.best(versions, for: path)
      }
      let model = NSManagedObjectModel()
      if let found {
        try ModelSource(contentsOf: found).fill(model) { $0 }
        return model
      }
      do throws(ModelFileError) {
        guard let copy else { throw mapping.noCopy(which) }
        try EmbeddedModel(copy, file: mapping.file).fill(model)
        return model
      } catch {
        guard let path else {
          throw mapping.error(
            .invalidModel, "The mapping model names no \(which) model. Choose one in Xcode.",
            line: mapping.line, cause: copy == nil ? nil : error)
        }
        let known = versions.map { Self.name($0) }.joined(separator: ", ")
        throw mapping.error(
          .missing,
          "The \(which) model is “\(path)”, which is not "
            + (models.isEmpty ? "in a folder around the mapping model" : "among the models \(known)")
            + ". \(error.reason) Choose the model in Xcode again, or give it to the compiler.",
          line: mapping.line, cause: copy == nil ? nil : error)
      }
    }
    source = try model(mapping.sourceModelPath, mapping.sourceModelData, "source")
    destination = try model(mapping.destinationModelPath, mapping.destinationModelData, "destination")
  }

  private static func versions(of model: URL) throws(ModelFileError) -> [URL] {
    guard model.pathExtension == "xcdatamodeld" else { return [model] }
    let folder = try ModelSourceFolder(model)
    return folder.versions.map { folder.url(of: $0) }
  }

  /// The version with the most components at the end of its path that the given path has, too. Paths in mapping models begin
  /// at the Xcode project.
  private static func best(_ versions: [URL], for path: String) -> URL? {
    let wanted = path.split(separator: "/").reversed()
    var best: (count: Int, url: URL)?
    for version in versions {
      let components = version.path.split(separator: "/").reversed()
      let count = zip(wanted, components).prefix { $0 == $1 }.count
      if count > best?.count ?? 0 { best = (count, version) }
    }
    return best?.url
  }

  private static func search(_ path: String, around url: URL) -> URL? {
    guard !path.contains("\0") else { return nil }
    if path.hasPrefix("/") {
      let absolute = URL(fileURLWithPath: path)
      return ModelFile.exists(absolute) ? absolute : nil
    }
    var folder = url.standardizedFileURL
    while folder.path != "/" {
      folder.deleteLastPathComponent()
      let candidate = folder.appendingPathComponent(path)
      if ModelFile.exists(candidate) { return candidate }
    }
    return nil
  }

  private static func name(_ version: URL) -> String {
    let parent = version.deletingLastPathComponent()
    let name = version.lastPathComponent
    return parent.pathExtension == "xcdatamodeld" ? "\(parent.lastPathComponent)/\(name)" : name
  }
}
