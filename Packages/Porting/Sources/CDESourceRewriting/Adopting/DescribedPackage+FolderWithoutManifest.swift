public import Foundation

extension DescribedPackage {
  /// The targets of a folder without a manifest: each folder with sources is one.
  ///
  /// - Parameters:
  ///   - root: the folder.
  ///   - sources: the folders of sources, from the root; without any they are looked for.
  ///   - tests: the folders of tests.
  /// - Returns: the package, and a manifest that declares it for Apple's platforms.
  /// - Throws: `AdoptionError` with the code `noSources`.
  public static func describing(
    folder root: URL, sources: [String] = [], tests: [String] = []
  ) throws -> (package: DescribedPackage, manifest: String) {
    var found = sources.map { ($0, false) } + tests.map { ($0, true) }
    if sources.isEmpty { found += search(root).filter { !$0.isTest || tests.isEmpty } }
    let known = Dictionary(grouping: found.map { folderName($0.0) }) { $0 }
    var targets: [Target] = []
    for (path, isTest) in found {
      guard let path = TargetFolder.spelling(of: path, in: root) else {
        throw AdoptionError(.noFolder, "There is no folder \(path) in \(root.path).")
      }
      let folder = TargetFolder(path, in: root, excluded: [])
      guard !folder.sources.isEmpty else {
        throw AdoptionError(.noSources, "The folder \(path) has no Swift source.")
      }
      let own = folderName(path)
      var target = Target(
        name: known[own]!.count > 1 ? path.replacing("/", with: "-") : own, type: isTest ? "test" : "regular")
      target.path = path
      for source in folder.sources {
        let bytes = try Array(Data(contentsOf: root.appending(path: "\(path)/\(source)")))
        for module in SourceImports(bytes, modules: SourceIndex.allModules).modules {
          if let other = found.first(where: { moduleName(folderName($0.0)) == module.name && $0.0 != path }) {
            target.dependencies.insert(folderName(other.0))
          }
        }
      }
      target.resources = folder.models.map { Resource(rule: "process", path: $0) }
      targets.append(target)
    }
    guard targets.contains(where: { !$0.isTest }) else {
      throw AdoptionError(
        .noSources,
        "\(root.path) has no manifest and no folder with Swift sources. Name the folder of the model layer with --sources, and "
          + "the one of its tests with --tests.")
    }
    let settings = ProjectSettings(root)
    let name = root.standardizedFileURL.lastPathComponent
    let package = DescribedPackage(name: name, targets: targets, toolsVersion: [6, 2])
    return (package, manifest(package, settings))
  }

  private static func folderName(_ path: String) -> String {
    let parts = path.split(separator: "/").map(String.init)
    guard let last = parts.last else { return path }
    // A layer inside of an app's folder belongs to the app's module.
    return ["Sources", "Tests", "src"].contains(last) && parts.count > 1 ? parts[parts.count - 2] : last
  }

  private static func moduleName(_ name: String) -> String {
    String(name.map { $0.isLetter || $0.isNumber || $0 == "_" ? $0 : "_" })
  }

  private static func search(_ root: URL) -> [(path: String, isTest: Bool)] {
    func folders(_ path: String) -> [String] {
      let names =
        (try? FileManager.default.contentsOfDirectory(
          atPath: path.isEmpty ? root.path : root.appending(path: path).path)) ?? []
      return names.sorted().filter { name in
        !name.hasPrefix(".") && !name.contains(".")
          && !["Linux", "Pods", "Carthage", "DerivedData", "build", "fastlane", "vendor", "node_modules"]
            .contains(name)
      }.map { path.isEmpty ? $0 : "\(path)/\($0)" }
    }
    var result: [(String, Bool)] = []
    for path in folders("") {
      let folder = TargetFolder(path, in: root, excluded: [])
      guard !folder.sources.isEmpty || !folder.models.isEmpty else { continue }
      let isTest = path.hasSuffix("Tests") || path.hasSuffix("Test")
      if path.hasSuffix("UITests") { continue }
      if ["Sources", "Tests"].contains(path), !folder.sources.contains(where: { !$0.contains("/") }) {
        result += folders(path).filter { !TargetFolder($0, in: root, excluded: []).sources.isEmpty }.map {
          ($0, isTest)
        }
      } else {
        result.append((path, isTest))
      }
    }
    return result
  }

  private static func manifest(_ package: DescribedPackage, _ settings: ProjectSettings) -> String {
    var lines = ["// swift-tools-version: 6.2", "import PackageDescription", "", "let package = Package("]
    lines.append("  name: \"\(package.name)\",")
    let libraries = package.targets.filter { !$0.isTest }
    lines.append("  platforms: [.macOS(.v12), .iOS(.v15)],")
    lines.append("  products: [")
    for target in libraries {
      lines.append("    .library(name: \"\(target.name)\", targets: [\"\(target.name)\"]),")
    }
    lines += ["  ],", "  targets: ["]
    for target in package.targets {
      var parts = ["name: \"\(target.name)\""]
      if !target.dependencies.isEmpty {
        parts.append(
          "dependencies: [\(target.dependencies.sorted().map { "\"\($0)\"" }.joined(separator: ", "))]")
      }
      parts.append("path: \"\(target.path ?? "")\"")
      if !target.resources.isEmpty {
        parts.append(
          "resources: [\(target.resources.map { ".process(\"\($0.path)\")" }.joined(separator: ", "))]")
      }
      if settings.isMainActorDefault && !target.isTest {
        parts.append("swiftSettings: [.defaultIsolation(MainActor.self)]")
      }
      lines.append("    .\(target.isTest ? "testTarget" : "target")(")
      lines.append(parts.map { "      \($0)" }.joined(separator: ",\n") + "),")
    }
    lines += ["  ],", "  swiftLanguageModes: [.v\(settings.languageMode)]", ")", ""]
    return lines.joined(separator: "\n")
  }
}

/// What an Xcode project says about its language.
private struct ProjectSettings {
  var languageMode = 5
  var isMainActorDefault = false

  init(_ root: URL) {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: root.path)) ?? []
    for name in names where name.hasSuffix(".xcodeproj") {
      let file = root.appending(path: "\(name)/project.pbxproj")
      guard let text = try? String(contentsOf: file, encoding: .utf8) else { continue }
      if text.contains(/SWIFT_VERSION = "?6/) { languageMode = 6 }
      if text.contains(/SWIFT_DEFAULT_ACTOR_ISOLATION = "?MainActor/) { isMainActorDefault = true }
    }
  }
}
