import CDESourceTool
import Foundation

/// One call of the tool.
enum Command {
  case help
  case rewrite(RewriteCommand)
  case adopt(AdoptCommand)
  case coverage(files: [String])
  case compile(CompileCommand)
  case generate(GenerateCommand)

  static let usage = """
    Usage: coredata-sources <command>

      adopt <folder> [--url <repository> [--from <version>] | --path <folder>] [--trait <name>]... [--dry-run] [--no-build]
            [--combine <repository>] [--leave-out <path or pattern>]... [--sources <folder>]... [--tests <folder>]...
            [-- <argument of swift build>...]
          Makes a package for Apple's platforms one that builds on Linux: writes the folder Linux and a section of the
          manifest, builds, and lists what is left with the remedy. A folder without a manifest gets one; --sources and
          --tests name its folders if they are not found. A second call writes only what has changed. --combine names
          OpenCombine's repository, and sources that import Combine are compiled with it.
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
    """

  init(_ arguments: [String]) throws {
    let rest = Array(arguments.dropFirst())
    switch arguments.first {
    case "rewrite":
      guard rest.count == 2 else { throw Problem("rewrite takes a folder and a new folder.\n\(Self.usage)") }
      self = .rewrite(RewriteCommand(folder: rest[0], output: rest[1]))
    case "adopt": self = try .adopt(AdoptCommand(rest))
    case "coverage":
      guard !rest.isEmpty else { throw Problem("coverage takes files in lcov's format.\n\(Self.usage)") }
      self = .coverage(files: rest)
    case "compile": self = try .compile(CompileCommand(rest, usage: Self.usage))
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
    case .rewrite(let command): try command.run()
    case .adopt(let command): try command.run()
    case .compile(let command): try command.run()
    case .generate(let command): try command.run()
    case .coverage(let files): try CoverageMapping(files).run()
    }
  }
}
