import CDESourceRewriting
import Foundation

/// A mistake in the command line, or sources with errors.
struct Problem: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// One call of the tool.
enum Command {
  case help
  case build(BuildCommand)
  case rewrite(RewriteCommand)
  case adopt(AdoptCommand)
  case coverage(files: [String])
  case compile(CompileCommand)
  case generate(GenerateCommand)

  static let usage = """
    Usage: coredata-sources <command>

      adopt <folder> [--url <repository> [--from <version>] | --path <folder>] [--trait <name>]... [--dry-run] [--no-build]
            [--leave-out <path or pattern>]... [--sources <folder>]... [--tests <folder>]... [-- <argument of swift build>...]
          Makes a package for Apple's platforms one that builds on Linux: writes the folder Linux and a section of the
          manifest, builds, and lists what is left with the remedy. A folder without a manifest gets one; --sources and
          --tests name its folders if they are not found. A second call writes only what has changed.
      rewrite <folder> <new folder>
          Rewrites all Swift files of a folder once, for Linux, into another folder. Each line stays on its line.
      coverage <file.lcov>...
          Prints coverage in lcov's format for the original files, given what llvm-cov exports for rewritten ones.
      compile <model> <output> [--model <model>]...
          Compiles an .xcdatamodeld into a .momd, an .xcdatamodel into a .mom, or an .xcmappingmodel into a .cdm, in the
          form of Apple's compiler. A mapping model needs the models that it is for; without --model they are looked for
          where it says.
      generate-swiftdata <store or model>
          Prints classes with @Model for a store that keeps a copy of its model, as Apple's do, or for an .xcdatamodeld,
          .xcdatamodel, .momd or .mom. A container over the classes opens the store in place. What SwiftData can't
          express is a comment at its place, and a line on the error output.
      build --module <name> --state <file> --table <file> [--uses <module>]... [--replaces <module> <module>]... [--main-actor] [--member-imports]
            [--settings <file> <its text>] [--model <model> <output>]... [--file <source> <output>]...
          What the plug-in CoreDataSources calls: rewrites the files that changed since the last call. --uses names a
          replacement of one of Apple's modules that the target depends on, or none; without it the target depends on all.
          --replaces names a module of Apple's platforms and another with its interface; --main-actor says that the
          target's declarations are isolated to the main actor by default; --member-imports, that members are visible only
          where their own module is imported.
    """

  init(_ arguments: [String]) throws {
    let rest = Array(arguments.dropFirst())
    switch arguments.first {
    case "build": self = try .build(BuildCommand(rest))
    case "rewrite":
      guard rest.count == 2 else { throw Problem("rewrite takes a folder and a new folder.\n\(Self.usage)") }
      self = .rewrite(RewriteCommand(folder: rest[0], output: rest[1]))
    case "adopt": self = try .adopt(AdoptCommand(rest))
    case "coverage":
      guard !rest.isEmpty else { throw Problem("coverage takes files in lcov's format.\n\(Self.usage)") }
      self = .coverage(files: rest)
    case "compile": self = try .compile(CompileCommand(rest))
    case "generate-swiftdata":
      guard rest.count == 1 else {
        throw Problem("generate-swiftdata takes a store or a model.\n\(Self.usage)")
      }
      self = .generate(GenerateCommand(source: URL(fileURLWithPath: rest[0])))
    case "help", "--help", "-h": self = .help
    case let other:
      throw Problem("\(other.map { "There is no command \($0)." } ?? "Which command?")\n\(Self.usage)")
    }
  }

  func run() throws {
    switch self {
    case .help: print(Self.usage)
    case .build(let command): try command.run()
    case .rewrite(let command): try command.run()
    case .adopt(let command): try command.run()
    case .compile(let command): try command.run()
    case .generate(let command): try command.run()
    case .coverage(let files): try CoverageMapping(files).run()
    }
  }
}

/// Prints messages where the build system looks for them, and fails if one is an error.
func finish(_ report: TargetRewriting.Report) throws {
  for message in report.messages { print(message) }
  if report.hasErrors { throw Problem("Some sources can't be rewritten; see the messages above.") }
}

/// Rewrites what changed in a target.
struct BuildCommand {
  private var state: String?
  private var table: String?
  private var models: [(String, String)] = []
  /// The file with the settings, and its text when the files were listed.
  private var settings: (path: String, text: String)?
  private var files: [TargetRewriting.File] = []
  private var modules: Set<String> = []
  private var replacements: [String: String] = [:]
  private var isOnMainActor = false
  private var importsMembers = false

  init(_ arguments: [String]) throws {
    var rest = arguments[...]
    func next(_ option: String) throws -> String {
      guard let value = rest.popFirst() else { throw Problem("\(option) lacks a value.\n\(Command.usage)") }
      return value
    }
    while let option = rest.popFirst() {
      switch option {
      case "--module": _ = try next(option)
      case "--settings": settings = (try next(option), try next(option))
      case "--state": state = try next(option)
      case "--uses": modules.insert(try next(option))
      case "--replaces": replacements[try next(option)] = try next(option)
      case "--main-actor": isOnMainActor = true
      case "--member-imports": importsMembers = true
      case "--table": table = try next(option)
      case "--model": models.append((try next(option), try next(option)))
      case "--file": files.append(.init(source: try next(option), output: try next(option)))
      default: throw Problem("build has no option \(option).\n\(Command.usage)")
      }
    }
  }

  func run() throws {
    if let settings, (try? String(contentsOfFile: settings.path, encoding: .utf8)) != settings.text {
      print(
        "\(settings.path):1: error: The settings were edited, and the files of the target are still the former ones. Run "
          + "`touch Package.swift` and build again. SwiftPM lists them when files come or go or the manifest changes."
      )
      throw Problem("The settings have changed since the files were listed; see the message above.")
    }
    let generated = try models.map { model, output in
      (source: model, output: output, text: try GeneratedClasses.text(of: URL(fileURLWithPath: model)))
    }
    try finish(
      TargetRewriting(
        files, generated: generated, table: table, stateFile: state.map { URL(fileURLWithPath: $0) },
        modules: modules.isEmpty ? SourceIndex.allModules : modules, replacements: replacements,
        isOnMainActor: isOnMainActor, importsMembers: importsMembers
      ).run())
  }
}

/// Rewrites a folder once.
struct RewriteCommand {
  let folder: String
  let output: String

  func run() throws {
    guard let walker = FileManager.default.enumerator(atPath: folder) else {
      throw Problem("There is no folder \(folder).")
    }
    let paths = walker.compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }.sorted()
    guard !paths.isEmpty else { throw Problem("The folder \(folder) holds no Swift file.") }
    let files = paths.map { TargetRewriting.File(source: "\(folder)/\($0)", output: "\(output)/\($0)") }
    let report = try TargetRewriting(
      files, table: "\(output)/PortedClasses.swift", keepsLocations: false
    ).run()
    try finish(report)
    print("\(files.count) files written to \(output), \(report.parsed) of them rewritten.")
  }
}
