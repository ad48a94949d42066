public import Foundation

/// What has to be written so that a package for Apple's platforms builds on Linux.
///
/// An adoption reads a package. It writes nothing before `write()`.
public struct Adoption: Sendable {
  /// A file to write.
  public struct Output: Sendable, Equatable {
    /// The path from the package's root.
    public var path: String
    /// The whole content.
    public var text: String

    /// A file at a path, with a content.
    public init(path: String, text: String) {
      self.path = path
      self.text = text
    }
  }

  /// A source that the compiler on Linux does not get.
  public struct LeftOut: Sendable, Equatable {
    /// The path from the package's root.
    public var path: String
    /// The line of the import.
    public var line: Int
    /// The module that Linux lacks.
    public var module: String
    /// What the source declares outside of types.
    public var declarations: Set<String>
  }

  /// What a caller decides.
  public struct Options: Sendable {
    /// The dependency on this package as a manifest writes it, such as `.package(url: "…", from: "0.1.0")`; nil keeps the one of an
    /// earlier adoption.
    public var dependency: String?
    /// Paths or patterns of sources that are left out, from the folder of their target.
    public var leaveOut: [String] = []
    /// The URL of OpenCombine, or of a package with the same products, which takes Combine's place; nil keeps the one of an earlier
    /// adoption.
    public var combine: String?

    /// Options with these values.
    public init(dependency: String?, leaveOut: [String] = [], combine: String? = nil) {
      self.dependency = dependency
      self.leaveOut = leaveOut
      self.combine = combine
    }
  }

  /// Files to write, whether they are there already or not.
  public private(set) var outputs: [Output] = []
  /// Sources that are left out because of an import.
  public private(set) var leftOut: [LeftOut] = []
  /// The names of the rewritten targets.
  public var targets: [String] { adopted.map(\.target.name) }

  private let root: URL
  private var adopted: [Adopted] = []

  private struct Adopted {
    var target: DescribedPackage.Target
    var folder: TargetFolder
    var settings: TargetSettings
    var scans: [String: SourceImports]
    var products: Set<String> = []
    /// Products in place of Combine.
    var combine: [String] = []
    var isAdopted = false

    var importsCombine: Bool { scans.values.contains { $0.modules.contains { $0.name == "Combine" } } }
  }

  /// The products of a package with Combine's interface; the rewritten import names all of them.
  private static let combineProducts = ["OpenCombine", "OpenCombineFoundation", "OpenCombineDispatch"]

