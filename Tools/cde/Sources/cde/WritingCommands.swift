import ArgumentParser
import CDEToolKit
import Foundation

extension StoreExport.Form: ExpressibleByArgument {}

extension StoreCommands {
  struct Diff: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Compares two stores object by object; exit code 1 if they differ.",
      discussion: """
        Objects are the same if their IDs end alike, as in a store and its copy, or by the value of a key.

        EXAMPLES:
          cde store diff Notes.sqlite Backup.sqlite
          cde store diff Notes.sqlite Other.sqlite --key Note.identifier --key name
        """)
    @OptionGroup var arguments: StoreArguments
    @Argument(help: "The other store.", completion: .file()) var other: String
    @Option(help: "An attribute by which objects are the same: ATTRIBUTE or ENTITY.ATTRIBUTE.") var key:
      [String] = []
    @Option(help: "The greatest number of differences to list.") var limit = 1000
    @OptionGroup var printing: Printing

    func run() throws {
      try printing.print {
        let model = try arguments.loadedModel()
        let right = try OpenedStore(try StorePlace(other), model: model, schema: arguments.schema)
        var difference = StoreDifference(try arguments.open(), right)
        difference.keys = key
        difference.limit = max(0, limit)
        return try difference.answer()
      }
    }
  }

  struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Looks for damages: exit code 1 if something is wrong.",
      discussion: """
        Checks the file's pages, references to missing objects, required values, unique values, and files of external values. \
        --repair does what the last column says, after a copy of the store is made beside it.

        EXAMPLES:
          cde store check Notes.sqlite
          cde store check Notes.sqlite --repair
        """)
    @OptionGroup var arguments: StoreArguments
    @Flag(help: "Mend what can be mended without a choice.") var repair = false
    @OptionGroup var printing: Printing

    func run() throws {
      try printing.print {
        try StoreCheck(try arguments.place(), model: arguments.loadedModel(), schema: arguments.schema)
          .answer(repairs: repair)
      }
    }
  }

  struct Export: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Writes the objects as JSON, CSV, SQL or Markdown.",
      discussion: """
        EXAMPLES:
          cde store export Notes.sqlite > notes.json
          cde store export Notes.sqlite --entity Note --predicate 'created > now() - 86400' --format csv
          cde store export Notes.sqlite --format csv --to folder
          cde store export Notes.sqlite --format sql | sqlite3 notes.db
        """)
    @OptionGroup var arguments: StoreArguments
    @Option(help: "An entity to write; may be repeated. All by default.") var entity: [String] = []
    @Option(help: "A condition for the objects of the entity.") var predicate: String?
    @Option(help: "The form: json, csv, sql or markdown.") var format = StoreExport.Form.json
    @Option(
      help: "The file to write, or a folder for CSV files; standard output by default.", completion: .file())
    var to: String?

    func run() throws {
      do {
        var export = StoreExport(try arguments.open())
        export.form = format
        export.entities = entity
        export.predicate = predicate
        guard let to else {
          // The objects themselves show the progress at a terminal.
          let isTerminal = isatty(STDOUT_FILENO) == 1
          let write = { try export.write { Terminal.write($0) } }
          try isTerminal ? write() : working(write)
          return try Self.tell(export)
        }
        let url = URL(fileURLWithPath: to)
        var isFolder = ObjCBool(false)
        _ = FileManager.default.fileExists(atPath: to, isDirectory: &isFolder)
        if isFolder.boolValue {
          guard format == .csv else { throw ToolError("\(to) is a folder. Name a file in it.", .usage) }
          let files = try working { try export.writeFiles(to: url) }
          Terminal.note("Written: \(files.joined(separator: ", ")).")
        } else {
          try working { try StoreExport.file(url, export.write) }
        }
        try Self.tell(export)
      } catch { throw Printing.ended(ToolError(error)) }
    }

    /// - Throws: ``ToolError`` if the export lacks values, after it was written.
    private static func tell(_ export: StoreExport) throws {
      if let loss = export.loss { throw ToolError(loss, .findings) }
    }
  }

  struct Import: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "import",
      abstract: "Writes the records of a JSON or CSV file into the store, all or none.",
      discussion: """
        A relationship is the ID of another record of the file; an ID that no record has is that of an object in the store.

        EXAMPLES:
          cde store import Notes.sqlite notes.json --dry-run
          cde store import Notes.sqlite people.csv --entity Person --key email
        """)
    @OptionGroup var arguments: StoreArguments
    @Argument(help: "The file with the records.", completion: .file()) var source: String
    @Option(help: "The entity of the records, for a CSV file or a list.") var entity: String?
    @Option(help: "The attribute by which a record's object is found; the others are inserted.") var key:
      String?
    @Flag(help: "Say what would be done, and write nothing.") var dryRun = false
    @OptionGroup var printing: Printing

    func run() throws {
      try printing.print {
        var work = StoreImport(try arguments.place())
        work.entity = entity
        work.key = key
        work.isDryRun = dryRun
        work.model = try arguments.loadedModel()
        work.schema = arguments.schema
        return try work.answer(URL(fileURLWithPath: source))
      }
    }
  }

  struct SalvageStore: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "salvage",
      abstract: "Copies what can be read of a damaged file into a new store.",
      discussion:
        "The damaged file stays as it is. Exit code 1 if something is lost.\n\nEXAMPLE:\n  cde store salvage Notes.sqlite --to Rescued.sqlite"
    )
    @OptionGroup var arguments: StoreArguments
    @Option(help: "The new store, which must not exist.", completion: .file()) var to: String
    @OptionGroup var printing: Printing

    func run() throws {
      try printing.print {
        guard case .file(let url) = try arguments.place() else {
          throw ToolError("Only files are salvaged. A server has its own backups.", .usage)
        }
        return try Salvage.answer(url, to: URL(fileURLWithPath: to), model: arguments.loadedModel())
      }
    }
  }
}
