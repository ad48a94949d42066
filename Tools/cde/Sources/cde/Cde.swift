import ArgumentParser
import CDEToolKit

@main
struct Cde: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cde",
    abstract: "Looks into Core Data and SwiftData stores and models.",
    discussion: """
      EXAMPLES:
        cde store info Notes.sqlite
        cde store rows Notes.sqlite Note --predicate 'title BEGINSWITH "A"' --sort -created --limit 20
        cde store show Notes.sqlite Note/p12
        cde model diagram Notes.xcdatamodeld > notes.svg

      EXIT CODES:
        0   done
        1   differences or damages were found
        2   a file, a server or its data could not be used
        64  the command line is wrong

      Stores are opened for reading only, unless a command says otherwise: their files and folders stay as they are.
      """,
    version: "cde 1.0",
    subcommands: [
      StoreCommands.self, ModelCommands.self, ExplainCommand.self, MigrateCommand.self, HistoryCommands.self,
      WatchCommand.self, StudioCommand.self,
    ])
}

extension Cde {
  /// The names that lead to each command that does something.
  static func allCommands() -> [[String]] { commands(below: Cde.self, []) }

  private static func commands(below type: any ParsableCommand.Type, _ path: [String]) -> [[String]] {
    type.configuration.subcommands.flatMap { sub -> [[String]] in
      let own = path + [sub._commandName]
      return sub.configuration.subcommands.isEmpty ? [own] : commands(below: sub, own)
    }
  }

  /// The command that names lead to.
  static func command(at path: [String]) -> any ParsableCommand.Type {
    path.reduce(Cde.self as any ParsableCommand.Type) { type, name in
      type.configuration.subcommands.first { $0._commandName == name } ?? type
    }
  }
}