  /// Reads a package with a manifest.
  ///
  /// - Parameters:
  ///   - root: the package's folder.
  ///   - manifest: the manifest's path and text without a section for Linux.
  ///   - package: what the package manager says about that manifest.
  ///   - options: what the caller decides.
  ///   - earlier: the manifest's text with the section of an earlier adoption.
  /// - Throws: `AdoptionError`, or an error of the file system.
  public init(
    root: URL, manifest: Output, package: DescribedPackage, options: Options, earlier: String? = nil
  ) throws {
    self.root = root
    var output = manifest
    if package.toolsVersion.lexicographicallyPrecedes([5, 9]) {
      // Older manifests get no resources from plug-ins. Swift 6 reads a manifest of its own, which says the same.
      guard manifest.path == "Package.swift" else {
        throw AdoptionError(
          .oldToolsVersion,
          "\(manifest.path) has the tools version \(package.toolsVersion.map(String.init).joined(separator: ".")), in which plug-ins make no "
            + "resources. Write `// swift-tools-version:5.9` or later in its first line.")
      }
      output = Output(path: Self.raisedManifest, text: Self.raised(manifest.text))
    }
    guard let variable = ManifestSection.variable(in: manifest.text) else {
      throw AdoptionError(
        .noPackageVariable,
        "\(manifest.path) has no line `let package = Package(`, behind which the section for Linux could change the targets. Put "
          + "the package into such a variable.")
    }
    let earlier = earlier.map(ManifestSection.dependencies(in:)) ?? []
    guard let dependency = options.dependency ?? earlier.first else {
      throw AdoptionError(
        .unreadableManifest,
        "Say where the dependency is: --url and --from for a repository, or --path for a folder.")
    }
    if dependency.contains("traits:"), package.toolsVersion.lexicographicallyPrecedes([6, 1]) {
      throw AdoptionError(
        .oldToolsVersion,
        "Dependencies have traits in manifests of the tools version 6.1 and later. Write `// swift-tools-version: 6.1` in the first line "
          + "of \(manifest.path), or leave out --trait.")
    }
    let combine =
      options.combine.map { ".package(url: \"\($0)\", from: \"0.14.0\")" } ?? earlier.dropFirst().first
    var all = try package.targets.filter { ["regular", "executable", "test"].contains($0.type) }
      .compactMap { try Self.read($0, root, options) }
    Self.decide(&all, hasCombine: combine != nil)
    adopted = all.filter(\.isAdopted)
    leaveOutAbsentModules()
    guard !adopted.isEmpty else {
      throw AdoptionError(
        .nothingToAdopt,
        "No target of \(package.name) imports CoreData, SwiftData or os, or has a model. It needs nothing of this package."
      )
    }
    var section = ManifestSection(dependency: dependency, targets: [], variable: variable)
    if adopted.contains(where: { !$0.combine.isEmpty }) { section.combine = combine }
    let combinePackage = combine.flatMap(Self.packageName)
    for target in adopted {
      var settings = target.settings
      var resources = resources(of: target)
      let place = "Linux/\(target.target.name)"
      if resources.isEmpty, target.folder.models.isEmpty,
        target.scans.values.contains(where: \.usesBundleModule)
      {
        // `Bundle.module` is there for targets with a resource only.
        resources = [.init(rule: "copy", path: "\(place)/\(TargetSettings.fileName)")]
        if settings.isEmpty { settings.sources = target.folder.path }
      }
      let names = Set(target.folder.sources.map { $0.split(separator: "/").last.map(String.init) ?? $0 })
      let own = ["Linux.swift", "LinuxTarget.swift", "SourcesForLinux.swift"].first { !names.contains($0) }
      outputs.append(
        Output(
          path: "\(place)/\(own ?? "Linux-\(target.target.name).swift")",
          text: "// The sources of this module are those of \(target.folder.path).\n"))
      if !settings.isEmpty {
        outputs.append(Output(path: "\(place)/\(TargetSettings.fileName)", text: settings.text))
      }
      section.targets.append(
        .init(
          name: target.target.name,
          exclude: exclusions(target, resources, hasSettings: !settings.isEmpty),
          resources: resources,
          products: target.products.sorted().map { .init(name: $0) }
            + target.combine.map { .init(name: $0, package: combinePackage ?? $0) }))
    }
    outputs.append(Output(path: output.path, text: section.appended(to: output.text)))
  }

  /// What a target depends on, also by way of other rewritten targets.
  private func reachable(from target: DescribedPackage.Target) -> Set<String> {
    var found = target.dependencies
    var waiting = Array(found)
    while let name = waiting.popLast() {
      for next in adopted.first(where: { $0.target.name == name })?.target.dependencies ?? []
      where found.insert(next).inserted { waiting.append(next) }
    }
    return found
  }

