import ArgumentParser
import CDEToolKit
import Foundation

struct QueryCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "query",
    abstract: "A prompt for looking around in a store, or its commands from standard input.",
    discussion: """
      The word help lists what can be asked. At a terminal Tab completes entities, key paths and words of predicates, and the
      arrows bring back earlier lines, also those of earlier runs.

      EXAMPLES:
        cde store query Notes.sqlite
        echo 'Note where tags.@count > 2 sort -created' | cde store query Notes.sqlite --output csv
        cde store query Notes.sqlite --command 'count Note' --command entities
      """)
  @OptionGroup var arguments: StoreArguments
  @Option(
    name: [.short, .customLong("command")], help: "Run this command instead of reading; may be repeated.")
  var commands: [String] = []
  @Option(help: "The form of the answers: table, json, csv or markdown.") var output: OutputMode = .table
  @Flag(help: "Never use a pager.") var noPager = false

  // The line editor is one for the process, and calls back on the thread that reads.
  @MainActor func run() async throws {
    let session: QuerySession
    do {
      session = QuerySession(
        try arguments.open(), model: try arguments.loadedModel(), schema: arguments.schema)
    } catch { throw Printing.ended(ToolError(error)) }
    let isPrompt = commands.isEmpty && isatty(STDIN_FILENO) == 1
    var given = commands[...]
    let reader = isPrompt ? LineReader(completing: session.completions) : nil
    func next(_ prompt: String) -> String? {
      if !commands.isEmpty { return given.popFirst() }
      return reader.map { $0.line(prompt: prompt) } ?? readLine()
    }
    var mode = output
    let name = URL(fileURLWithPath: arguments.store).lastPathComponent
    reading: while var text = next("\(name)> ") {
      while QuerySession.isOpen(text),
        let more = next("\(String(repeating: " ", count: max(0, name.count - 1)))...> ")
      {
        if text.last == "\\" { text.removeLast() }
        text += "\n" + more
      }
      reader?.remember(text)
      do {
        switch try session.run(text) {
        case .end: break reading
        case .nothing: break
        case .mode(let chosen): mode = chosen
        case .answer(let answer):
          let terminal = Terminal()
          var renderer = terminal.renderer
          renderer.mode = mode
          terminal.show(renderer.text(of: answer), mayPage: isPrompt && !noPager)
          if let note = answer.note, mode == .table { Terminal.note(note) }
        }
      } catch {
        let ended = Printing.ended(ToolError(error))
        // A script ends at its first mistake.
        if !isPrompt { throw ended }
      }
    }
  }
}
