import ArgumentParser
import CDEToolKit
import CoreDataEvolution
import Foundation

/// How an answer is printed; every command has these options.
struct Printing: ParsableArguments {
  @Flag(help: "Print the answer as JSON; the same as --output json.")
  var json = false

  @Option(help: "The form of the answer: table, json, csv or markdown.")
  var output: OutputMode = .table

  @Flag(help: "Never use a pager.")
  var noPager = false

  /// Prints what a closure answers, and ends the command with the exit code of the answer.
  func print(_ body: () throws -> Answer) throws {
    let answer: Answer
    do { answer = try working(body) } catch { throw Self.ended(ToolError(error)) }
    let terminal = Terminal()
    var renderer = terminal.renderer
    renderer.mode = json ? .json : output
    terminal.show(renderer.text(of: answer), mayPage: !noPager)
    if let note = answer.note, renderer.mode == .table { Terminal.note(note) }
    if answer.hasFindings { throw ExitCode(ToolError.Status.findings.rawValue) }
  }

  static func ended(_ error: ToolError) -> any Error {
    Terminal.note("error: \(error.message)")
    return ExitCode(error.status.rawValue)
  }
}

/// Does work, and shows how far it has come if it takes more than a second and standard error is a terminal.
func working<Value>(_ body: () throws -> Value) throws -> Value {
  guard let line = ProgressLine() else { return try body() }
  defer { line.end() }
  return try WorkReport.$listener.withValue({ line.show($0) }, operation: body)
}

extension OutputMode: ExpressibleByArgument {}

/// The store that a command reads.
struct StoreArguments: ParsableArguments {
  @Argument(help: "The store's file, or postgresql://ROLE@HOST/DATABASE.", completion: .file())
  var store: String

  @Option(help: "The store's model, if the store has no copy of it.", completion: .file())
  var model: String?

  @Option(help: "The server's schema that has the store.")
  var schema: String?

  func place() throws -> StorePlace { try StorePlace(store) }

  func loadedModel() throws -> NSManagedObjectModel? { try model.map { try LoadedModel($0).model } }

  func open() throws -> OpenedStore {
    try OpenedStore(place(), model: loadedModel(), schema: schema)
  }
}
