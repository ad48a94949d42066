import CDEDiagrams
import ArgumentParser
import CDEToolKit
import Foundation

extension Diagram.Form: ExpressibleByArgument {}
extension Diagram.Theme: ExpressibleByArgument {}
extension LoadedModel.Engine: ExpressibleByArgument {}

/// The model that a command reads.
struct ModelArguments: ParsableArguments {
  @Argument(help: "An .xcdatamodeld, .xcdatamodel, .momd, .mom, or a store's file.", completion: .file())
  var model: String

  @Option(help: "The version of an .xcdatamodeld or .momd; the current one by default.")
  var version: String?

  func load() throws -> LoadedModel { try LoadedModel(model, version: version) }
}

struct ModelCommands: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "model",
    abstract: "Reads, checks, compares, draws and compiles models; writes and checks their classes.",
    subcommands: [
      Info.self, Validate.self, Diff.self, DrawDiagram.self, Compile.self, Schema.self, Generate.self,
      Inspect.self, BootstrapConfig.self, InitConfig.self,
    ])

  struct Info: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Entities and properties with all that the model says of them.",
      discussion: "EXAMPLES:\n  cde model info Notes.xcdatamodeld\n  cde model info Notes.sqlite --json")
    @OptionGroup var arguments: ModelArguments
    @OptionGroup var printing: Printing

    func run() throws { try printing.print { try arguments.load().info() } }
  }

  struct Diff: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "What becomes of objects when a model changes; exit code 1 if it does.",
      discussion: """
        Says which changes are inferred, and which values are lost. If the first model is that of a store, also how many objects \
        are touched and what would stop the migration.

        EXAMPLES:
          cde model diff Notes.sqlite Notes.xcdatamodeld
          cde model diff Notes.xcdatamodeld Notes.xcdatamodeld --old-version Notes --new-version 'Notes 2' --allow-inferred
        """)
    @Argument(help: "The old model, or a store.", completion: .file()) var old: String
    @Argument(help: "The new model.", completion: .file()) var new: String
    @Option(help: "The version of the old model.") var oldVersion: String?
    @Option(help: "The version of the new model.") var newVersion: String?
    @Flag(help: "Exit code 0 for changes that are inferred and lose nothing.") var allowInferred = false
    @OptionGroup var printing: Printing

    func run() throws {
      try printing.print {
        let models = (try LoadedModel(old, version: oldVersion), try LoadedModel(new, version: newVersion))
        return try ModelDifference(models.0, models.1).answer(allowsInference: allowInferred)
      }
    }
  }

  struct DrawDiagram: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "diagram",
      abstract: "Draws the model as SVG, or writes it for Graphviz or Mermaid.",
      discussion:
        "EXAMPLES:\n  cde model diagram Notes.xcdatamodeld > notes.svg\n  cde model diagram Notes.sqlite --format mermaid"
    )
    @OptionGroup var arguments: ModelArguments
    @Option(help: "The form: svg, dot or mermaid.") var format = Diagram.Form.svg
    @Option(help: "The colours of the picture: auto, light or dark.") var theme = Diagram.Theme.auto
    @Flag(help: "Leave the attributes out.") var noAttributes = false
    @Option(help: "The file to write; standard output by default.", completion: .file()) var to: String?

    func run() throws {
      do {
        let text = Diagram(try arguments.load().model, showsAttributes: !noAttributes).text(
          format, theme: theme)
        guard let to else { return Terminal.write(text) }
        try StoreExport.file(URL(fileURLWithPath: to)) { try $0(text) }
      } catch { throw Printing.ended(ToolError(error)) }
    }
  }

  struct Compile: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Compiles a model's source to a .momd, .mom or .cdm.",
      discussion: "EXAMPLE:\n  cde model compile Notes.xcdatamodeld --to Resources/Notes.momd")
    @Argument(help: "An .xcdatamodeld, .xcdatamodel or .xcmappingmodel.", completion: .file()) var source:
      String
    @Option(help: "The compiled model; beside the source by default.", completion: .file()) var to: String?
    @Option(help: "The module of classes that the model names with a leading dot.") var module: String?
    @OptionGroup var printing: Printing

    func run() throws {
      try printing.print {
        try LoadedModel.compile(
          URL(fileURLWithPath: source), to: to.map { URL(fileURLWithPath: $0) }, module: module)
      }
    }
  }

  struct Schema: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "The SQL that makes an empty store of the model.",
      discussion:
        "EXAMPLES:\n  cde model schema Notes.xcdatamodeld\n  cde model schema Notes.xcdatamodeld --engine postgresql"
    )
    @OptionGroup var arguments: ModelArguments
    @Option(help: "The engine: sqlite or postgresql.") var engine: LoadedModel.Engine = .sqlite
    @OptionGroup var printing: Printing

    func run() throws { try printing.print { try arguments.load().schema(of: engine) } }
  }
}
