import ArgumentParser
import CDEToolKit
import Foundation

struct StoreCommands: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "store", abstract: "Reads, compares, checks and copies stores.",
    subcommands: [
      Info.self, Entities.self, Rows.self, Show.self, Diff.self, Check.self, Export.self, Import.self,
      SalvageStore.self, QueryCommand.self,
    ])

  struct Info: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "What the store is: sizes, journal, identifier, model, metadata.",
      discussion: "EXAMPLE:\n  cde store info Notes.sqlite --json")
    @OptionGroup var arguments: StoreArguments
    @OptionGroup var printing: Printing

    func run() throws {
      try printing.print { try OpenedStore.info(try arguments.place(), schema: arguments.schema) }
    }
  }

  struct Entities: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "The entities with the number of their objects.",
      discussion: "EXAMPLE:\n  cde store entities Notes.sqlite")
    @OptionGroup var arguments: StoreArguments
    @OptionGroup var printing: Printing

    func run() throws { try printing.print { try arguments.open().entities() } }
  }

  struct Rows: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "The objects of an entity as a table.",
      discussion: """
        Related objects stand by their names, to-many relationships by their sizes, dates in UTC.

        EXAMPLES:
          cde store rows Notes.sqlite Note --predicate 'tags.@count > 2' --sort -created,title
          cde store rows Notes.sqlite Note --columns title,owner --output csv
        """)
    @OptionGroup var arguments: StoreArguments
    @Argument(help: "The entity's name.") var entity: String
    @Option(help: "A condition as NSPredicate's format strings write it.") var predicate: String?
    @Option(
      parsing: .unconditional,
      help: "Key paths with commas between them; a minus before one means descending.") var sort: String?
    @Option(help: "The number of rows.") var limit = 50
    @Option(help: "The number of rows to leave out first.") var offset = 0
    @Option(help: "The properties to show, with commas between them.") var columns: String?
    @OptionGroup var printing: Printing

    func validate() throws {
      if limit < 1 || offset < 0 {
        throw ValidationError("--limit takes a number from 1, --offset one from 0.")
      }
    }

    func run() throws {
      try printing.print {
        var listing = RowListing(entity: entity)
        listing.predicate = predicate
        listing.sort = sort.map(list) ?? []
        listing.limit = limit
        listing.offset = offset
        listing.columns = columns.map(list) ?? []
        return try listing.answer(try arguments.open())
      }
    }
  }

  struct Show: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "One object with its values and relationships.",
      discussion: "EXAMPLE:\n  cde store show Notes.sqlite Note/p12")
    @OptionGroup var arguments: StoreArguments
    @Argument(help: "The object's ID, such as Note/p12, or its URI.") var id: String
    @Option(help: "The number of objects to show of each to-many relationship.") var members = 20
    @OptionGroup var printing: Printing

    func run() throws { try printing.print { try arguments.open().page(of: id, members: max(0, members)) } }
  }
}

/// The parts of a list with commas.
func list(_ text: String) -> [String] {
  text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
}
