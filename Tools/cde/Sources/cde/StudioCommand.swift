import ArgumentParser
import CDEStudio
import CDEToolKit
import Dispatch
import Foundation

struct StudioCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "studio",
    abstract: "Shows a store in a browser of this machine: rows, objects, the model, commits, slow queries.",
    discussion: """
      Prints a link to open. The pages come from this program alone, and only this machine reaches them. Without --write the \
      store is opened for reading only. With --write each change is validated by the model, saved at once, and can be undone.

      EXAMPLES:
        cde studio Notes.sqlite
        cde studio Notes.sqlite --write
        cde studio postgresql://ada@localhost/shop --schema notes --port 8080
      """)
  @OptionGroup var arguments: StoreArguments
  @Flag(help: "Let the pages change the store.") var write = false
  @Option(help: "The port on 127.0.0.1; 0 for a free one. By default 7373, or a free one if that is in use.")
  var port: Int?

  func validate() throws {
    if let port, !(0...65_535).contains(port) {
      throw ValidationError("--port takes a number from 0 to 65535.")
    }
  }

  func run() async throws {
    do {
      let studio = try Studio(
        try arguments.place(), model: arguments.loadedModel(), schema: arguments.schema, isWritable: write)
      let signals = Self.signals { studio.close() }
      defer { signals.forEach { $0.cancel() } }
      let server = StudioServer(studio)
      let started: @Sendable (Int) -> Void = { port in
        Terminal.write("\(server.link(port: port))\n")
        Terminal.note("Open this link in a browser. Ctrl-C ends the program.")
      }
      if let port { return try await server.run(port: port, started: started) }
      do { try await server.run(port: 7373, started: started) } catch {
        try await server.run(port: 0, started: started)
      }
    } catch { throw Printing.ended(ToolError(error)) }
  }

  /// Closes the store before the program ends by a signal, so that its log goes into the file.
  private static func signals(_ body: @escaping @Sendable () -> Void) -> [any DispatchSourceSignal] {
    [SIGINT, SIGTERM].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler {
        body()
        Foundation.exit(0)
      }
      source.resume()
      return source
    }
  }
}
