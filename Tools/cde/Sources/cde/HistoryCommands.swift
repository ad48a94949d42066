import ArgumentParser
import CDEToolKit
import Foundation

struct HistoryCommands: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "history", abstract: "Reads the history of a store, and removes old parts.",
    subcommands: [List.self, Show.self, Purge.self])

  struct List: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "The last transactions, the newest at the end.",
      discussion: "EXAMPLE:\n  cde history list Notes.sqlite --author importer")
    @OptionGroup var arguments: StoreArguments
    @Option(help: "The number of transactions.") var limit = 50
    @Option(help: "Only the transactions of this author.") var author: String?
    @OptionGroup var printing: Printing

    func run() throws {
      try printing.print { try arguments.history().list(limit: max(0, limit), author: author) }
    }
  }

  struct Show: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "The changes of a transaction.", discussion: "EXAMPLE:\n  cde history show Notes.sqlite 12")
    @OptionGroup var arguments: StoreArguments
    @Argument(help: "The transaction's number.") var transaction: Int
    @OptionGroup var printing: Printing

    func run() throws { try printing.print { try arguments.history().show(transaction) } }
  }

  struct Purge: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Removes the transactions before a date; writes the store.",
      discussion: "EXAMPLE:\n  cde history purge Notes.sqlite --before 2026-01-31")
    @OptionGroup var arguments: StoreArguments
    @Option(help: "The date, in UTC unless it says otherwise.") var before: String
    @OptionGroup var printing: Printing

    func run() throws { try printing.print { try arguments.history().purge(before: before) } }
  }
}

extension StoreArguments {
  func history() throws -> StoreHistory {
    StoreHistory(try place(), model: try loadedModel(), schema: schema)
  }
}

struct MigrateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate",
    abstract: "Migrates a file to another version of its model; writes the store.",
    discussion: """
      A copy is made before, and a migration that fails leaves the store as it is. Close the app first.

      EXAMPLES:
        cde migrate Notes.sqlite --to Notes.xcdatamodeld --plan
        cde migrate Notes.sqlite --to Notes.xcdatamodeld
      """)
  @Argument(help: "The store's file.", completion: .file()) var store: String
  @Option(help: "The new model.", completion: .file()) var to: String
  @Option(help: "The version of the new model; the current one by default.") var version: String?
  @Flag(help: "Print the plan, and write nothing.") var plan = false
  @Flag(help: "Make no copy.") var noBackup = false
  @OptionGroup var printing: Printing

  func run() throws {
    try printing.print {
      var migration = Migration(URL(fileURLWithPath: store), to: try LoadedModel(to, version: version))
      migration.isPlan = plan
      migration.keepsBackup = !noBackup
      return try migration.answer()
    }
  }
}
