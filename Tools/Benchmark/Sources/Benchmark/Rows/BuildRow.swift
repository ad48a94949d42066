import Foundation

/// Row build: the umbrella, debug, from nothing, the macro plug-in included.
enum BuildRow {
  static var root: URL {
    URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
  }

  static func seconds() throws -> Double {
    let root = Self.root
    let scratch = FileManager.default.temporaryDirectory.appendingPathComponent(
      "cde-build-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: scratch) }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [
      "swift", "build", "--package-path", root.path, "--scratch-path", scratch.path, "--product",
      "CoreDataEvolution",
    ]
    process.standardOutput = FileHandle.standardError
    let time = try nanoseconds {
      try process.run()
      process.waitUntilExit()
    }
    guard process.terminationStatus == 0 else {
      throw MemoryRow.Failure(description: "The umbrella at \(root.path) does not build.")
    }
    return time / 1e9
  }
}

/// Row model-compile: what the compiler takes for a class of 60 properties with `@Model`, beside one with `@PersistentModel`.
@MainActor
struct ModelCompilingRow {
  private let folder: URL
  private let propertyCount: Int

  init(_ workspace: Workspace) throws {
    folder = workspace.folder.appendingPathComponent("Compiling")
    propertyCount = workspace.isSmoke ? 6 : 60
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  var contenders: [Contender] {
    [
      Contender(.ours) {
        try compile(
          "Model",
          "import CDESwiftData\nimport Foundation\n@Model\nfinal class Wide {\n\(properties)  init() {}\n}\n")
      },
      Contender(.reference) {
        try compile(
          "Managed",
          "import CoreDataEvolution\nimport Foundation\n@PersistentModel(observation: .mainActor)\n"
            + "final class Wide: NSManagedObject {\n\(properties)}\n")
      },
    ]
  }

  private var properties: String {
    let types: [String] = [
      "String = \"\"", "Int = 0", "Double = 0", "Bool = false", "Date? = nil", "UUID? = nil",
    ]
    return (0..<propertyCount).map { "  var value\($0): \(types[$0 % types.count])\n" }.joined()
  }

  /// Compiles a file against the modules that this program was built with, without optimisation.
  ///
  /// - Returns: milliseconds.
  private func compile(_ name: String, _ source: String) throws -> Double {
    let file = folder.appendingPathComponent("\(name).swift")
    try Data(source.utf8).write(to: file)
    let built = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    let root = BuildRow.root
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    var arguments: [String] = ["swiftc", "-parse-as-library", "-c", "-Onone", "-swift-version", "6"]
    arguments += ["-I", built.appendingPathComponent("Modules").path]
    let maps: [String] = [
      "Executors/Sources/CDETaskABI", "Executors/Sources/CDEUnwind", "Store/Sources/CDESQLite",
      "ModelRuntime/Sources/CDERuntimeABI",
    ]
    for map in maps {
      arguments += ["-Xcc", "-fmodule-map-file=\(root.path)/Packages/\(map)/module.modulemap"]
    }
    arguments += ["-Xfrontend", "-load-plugin-executable"]
    arguments += ["-Xfrontend", built.appendingPathComponent("CDEMacros-tool").path + "#CDEMacros"]
    arguments += [file.path, "-o", folder.appendingPathComponent("\(name).o").path]
    process.arguments = arguments
    process.standardOutput = FileHandle.standardError
    let time = try nanoseconds {
      try process.run()
      process.waitUntilExit()
    }
    guard process.terminationStatus == 0 else {
      throw MemoryRow.Failure(description: "The class in \(file.path) does not compile.")
    }
    return time / 1e6
  }
}
