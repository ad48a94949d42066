internal import Foundation

/// The files of a target on the disk.
struct TargetFolder {
  /// The path from the package's root.
  let path: String
  /// Paths from the folder, of Swift sources and of models, without those that the manifest or the settings exclude.
  private(set) var sources: [String] = []
  private(set) var models: [String] = []
  /// All files that are neither, by path from the folder.
  private(set) var others: [String] = []

  static let modelExtensions: Set<String> = ["xcdatamodeld", "xcdatamodel", "xcmappingmodel"]

  /// Lists a folder.
  ///
  /// - Parameters:
  ///   - path: the path from the root.
  ///   - root: the package's root.
  ///   - excluded: paths or patterns that are not taken.
  init(_ path: String, in root: URL, excluded: [String]) {
    self.path = path
    guard let walker = FileManager.default.enumerator(atPath: root.appending(path: path).path) else { return }
    for case let file as String in walker {
      let name = file.split(separator: "/").last.map(String.init) ?? file
      if name.hasPrefix(".") || excluded.contains(where: { PathPattern.matches(file, $0) }) {
        walker.skipDescendants()
        continue
      }
      let kind = name.split(separator: ".").dropFirst().last.map(String.init) ?? ""
      if Self.modelExtensions.contains(kind) {
        models.append(file)
        walker.skipDescendants()
      } else if kind == "swift" {
        sources.append(file)
      } else if walker.fileAttributes?[.type] as? FileAttributeType == .typeRegular {
        others.append(file)
      }
    }
    sources.sort()
    models.sort()
    others.sort()
  }

  /// Takes sources out of the list.
  mutating func keep(_ isKept: (String) -> Bool) { sources.removeAll { !isKept($0) } }

  /// The path from the root with the spelling of the disk, or nil if there is nothing of that name in any case.
  static func spelling(of path: String, in root: URL) -> String? {
    var found: [String] = []
    for part in path.split(separator: "/") where part != "." {
      let names =
        (try? FileManager.default.contentsOfDirectory(
          atPath: root.appending(path: found.joined(separator: "/")).path)) ?? []
      if part == ".." { return nil }
      guard
        let name = names.first(where: { $0 == part })
          ?? names.first(where: { $0.lowercased() == part.lowercased() })
      else { return nil }
      found.append(name)
    }
    return found.joined(separator: "/")
  }
}

/// The patterns of settings, as the plug-in reads them.
enum PathPattern {
  /// Whether a path is meant by a pattern: the path itself, a folder around it, its name alone, or a pattern with stars.
  static func matches(_ path: String, _ pattern: String) -> Bool {
    let name = path.split(separator: "/").last.map(String.init) ?? path
    if path == pattern || path.hasPrefix(pattern.hasSuffix("/") ? pattern : pattern + "/") { return true }
    return glob(Array(pattern.utf8)[...], Array((pattern.contains("/") ? path : name).utf8)[...])
  }

  private static func glob(_ pattern: ArraySlice<UInt8>, _ text: ArraySlice<UInt8>) -> Bool {
    guard let first = pattern.first else { return text.isEmpty }
    if first == UInt8(ascii: "*") {
      return glob(pattern.dropFirst(), text) || !text.isEmpty && glob(pattern, text.dropFirst())
    }
    return text.first == first && glob(pattern.dropFirst(), text.dropFirst())
  }
}
