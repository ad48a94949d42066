import Foundation
import PackagePlugin

/// Hands the sources of a target written for Core Data to the compiler in a form that it takes on Linux.
@main
struct CoreDataSources: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
    guard let target = target as? any SourceModuleTarget else { return [] }
    let settings = try Settings(target, in: context.package.directoryURL)
    let tool = try context.tool(named: "coredata-sources-build").url
    let work = context.pluginWorkDirectoryURL
    let found = try settings.files()
    var arguments = [
      "build", "--module", target.moduleName, "--state", work.appending(path: "state.json").path,
    ]
    arguments += settings.arguments
    let modules = Set(target.recursiveTargetDependencies.map(\.name))
    let used = ["CDECoreData", "CDESwiftData", "CDELogging", "CDEXCTestPorting"].filter(modules.contains)
    for module in used.isEmpty ? ["none"] : used { arguments += ["--uses", module] }
    var outputs: [URL] = []
    let sources = work.appending(path: "Sources")
    let table = sources.appending(path: "PortedClasses+linux.swift")
    arguments += ["--table", table.path]
    outputs.append(table)
    for model in found.models {
      let name = model.deletingPathExtension().lastPathComponent
      let output = sources.appending(path: "\(name)+Generated+linux.swift")
      arguments += ["--model", model.path, output.path]
      outputs.append(output)
    }
    for source in found.sources {
      let name = source.deletingPathExtension().lastPathComponent
      // Only a file of this name may have statements outside of functions.
      let output = sources.appending(path: name == "main" ? "main.swift" : "\(name)+linux.swift")
      arguments += ["--file", source.path, output.path]
      outputs.append(output)
    }
    let modelFiles = found.models.flatMap { Settings.contents(of: $0) }
    var commands: [Command] = [
      .buildCommand(
        displayName: "Rewriting the Core Data sources of \(target.name)", executable: tool,
        arguments: arguments,
        inputFiles: found.sources + modelFiles + settings.file, outputFiles: outputs)
    ]
    for model in found.models + found.mappings {
      let compiled =
        model.pathExtension == "xcdatamodeld" ? "momd" : model.pathExtension == "xcdatamodel" ? "mom" : "cdm"
      let name = model.deletingPathExtension().lastPathComponent
      let output = work.appending(path: "Resources/\(name).\(compiled)")
      let models = compiled == "cdm" ? found.models.flatMap { ["--model", $0.path] } : []
      commands.append(
        .buildCommand(
          displayName: "Compiling \(model.lastPathComponent)", executable: tool,
          arguments: ["compile", model.path, output.path] + models,
          inputFiles: Settings.contents(of: model) + (compiled == "cdm" ? modelFiles : []),
          outputFiles: [output]))
    }
    return commands
  }
}

/// Where a target's originals are.
private struct Settings {
  private struct File: Decodable {
    var sources: String?
    var leaveOut: [String]?
    var modules: [String: String]?
    var isolation: String?
    var features: [String]?
  }

  private let folder: URL
  private let leftOut: [String]
  /// The file with the settings, if there is one.
  private(set) var file: [URL] = []
  /// What tells the tool that the file was edited after the package manager asked for the commands.
  private(set) var arguments: [String] = []

  init(_ target: any SourceModuleTarget, in package: URL) throws {
    // The target's own folder holds one source file, which makes SwiftPM accept the target.
    let own = target.sourceFiles(withSuffix: "swift").map(\.url).first {
      !$0.path.contains("/plugins/outputs/")
    }
    var file = File()
    if let own {
      let url = own.deletingLastPathComponent().appending(path: "CoreDataSources.json")
      if let data = try? Data(contentsOf: url) {
        self.file = [url]
        arguments = ["--settings", url.path, String(decoding: data, as: UTF8.self)]
        do { file = try JSONDecoder().decode(File.self, from: data) } catch {
          throw Problem(
            "\(url.path) can't be read: \(error). It has the keys \"sources\", \"leaveOut\", \"modules\", "
              + "\"isolation\" and \"features\".")
        }
        for (module, replacement) in (file.modules ?? [:]).sorted(by: { $0.key < $1.key }) {
          arguments += ["--replaces", module, replacement]
        }
        if file.isolation == "MainActor" { arguments.append("--main-actor") }
        if file.features?.contains("MemberImportVisibility") == true { arguments.append("--member-imports") }
      }
    }
    let candidates = file.sources.map { [$0] } ?? ["Sources/\(target.name)", "Tests/\(target.name)"]
    let folders = candidates.map { package.appending(path: $0).standardizedFileURL }
    guard let folder = folders.first(where: { FileManager.default.fileExists(atPath: $0.path) }) else {
      throw Problem(
        "The target \(target.name) has no sources in \(candidates.joined(separator: " or ")). Name their folder as "
          + "\"sources\" in CoreDataSources.json, beside the source file of the target.")
    }
    self.folder = folder
    leftOut = file.leaveOut ?? []
  }

  /// The originals and the models, in the order of their paths.
  func files() throws -> (sources: [URL], models: [URL], mappings: [URL]) {
    var sources: [URL] = []
    var models: [URL] = []
    var mappings: [URL] = []
    let root = folder.path
    guard let walker = FileManager.default.enumerator(atPath: root) else { return ([], [], []) }
    for case let path as String in walker {
      if leftOut.contains(where: { matches(path, $0) }) {
        walker.skipDescendants()
        continue
      }
      let url = folder.appending(path: path)
      switch url.pathExtension {
      case "swift": sources.append(url)
      case "xcdatamodeld", "xcdatamodel":
        models.append(url)
        walker.skipDescendants()
      case "xcmappingmodel":
        mappings.append(url)
        walker.skipDescendants()
      default: break
      }
    }
    let byPath: (URL, URL) -> Bool = { $0.path < $1.path }
    return (sources.sorted(by: byPath), models.sorted(by: byPath), mappings.sorted(by: byPath))
  }

  /// Whether a path is meant by a pattern: the path itself, a folder around it, its name alone, or a pattern with
  /// stars.
  private func matches(_ path: String, _ pattern: String) -> Bool {
    let name = path.split(separator: "/").last.map(String.init) ?? path
    if path == pattern || path.hasPrefix(pattern.hasSuffix("/") ? pattern : pattern + "/") { return true }
    return Self.glob(Array(pattern.utf8)[...], Array((pattern.contains("/") ? path : name).utf8)[...])
  }

  private static func glob(_ pattern: ArraySlice<UInt8>, _ text: ArraySlice<UInt8>) -> Bool {
    guard let first = pattern.first else { return text.isEmpty }
    if first == UInt8(ascii: "*") {
      return glob(pattern.dropFirst(), text) || !text.isEmpty && glob(pattern, text.dropFirst())
    }
    return text.first == first && glob(pattern.dropFirst(), text.dropFirst())
  }

  /// All files inside a model's folder.
  static func contents(of folder: URL) -> [URL] {
    guard let walker = FileManager.default.enumerator(atPath: folder.path) else { return [] }
    return walker.compactMap { $0 as? String }.sorted().map { folder.appending(path: $0) }
      .filter { (try? $0.resourceValues(forKeys: [.isDirectoryKey]).isDirectory) != true }
  }
}

private struct Problem: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