  /// The name of a package with a URL: the last part of it.
  private static func packageName(_ dependency: String) -> String? {
    guard let url = dependency.firstMatch(of: /url: "([^"]*)"/)?.1,
      let last = url.split(separator: "/").last
    else { return nil }
    return String(last.hasSuffix(".git") ? last.dropLast(4) : last)
  }

  /// A manifest without the section that an earlier adoption wrote.
  public static func withoutSection(_ manifest: String) -> String { ManifestSection.removed(from: manifest) }

  /// The name of the manifest that an adoption makes of one without plug-ins.
  public static let raisedManifest = "Package@swift-6.swift"

  /// A manifest for an older tools version as one for the first that has plug-ins.
  private static func raised(_ manifest: String) -> String {
    guard let line = manifest.split(separator: "\n", omittingEmptySubsequences: false).first,
      line.contains("swift-tools-version")
    else { return "// swift-tools-version:5.9\n" + manifest }
    return "// swift-tools-version:5.9" + manifest.dropFirst(line.count)
  }

  /// Writes the files whose content is new.
  ///
  /// - Returns: the paths of the written files, from the package's root.
  /// - Throws: an error of the file system.
  @discardableResult
  public func write() throws -> [String] {
    let new = changedOutputs()
    for output in new {
      let url = root.appending(path: output.path)
      try FileManager.default.createDirectory(
        at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(output.text.utf8).write(to: url, options: .atomic)
    }
    return new.map(\.path)
  }

  /// The outputs that differ from what is on the disk.
  public func changedOutputs() -> [Output] {
    outputs.filter { output in
      (try? Data(contentsOf: root.appending(path: output.path))) != Data(output.text.utf8)
    }
  }

  // MARK: Reading

  private static func read(
    _ target: DescribedPackage.Target, _ root: URL, _ options: Options
  ) throws -> Adopted? {
    let candidates =
      target.path.map { [$0] }
      ?? (target.isTest
      ? ["Tests", "Sources", "Source", "src", "srcs"] : ["Sources", "Source", "src", "srcs"]).map {
        "\($0)/\(target.name)"
      }
    var path = candidates.lazy.compactMap { TargetFolder.spelling(of: $0, in: root) }.first
    if path == nil, target.path == nil {
      // A package with one target may have its sources in `Sources` itself.
      path = (target.isTest ? ["Tests"] : ["Sources", "Source", "src", "srcs"]).first { name in
        let files =
          (try? FileManager.default.contentsOfDirectory(atPath: root.appending(path: name).path)) ?? []
        return files.contains { $0.hasSuffix(".swift") }
      }
    }
    guard var path else {
      throw AdoptionError(
        .noTargetFolder,
        "The sources of the target \(target.name) are not in \(candidates.joined(separator: " or ")). Correct its `path` in "
          + "the manifest.")
    }
    var settings = try TargetSettings.read(
      root.appending(path: "Linux/\(target.name)/\(TargetSettings.fileName)"))
    var excluded = target.exclude
    if let sources = target.sources {
      let folders = sources.filter { !$0.hasSuffix(".swift") }
      if sources.count == 1, let only = folders.first,
        let inner = TargetFolder.spelling(of: "\(path)/\(only)", in: root)
      {
        // Excluded paths lie in the target's folder.
        excluded = excluded.compactMap {
          $0.hasPrefix("\(only)/") ? String($0.dropFirst(only.count + 1)) : nil
        }
        path = inner
      } else {
        excluded += siblings(of: sources, in: root.appending(path: path))
      }
    }
    if path != "Sources/\(target.name)", path != "Tests/\(target.name)" { settings.sources = path }
    // An earlier adoption left out the sources that import what Linux lacks. This one finds them again.
    settings.isolation = target.isOnMainActor ? "MainActor" : nil
    settings.features = target.importsMembers ? ["MemberImportVisibility"] : nil
    var leaveOut = (settings.leaveOut ?? []).filter { entry in
      guard entry.hasSuffix(".swift"), !entry.contains("*"),
        let data = try? Data(contentsOf: root.appending(path: "\(path)/\(entry)"))
      else { return true }
      return !SourceImports(Array(data), modules: SourceIndex.allModules).modules.contains {
        ImportedModules.absent[$0.name] != nil
      }
    }
    for pattern in excluded + options.leaveOut where !leaveOut.contains(pattern) {
      if !excluded.contains(pattern) || isSource(root.appending(path: "\(path)/\(pattern)")) {
        leaveOut.append(pattern)
      }
    }
    settings.leaveOut = leaveOut
    let folder = TargetFolder(path, in: root, excluded: excluded + leaveOut)
    guard !folder.sources.isEmpty || !folder.models.isEmpty else { return nil }
    var scans: [String: SourceImports] = [:]
    for source in folder.sources {
      let bytes = try Array(Data(contentsOf: root.appending(path: "\(path)/\(source)")))
      scans[source] = SourceImports(bytes, modules: SourceIndex.allModules)
    }
    return Adopted(target: target, folder: folder, settings: settings, scans: scans)
  }

  /// Whether a path is one that the plug-in would take: a folder, a source or a model.
  private static func isSource(_ url: URL) -> Bool {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) else { return false }
    return isFolder.boolValue || url.pathExtension == "swift"
  }

  /// What lies beside the sources that a manifest names one by one.
  private static func siblings(of sources: [String], in folder: URL) -> [String] {
    var result: [String] = []
    func visit(_ prefix: String) {
      let names =
        (try? FileManager.default.contentsOfDirectory(atPath: folder.appending(path: prefix).path)) ?? []
      for name in names.sorted() where !name.hasPrefix(".") {
        let path = prefix.isEmpty ? name : "\(prefix)/\(name)"
        if sources.contains(where: { $0 == path || $0 == path + "/" }) { continue }
        if sources.contains(where: { $0.hasPrefix(path + "/") }) { visit(path) } else { result.append(path) }
      }
    }
    visit("")
    return result
  }

  // MARK: Deciding

  /// Which targets are rewritten: those that need Core Data, and those that depend on such a target.
  private static func decide(_ all: inout [Adopted], hasCombine: Bool) {
    for index in all.indices {
      let imports = Set(all[index].scans.values.flatMap(\.modules).map(\.name))
      if imports.contains("SwiftData") { all[index].products.insert("CDESwiftData") }
      if !imports.isDisjoint(with: ["CoreData"]) || !all[index].folder.models.isEmpty {
        all[index].products.insert("CDECoreData")
      }
      // A library of test cases and mocks, too.
      if imports.contains("XCTest") {
        all[index].products.insert("CDEXCTestPorting")
      }
      if !imports.isDisjoint(with: ["os", "OSLog"]), !all[index].products.contains("CDECoreData") {
        all[index].products.insert("CDELogging")
      }
      all[index].isAdopted = !all[index].products.isSubset(of: ["CDEXCTestPorting"])
      if hasCombine, all[index].importsCombine, !all[index].target.dependencies.contains("OpenCombine") {
        all[index].combine = combineProducts
        all[index].isAdopted = true
      }
    }
    var changed = true
    while changed {
      changed = false
      for index in all.indices {
        for other in all where other.isAdopted && all[index].target.dependencies.contains(other.target.name) {
          let inherited = all[index].products.union(other.products.subtracting(["CDEXCTestPorting"]))
          if !all[index].isAdopted || inherited != all[index].products {
            all[index].isAdopted = true
            all[index].products = inherited
            changed = true
          }
        }
      }
    }
    for index in all.indices where all[index].products.contains("CDECoreData") {
      all[index].products.remove("CDELogging")
    }
    // What the module adds to XCTest is about managed objects.
    for index in all.indices where !all[index].products.contains("CDECoreData") {
      all[index].products.remove("CDEXCTestPorting")
    }
  }

  /// Leaves out the sources that import what Linux lacks, unless another module takes its place.
  private mutating func leaveOutAbsentModules() {
    for index in adopted.indices {
      let available = reachable(from: adopted[index].target).union(adopted[index].combine)
      let combine = Self.combineProducts.filter(available.contains)
      if combine.first == "OpenCombine", adopted[index].settings.modules?["Combine"] == nil,
        adopted[index].importsCombine
      {
        adopted[index].settings.modules = (adopted[index].settings.modules ?? [:])
          .merging(["Combine": combine.joined(separator: ", ")]) { own, _ in own }
      }
      let mapped = adopted[index].settings.modules ?? [:]
      for source in adopted[index].folder.sources {
        guard let scan = adopted[index].scans[source],
          let absent = scan.modules.first(where: {
            ImportedModules.absent[$0.name] != nil && mapped[$0.name] == nil
          })
        else { continue }
        leftOut.append(
          LeftOut(
            path: "\(adopted[index].folder.path)/\(source)", line: absent.line, module: absent.name,
            declarations: scan.declarations))
        adopted[index].settings.leaveOut = (adopted[index].settings.leaveOut ?? []) + [source]
        adopted[index].scans[source] = nil
      }
      let scans = adopted[index].scans
      adopted[index].folder.keep { scans[$0] != nil }
    }
  }

  // MARK: Resources

  private func resources(of target: Adopted) -> [DescribedPackage.Resource] {
    let base = target.target.path ?? defaultPath(target)
    return target.target.resources.compactMap { resource in
      var resource = resource
      let written = "\(base)/\(resource.path)"
      guard let path = TargetFolder.spelling(of: written, in: root) else { return nil }
      resource.path = path
      let kind = path.split(separator: ".").last.map(String.init) ?? ""
      if TargetFolder.modelExtensions.contains(kind) || Self.appleResources.contains(kind) { return nil }
      var isFolder: ObjCBool = false
      _ = FileManager.default.fileExists(atPath: root.appending(path: path).path, isDirectory: &isFolder)
      if isFolder.boolValue, resource.rule == "process" {
        let inner = TargetFolder(
          path, in: root, excluded: target.target.exclude.map { relative($0, base, path) })
        let rest = inner.others.filter { file in
          !file.split(separator: "/").contains { part in
            Self.appleResources.contains(part.split(separator: ".").last.map(String.init) ?? "")
          }
        }
        if rest.isEmpty { return nil }
      }
      return resource
    }
  }

  /// A path from a target's folder as one from a folder inside it.
  private func relative(_ path: String, _ base: String, _ folder: String) -> String {
    let whole = "\(base)/\(path)"
    return whole.hasPrefix(folder + "/") ? String(whole.dropFirst(folder.count + 1)) : path
  }

  private func defaultPath(_ target: Adopted) -> String {
    var path = target.folder.path
    for source in target.target.sources ?? [] where path.hasSuffix("/\(source)") {
      path = String(path.dropLast(source.count + 1))
    }
    return path
  }

  /// Resources that only Apple's tools compile.
  private static let appleResources: Set<String> = [
    "xcassets", "storyboard", "xib", "metal", "intentdefinition",
  ]

  /// What lies in the root and belongs neither to a target's folder for Linux nor to its resources.
  private func exclusions(
    _ target: Adopted, _ resources: [DescribedPackage.Resource], hasSettings: Bool
  ) -> [String] {
    let place = "Linux/\(target.target.name)"
    var kept = resources.map(\.path)
    kept.append(place)
    let base = target.target.path ?? defaultPath(target)
    let written = target.target.exclude.compactMap { TargetFolder.spelling(of: "\(base)/\($0)", in: root) }
    // Folders for Linux that this adoption is about to write.
    let coming = adopted.map { "Linux/\($0.target.name)" }
    var result: [String] = []
    func visit(_ folder: String) {
      let url = folder.isEmpty ? root : root.appending(path: folder)
      var names = Set((try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? [])
      if folder.isEmpty { names.insert("Linux") }
      if folder == "Linux" { names.formUnion(coming.map { String($0.dropFirst("Linux/".count)) }) }
      for name in names.sorted() where !name.hasPrefix(".") && !isManifest(name, in: folder) {
        let path = folder.isEmpty ? name : "\(folder)/\(name)"
        if kept.contains(path) {
          excludeInside(path)
        } else if kept.contains(where: { $0.hasPrefix(path + "/") }) {
          visit(path)
        } else {
          result.append(path)
        }
      }
    }
    func excludeInside(_ path: String) {
      if path == place { return }
      result += written.filter { $0.hasPrefix(path + "/") }
      guard let walker = FileManager.default.enumerator(atPath: root.appending(path: path).path) else {
        return
      }
      for case let file as String in walker {
        let kind = file.split(separator: ".").last.map(String.init) ?? ""
        guard TargetFolder.modelExtensions.contains(kind) || Self.appleResources.contains(kind) else {
          continue
        }
        if !result.contains("\(path)/\(file)") { result.append("\(path)/\(file)") }
        walker.skipDescendants()
      }
    }
    visit("")
    let settings = "\(place)/\(TargetSettings.fileName)"
    if hasSettings, !kept.contains(settings) { result.append(settings) }
    return result
  }

  private func isManifest(_ name: String, in folder: String) -> Bool {
    folder.isEmpty
      && (name == "Package.swift" || name == "Package.resolved" || name.hasPrefix("Package@swift"))
  }
}
