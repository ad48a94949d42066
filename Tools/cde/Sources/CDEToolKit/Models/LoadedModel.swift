import CDEManagedModel
import CDEModelFiles
import CDEModelRuntime
import Foundation

/// A model from any place that has one: a model's source, a compiled model, or a store.
public struct LoadedModel {
  public let model: NSManagedObjectModel
  /// The source; nil for a compiled model and a store.
  public let source: ModelSource?
  public let url: URL
  /// Whether it is the copy in a store.
  public let isStore: Bool

  /// Reads a model.
  ///
  /// - Parameters:
  ///   - path: an `.xcdatamodeld`, `.xcdatamodel`, `.momd`, `.mom` or a store's file.
  ///   - version: the version of an `.xcdatamodeld` or `.momd`; nil for the current one.
  /// - Throws: ``ToolError``.
  public init(_ path: String, version: String? = nil) throws {
    var url = URL(fileURLWithPath: path)
    self.url = url
    do {
      switch url.pathExtension {
      case "xcdatamodeld", "xcdatamodel":
        if let version {
          guard url.pathExtension == "xcdatamodeld" else {
            throw ToolError(
              "\(path) is one version. --version goes with an .xcdatamodeld or a .momd.", .usage)
          }
          let folder = try ModelSourceFolder(url)
          guard folder.versions.contains(version) else {
            throw ToolError(
              "The model has no version \(version). It has \(folder.versions.joined(separator: ", ")).",
              .usage)
          }
          url = folder.url(of: version)
        }
        let source = try ModelSource(contentsOf: url)
        self.source = source
        model = try source.makeModel()
        isStore = false
      case "momd", "mom":
        source = nil
        if let version { url = url.appendingPathComponent("\(version).mom") }
        model = try NSManagedObjectModel(modelFile: url)
        isStore = false
      default:
        source = nil
        model = try NSManagedObjectModel(cachedInStoreAt: url)
        isStore = true
      }
    } catch { throw ToolError(error) }
  }
}
