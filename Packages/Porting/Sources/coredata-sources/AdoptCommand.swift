import CDESourceRewriting
import CDESourceTool
import Foundation

/// Makes a package for Apple's platforms one that builds on Linux, too.
struct AdoptCommand {
  private var folder: String?
  private var url: String?
  private var version = "0.1.0"
  private var path: String?
  private var traits: [String] = []
  private var leaveOut: [String] = []
  private var combine: String?
  private var sources: [String] = []
  private var tests: [String] = []
  private var isDryRun = false
  private var builds = true
  /// Arguments for `swift build`.
  private var buildArguments: [String] = []

  init(_ arguments: [String]) throws {
    var rest = arguments[...]
    func next(_ option: String) throws -> String {
      guard let value = rest.popFirst() else { throw Problem("\(option) lacks a value.\n\(Command.usage)") }
      return value
    }
    while let option = rest.popFirst() {
      switch option {
      case "--url": url = try next(option)
      case "--from": version = try next(option)
      case "--path": path = try next(option)
      case "--trait": traits.append(try next(option))
      case "--leave-out": leaveOut.append(try next(option))
      case "--combine": combine = try next(option)
      case "--sources": sources.append(try next(option))
      case "--tests": tests.append(try next(option))
      case "--dry-run": isDryRun = true
      case "--no-build": builds = false
      case "--":
        buildArguments = Array(rest)
        rest = []
      case _ where option.hasPrefix("-"): throw Problem("adopt has no option \(option).\n\(Command.usage)")
      default:
        guard folder == nil else {
          throw Problem("adopt takes one folder, not also \(option).\n\(Command.usage)")
        }
        folder = option
      }
    }
    guard folder != nil else { throw Problem("adopt takes the folder of a package.\n\(Command.usage)") }
    guard url == nil || path == nil else { throw Problem("adopt takes --url or --path, not both.") }
  }

  func run() throws {
    let root = URL(fileURLWithPath: folder ?? ".").standardizedFileURL
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: root.path, isDirectory: &isFolder), isFolder.boolValue else {
      throw Problem("There is no folder \(root.path).")
    }
    let adoption = try plan(root)
    let changed = adoption.changedOutputs()
    if isDryRun {
      for output in changed { print("Would write \(output.path):\n\(output.text)") }
      if changed.isEmpty { print("Nothing would be written: the package is adopted.") }
    } else {
      let written = try adoption.write()
      for path in written { print("Wrote \(path)") }
      if written.isEmpty { print("The package is adopted already.") }
    }
    print("Targets with rewritten sources: \(adoption.targets.joined(separator: ", ")).")
    for file in adoption.leftOut {
      print(
        "\(root.appending(path: file.path).path):\(file.line): note: Left out: there is no \(file.module) on Linux."
      )
    }
    if builds, !isDryRun { try build(root, adoption) }
  }

  private func plan(_ root: URL) throws -> Adoption {
    let options = Adoption.Options(dependency: dependency, leaveOut: leaveOut, combine: combine)
    guard let found = ManifestFile.name(in: root) else {
      let (package, manifest) = try DescribedPackage.describing(folder: root, sources: sources, tests: tests)
      return try Adoption(
        root: root, manifest: .init(path: "Package.swift", text: manifest), package: package, options: options
      )
    }
    let earlier = try String(contentsOf: root.appending(path: found), encoding: .utf8)
    // An adoption made the manifest for Swift 6 of an older one, which may have changed since.
    let isMade = found == Adoption.raisedManifest && Adoption.withoutSection(earlier) != earlier
    let name = isMade ? "Package.swift" : found
    let text = isMade ? try String(contentsOf: root.appending(path: name), encoding: .utf8) : earlier
    let manifest = ManifestFile(name: name, text: Adoption.withoutSection(text))
    return try Adoption(
      root: root, manifest: .init(path: name, text: manifest.text), package: try manifest.describe(root),
      options: options, earlier: earlier)
  }

  private var dependency: String? {
    let names = traits.map { ", .trait(name: \"\($0)\")" }.joined()
    let suffix = traits.isEmpty ? "" : ", traits: [.defaults\(names)]"
    if let url { return ".package(url: \"\(url)\", from: \"\(version)\"\(suffix))" }
    if let path { return ".package(name: \"CoreDataEvolution\", path: \"\(path)\"\(suffix))" }
    return nil
  }

  private func build(_ root: URL, _ adoption: Adoption) throws {
    print("Building. The first build compiles CoreDataEvolution, too, which takes some minutes.")
    let result = try Tool.run(
      ["swift", "build", "--build-tests", "--package-path", root.path] + buildArguments, isShown: true)
    let problems = BuildRemedies(output: result.output, leftOut: adoption.leftOut).problems
    if result.status == 0 {
      print("The package builds. Run its tests: swift test")
      return
    }
    print("\nWhat is left:")
    for problem in problems {
      print("\(problem.place.isEmpty ? "" : problem.place + ": ")\(problem.message)\n  \(problem.remedy)")
    }
    throw Problem(
      problems.isEmpty
        ? "The build failed without a message about a source; see its output above."
        : "The build failed with \(problems.count) errors; the list above says what to do.")
  }
}

