import ArgumentParser
import CDEToolKit

struct ExplainCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "How a store answers a fetch: SQL, plan, and an index that would help.",
    discussion: """
      The suggested index was tried on an empty file of the same model: with it the fetch scans less.

      EXAMPLES:
        cde explain Notes.sqlite --entity Note --predicate 'title == "A"'
        cde explain Notes.sqlite --entity Note --sort -created --limit 20 --redact
      """)
  @OptionGroup var arguments: StoreArguments
  @Option(help: "The entity of the fetch.") var entity: String
  @Option(help: "A condition as NSPredicate's format strings write it.") var predicate: String?
  @Option(
    parsing: .unconditional, help: "Key paths with commas between them; a minus before one means descending.")
  var sort: String?
  @Option(help: "The greatest number of objects; 0 for all.") var limit = 0
  @Flag(help: "Print ? instead of values.") var redact = false
  @OptionGroup var printing: Printing

  func run() throws {
    try printing.print {
      var explanation = Explanation(entity: entity)
      explanation.predicate = predicate
      explanation.sort = sort.map(list) ?? []
      explanation.limit = max(0, limit)
      explanation.isRedacted = redact
      explanation.schema = arguments.schema
      return try explanation.answer(try arguments.place(), model: arguments.loadedModel())
    }
  }
}
