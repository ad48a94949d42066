import ArgumentParser
import CDEToolKit
import Foundation

extension ClassKind: ExpressibleByArgument {}
extension ValidationMode: ExpressibleByArgument {}
extension SourceValidation.Report: ExpressibleByArgument {}
extension ConfigurationText.Preset: ExpressibleByArgument {}
extension ConfigurationText.Style: ExpressibleByArgument {}

/// A model and the configuration of its sources.
struct SourceModelArguments: ParsableArguments {
  @Argument(
    help:
      "An .xcdatamodeld, .xcdatamodel, .momd, .mom, or a store's file; “modelPath” of the configuration by default.",
    completion: .file())
  var model: String?

  @Option(help: "The version of an .xcdatamodeld or .momd; the current one by default.")
  var version: String?

  @Option(help: "The configuration, a JSON file.", completion: .file(extensions: ["json"]))
  var config: String?

  func configuration() throws -> SourceConfiguration {
    try config.map { try SourceConfiguration(contentsOf: URL(fileURLWithPath: $0)) } ?? SourceConfiguration()
  }

  func load(
    _ configuration: SourceConfiguration, _ section: SourceConfiguration.Section
  ) throws -> (model: LoadedModel, path: String) {
    guard let path = model ?? section.modelPath.map({ configuration.url($0).path }) else {
      throw ToolError("No model is named. Name it, or a configuration with “modelPath” by --config.", .usage)
    }
    let version = version ?? (model == nil ? section.modelVersion : nil)
    return (try LoadedModel(path, version: version), path)
  }
}