/// The manifest that the package manager of this machine reads.
private struct ManifestFile {
  var name: String
  var text: String

  /// The most specific manifest for the compiler that built this tool.
  static func name(in root: URL) -> String? {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: root.path)) ?? []
    var best: (name: String, version: [Int])?
    for name in names {
      guard let match = name.wholeMatch(of: /Package@swift-([0-9.]+)\.swift/) else { continue }
      let version = match.1.split(separator: ".").map { Int($0) ?? 0 }
      guard !current.lexicographicallyPrecedes(version) else { continue }
      if let found = best, !found.version.lexicographicallyPrecedes(version) { continue }
      best = (name, version)
    }
    return best?.name ?? (names.contains("Package.swift") ? "Package.swift" : nil)
  }

  private static let current: [Int] = {
    #if compiler(>=6.4)
      [6, 4]
    #else
      [6, 3]
    #endif
  }()

  /// Asks the package manager in a folder that has everything of the package but its manifests.
  func describe(_ root: URL) throws -> DescribedPackage {
    let files = FileManager.default
    let copy = files.temporaryDirectory.appending(path: "coredata-sources-\(UUID().uuidString)")
      .appending(path: root.lastPathComponent)
    try files.createDirectory(at: copy, withIntermediateDirectories: true)
    defer { try? files.removeItem(at: copy.deletingLastPathComponent()) }
    for entry in try files.contentsOfDirectory(atPath: root.path)
    where entry != ".build" && entry != "Package.swift" && !entry.hasPrefix("Package@swift") {
      try files.createSymbolicLink(
        at: copy.appending(path: entry), withDestinationURL: root.appending(path: entry))
    }
    try Data(text.utf8).write(to: copy.appending(path: "Package.swift"))
    let result = try Tool.run(["swift", "package", "--package-path", copy.path, "dump-package"])
    guard result.status == 0 else {
      throw Problem("The package manager can't read \(root.appending(path: name).path):\n\(result.errors)")
    }
    return try DescribedPackage(dump: Data(result.output.utf8))
  }
}

/// Runs another program.
private enum Tool {
  /// - Parameter isShown: whether what it prints appears at once; the output then holds its errors, too.
  static func run(_ arguments: [String], isShown: Bool = false) throws -> (
    status: Int32, output: String, errors: String
  ) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = arguments
    let output = Pipe()
    process.standardOutput = output
    let folder = FileManager.default.temporaryDirectory
    let errors = folder.appending(path: "coredata-sources-\(UUID().uuidString).log")
    if isShown {
      process.standardError = output
    } else {
      try Data().write(to: errors)
      process.standardError = try FileHandle(forWritingTo: errors)
    }
    defer { try? FileManager.default.removeItem(at: errors) }
    try process.run()
    var text = Data()
    while case let piece = output.fileHandleForReading.availableData, !piece.isEmpty {
      text += piece
      if isShown { FileHandle.standardOutput.write(piece) }
    }
    process.waitUntilExit()
    let said = (try? Data(contentsOf: errors)) ?? Data()
    return (
      process.terminationStatus, String(decoding: text, as: UTF8.self), String(decoding: said, as: UTF8.self)
    )
  }
}
