internal import CDESourceRewriting
internal import Foundation

/// Rewrites what changed in a target.
public struct BuildCommand {
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

  /// Reads the options.
  public init(_ arguments: [String], usage: String) throws {
    var rest = arguments[...]
    func next(_ option: String) throws -> String {
      guard let value = rest.popFirst() else { throw Problem("\(option) lacks a value.\n\(usage)") }
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
      default: throw Problem("build has no option \(option).\n\(usage)")
      }
    }
  }

  /// Writes the rewritten sources and the classes of the models.
  public func run() throws {
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
