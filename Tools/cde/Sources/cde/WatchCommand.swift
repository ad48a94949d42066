import ArgumentParser
import CDEToolKit

struct WatchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch",
    abstract: "Prints commits to a store as they happen, one a line, until it is interrupted.",
    discussion: """
      The commits of all processes are told, by the history that the store keeps: SwiftData always keeps one, Core Data
      with NSPersistentHistoryTrackingKey. With --json each line is an object.

      EXAMPLES:
        cde watch Notes.sqlite
        cde watch Notes.sqlite --entity Note --json | jq .changes
        cde watch Notes.sqlite --past --count 10
      """)
  @OptionGroup var arguments: StoreArguments
  @Option(help: "Only commits of this author.") var author: String?
  @Option(help: "Only commits that change this entity.") var entity: String?
  @Flag(help: "Print the whole history first.") var past = false
  @Option(help: "End after so many commits.") var count: Int?
  @Flag(help: "Print each commit as JSON.") var json = false

  func validate() throws {
    if let count, count < 1 { throw ValidationError("--count takes a number from 1.") }
  }

  func run() async throws {
    do {
      let path = arguments.model
      var watch = StoreWatch(try arguments.place(), schema: arguments.schema) {
        try path.map { try LoadedModel($0).model }
      }
      watch.author = author
      watch.entity = entity
      watch.includesPast = past
      watch.limit = count
      try await watch.run { commit in
        Terminal.write((json ? commit.json.text(indented: false) : commit.text) + "\n")
      }
    } catch { throw Printing.ended(ToolError(error)) }
  }
}
