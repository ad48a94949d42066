public import Foundation

/// The folders beside the program in which a package's resources are.
///
/// The package manager names a folder by the package and the target. On Linux neither `Bundle.main` nor `Bundle(for:)` finds it.
@_spi(CDE) public enum ModelResources {
  /// The resource folders, those of a module first.
  ///
  /// - Parameter module: the module that asks; nil for no preference.
  public static func folders(of module: String?) -> [URL] {
    let places = [Bundle.main.executableURL?.deletingLastPathComponent(), Bundle.main.bundleURL].compactMap {
      $0
    }
    var found: [URL] = []
    for place in places {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: place.path)) ?? []
      for name in names.sorted() where name.hasSuffix(".resources") || name.hasSuffix(".bundle") {
        let url = place.appendingPathComponent(name, isDirectory: true)
        if !found.contains(url) { found.append(url) }
      }
    }
    let own = found.filter { isOwn($0, module) }
    return own + found.filter { !isOwn($0, module) }
  }

  /// Whether a folder has the resources of a module.
  public static func isOwn(_ folder: URL, _ module: String?) -> Bool {
    guard let module else { return false }
    return folder.deletingPathExtension().lastPathComponent.hasSuffix("_\(module)")
  }

  /// The module in a `#fileID`.
  public static func module(in file: String) -> String { String(file.prefix { $0 != "/" }) }

  /// The resources of a module, and those of the main bundle.
  static func ownFolders(of module: String) -> [URL] {
    folders(of: module).filter { isOwn($0, module) } + [Bundle.main.resourceURL ?? Bundle.main.bundleURL]
  }

  /// Whether a folder has a model.
  public static func hasModel(_ folder: URL) -> Bool { !ModelBundles.models(in: [folder]).isEmpty }

  /// Where a model of a name is, or else where it was looked for.
  ///
  /// - Parameters:
  ///   - name: the model's name without an extension.
  ///   - module: the module that asks.
  public static func model(named name: String, for module: String) -> (found: URL?, looked: [URL]) {
    var looked: [URL] = []
    let folders = folders(of: module) + [Bundle.main.resourceURL ?? Bundle.main.bundleURL]
    for folder in folders {
      for ending in ModelBundles.kinds {
        let url = folder.appendingPathComponent("\(name).\(ending)")
        if ModelFile.exists(url) { return (url, looked) }
      }
      looked.append(folder)
    }
    return (nil, looked)
  }
}