extension ModelCommands {
  struct Validate: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract:
        "Looks for errors and doubtful places in a model, or compares it with its classes; exit code 1 if there are any.",
      discussion: """
        Without --config and --sources the model alone is checked. With one of them its classes are compared with it:

          conformance  model, rules and classes agree. --fix puts right what is certain: a missing @Relationship, a wrong
                       inverse or delete rule, traits of @Attribute, literal defaults. It changes nothing else.
          exact        the files that `cde model generate` manages are what it would write now.

        EXAMPLES:
          cde model validate Notes.xcdatamodeld
          cde model validate Notes.xcdatamodeld --sources Sources/Notes
          cde model validate --config cde.json --fix --dry-run
          cde model validate --config cde.json --mode exact --report sarif > cde.sarif
        """)
    @OptionGroup var arguments: SourceModelArguments
    @Option(
      help: "The folder of the sources; “sourceDir” of the configuration by default.", completion: .directory)
    var sources: String?
    @Option(help: "What is compared: conformance or exact.") var mode: ValidationMode?
    @Option(help: "The macro of the classes: persistent-model or swiftdata.") var kind: ClassKind?
    @Flag(help: "Put right what is certain.") var fix = false
    @Flag(help: "With --fix, show the edits and write nothing.") var dryRun = false
    @Option(help: "The form for other programs: text, json or sarif.") var report = SourceValidation.Report
      .text
    @OptionGroup var printing: Printing

    func validate() throws {
      if dryRun, !fix { throw ValidationError("--dry-run goes with --fix.") }
    }

    func run() throws {
      try printing.print {
        var configuration = try arguments.configuration()
        if let kind { (configuration.generate.kind, configuration.validate.kind) = (kind, kind) }
        let section = configuration.effectiveValidation
        let (model, path) = try arguments.load(configuration, section)
        if arguments.config == nil, sources == nil {
          guard mode == nil, !fix, report == .text else {
            throw ToolError("Sources are validated with --config or --sources. Name one of them.", .usage)
          }
          return ModelValidation(model.model, source: model.source).answer()
        }
        let validation = try SourceValidation(
          model, path: path, configuration, folder: sources.map { URL(fileURLWithPath: $0) }, mode: mode)
        return try validation.answer(report: report, fixing: fix ? dryRun ? .preview : .write : .none)
      }
    }
  }

  struct Generate: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Writes the Swift classes of a model.",
      discussion: """
        Files are written into --to, or “outputDir” of the configuration; without either the classes are printed. A file that \
        this command wrote has a mark and is replaced. A file without the mark is never replaced.

        EXAMPLES:
          cde model generate Notes.xcdatamodeld --to Sources/Notes
          cde model generate --config cde.json --dry-run
          cde model generate Notes.store --kind swiftdata > Models.swift
        """)
    @OptionGroup var arguments: SourceModelArguments
    @Option(help: "The folder of the files.", completion: .directory) var to: String?
    @Option(help: "The macro of the classes: persistent-model or swiftdata.") var kind: ClassKind?
    @Flag(help: "One file for all classes.") var singleFile = false
    @Flag(help: "A file for each entity, the default.") var splitByEntity = false
    @Flag(help: "Also write an extension of each class for code of your own, once.") var emitExtensionStubs =
      false
    @Flag(help: "Say what would be written, and write nothing.") var dryRun = false
    @OptionGroup var printing: Printing

    func validate() throws {
      if singleFile, splitByEntity {
        throw ValidationError("--single-file and --split-by-entity exclude each other.")
      }
    }

    func run() throws {
      do {
        var configuration = try arguments.configuration()
        if let kind { configuration.generate.kind = kind }
        if singleFile {
          (configuration.generate.singleFile, configuration.generate.splitByEntity) = (true, nil)
        }
        if splitByEntity {
          (configuration.generate.singleFile, configuration.generate.splitByEntity) = (nil, true)
        }
        if emitExtensionStubs { configuration.generate.emitExtensionStubs = true }
        let model = try arguments.load(configuration, configuration.generate).model
        let sources = try SourceGeneration(model, configuration).sources()
        let folder =
          to.map { URL(fileURLWithPath: $0) }
          ?? configuration.generate.outputDir.map { configuration.url($0) }
        guard let folder else {
          Terminal.write(sources.text)
          for remark in sources.remarks { Terminal.note("remark: \(remark)") }
          return
        }
        try printing.print { try Generation(sources, in: folder).run(isDryRun: dryRun) }
      } catch let error as ToolError { throw Printing.ended(error) }
    }
  }

  struct Inspect: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Prints, as JSON, what classes a model and its configuration make.",
      discussion: """
        Names, types and storage of all properties in Swift, what the classes do not express, and rules that contradict the model.

        EXAMPLES:
          cde model inspect Notes.xcdatamodeld
          cde model inspect --config cde.json
        """)
    @OptionGroup var arguments: SourceModelArguments
    @OptionGroup var printing: Printing

    func run() throws {
      try printing.print {
        let configuration = try arguments.configuration()
        let model = try arguments.load(configuration, configuration.generate).model
        return SourceGeneration(model, configuration).resolved().answer()
      }
    }
  }

  struct BootstrapConfig: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "bootstrap-config",
      abstract: "Writes a configuration for a model.",
      discussion: """
        With --data the values of a store are read: a text or a whole number with few values is proposed as an enumeration, \
        attributes whose names begin alike as a structure. A proposal has no effect until “accepted” is true.

        EXAMPLES:
          cde model bootstrap-config Notes.xcdatamodeld > cde.json
          cde model bootstrap-config Notes.xcdatamodeld --style explicit --to cde.json
          cde model bootstrap-config Notes.xcdatamodeld --data Notes.sqlite
        """)
    @OptionGroup var arguments: ModelArguments
    @Option(help: "Which rules: compact, where something is to be decided, or explicit, for all properties.")
    var style = ConfigurationText.Style.compact
    @Option(help: "A store of the model, for proposals.", completion: .file()) var data: String?
    @Option(help: "The file to write; standard output by default.", completion: .file()) var to: String?
    @Flag(help: "Replace the file.") var force = false
    @OptionGroup var printing: Printing

    func run() throws {
      do {
        let store = try data.map { try OpenedStore(StorePlace($0)) }
        let text = try ConfigurationText.bootstrap(
          arguments.load(), path: path(), version: arguments.version, style: style, data: store)
        guard let to else { return Terminal.write(text) }
        try printing.print {
          try ConfigurationText.write(text, to: URL(fileURLWithPath: to), replaces: force)
        }
      } catch let error as ToolError { throw Printing.ended(error) }
    }

    /// The model as the configuration's folder names it.
    private func path() -> String {
      let folder = to.map { URL(fileURLWithPath: $0).deletingLastPathComponent().standardizedFileURL.path }
      let here = FileManager.default.currentDirectoryPath
      return folder == nil || folder == here
        ? arguments.model : URL(fileURLWithPath: arguments.model).standardizedFileURL.path
    }
  }

  struct InitConfig: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "init-config",
      abstract: "Writes the skeleton of a configuration.",
      discussion: "EXAMPLES:\n  cde model init-config\n  cde model init-config --preset full --stdout")
    @Argument(help: "The file.", completion: .file()) var file = "cde.json"
    @Option(help: "What it contains: minimal or full, which has every key.") var preset = ConfigurationText
      .Preset.minimal
    @Flag(help: "Replace the file.") var force = false
    @Flag(help: "Print it.") var stdout = false
    @OptionGroup var printing: Printing

    func run() throws {
      let text = ConfigurationText.skeleton(preset)
      if stdout { return Terminal.write(text) }
      try printing.print {
        try ConfigurationText.write(text, to: URL(fileURLWithPath: file), replaces: force)
      }
    }
  }
}
