import Foundation

@main
struct Program {
  @MainActor
  static func main() async {
    do {
      let options = try Options(Array(CommandLine.arguments.dropFirst()))
      if options.wantsHelp { return print(Options.help) }
      if let memory = options.memorySide { return try MemoryRow.runChild(memory) }
      try await run(options)
    } catch let error as Options.UsageError {
      FileHandle.standardError.write(Data("\(error)\n\n\(Options.help)\n".utf8))
      exit(2)
    } catch {
      FileHandle.standardError.write(Data("The benchmark failed: \(error)\n".utf8))
      exit(1)
    }
  }

  @MainActor
  private static func run(_ options: Options) async throws {
    let samples =
      options.isSmoke ? Samples(items: 4_000, categories: 40) : Samples(items: 100_000, categories: 1_000)
    let workspace = try Workspace(samples: samples, isSmoke: options.isSmoke)
    defer { workspace.remove() }
    let table = Table(isSmoke: options.isSmoke)
    table.printHeader()
    var results: [RowResult] = []
    let runner = Runner(workspace: workspace, rounds: options.rounds, isAlone: options.isAlone)
    for row in RowID.allCases {
      // A row that was not asked for has its place in the reports, without figures.
      let result = options.rows.contains(row) ? try await runner.run(row) : RowResult(row)
      results.append(result)
      if options.rows.contains(row) {
        table.printRow(result)
        // Rows take a while: show each at once, into a pipe too.
        fflush(nil)
      }
    }
    table.printFooter()
    if let path = options.jsonPath {
      try JSONReport(results: results, isSmoke: options.isSmoke).write(to: path)
    }
    if let path = options.plotPath { try Plot(results: results).write(to: path) }
  }
}
