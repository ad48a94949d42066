import Foundation

@main
struct Program {
  @MainActor
  static func main() async {
    do {
      let options = try Options(Array(CommandLine.arguments.dropFirst()))
      if options.wantsHelp { return print(Options.help) }
      if let memory = options.memorySide { return try await MemoryRow.runChild(memory) }
      if let path = options.writtenStore { return try OtherWriter.runChild(path) }
      switch options.engine {
      case .sqlite: try await run(options)
      case .postgresql: try await runOverServers(options)
      }
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
    let workspace = try Workspace(
      samples: samples, isSmoke: options.isSmoke, importCount: options.importCount)
    defer { workspace.remove() }
    let table = Table(isSmoke: options.isSmoke)
    var results: [RowResult] = []
    let runner = Runner(workspace: workspace, rounds: options.rounds, isAlone: options.isAlone)
    var section: RowID.Section?
    for row in RowID.allCases {
      // A row that was not asked for has its place in the reports, without figures.
      let isChosen = options.rows.contains(row)
      if isChosen, row.section != section {
        show((section == nil ? "" : "\n") + table.header(row.section))
        section = row.section
      }
      let result = isChosen ? try await runner.run(row) : RowResult(row)
      results.append(result)
      if isChosen {
        rowEnds()
        show(table.line(result))
      }
    }
    if section != nil { show(Table.legend) }
    let growth = try runGrowth(options, runner, table)
    if let path = options.jsonPath {
      try JSONReport(results: results, growth: growth, isSmoke: options.isSmoke).write(to: path)
    }
    if let path = options.plotPath { try Plot(results: results).write(to: path) }
    if let path = options.growthPlotPath { try GrowthPlot(results: growth).write(to: path) }
  }

  /// Last: what it has registered would weigh on other rows.
  @MainActor
  private static func runGrowth(_ options: Options, _ runner: Runner, _ table: Table) throws -> [GrowthResult]
  {
    if options.growth.isEmpty { return GrowthOperation.allCases.map { GrowthResult($0, [:]) } }
    if !options.rows.isEmpty { show("") }
    show(table.growthHeader)
    let sizes = Set(options.growth.map(\.size))
    let results = try GrowthOperation.allCases.map { operation in
      let chosen = Set(options.growth.filter { $0.operation == operation }.map(\.size))
      if chosen.isEmpty { return GrowthResult(operation, [:]) }
      let result = try runner.run(operation, chosen, of: sizes)
      show(table.line(result))
      return result
    }
    show(Table.growthLegend(residentBytes: MemoryRow.residentBytes))
    return results
  }

  /// The environment names the servers: `CDE_POSTGRESQL_URL`, and `CDE_POSTGRESQL_DURABLE_URL` of one that waits for the disk.
  @MainActor
  private static func runOverServers(_ options: Options) async throws {
    #if PostgreSQL
      func world(_ variable: String) throws -> ServerWorld {
        guard let url = ProcessInfo.processInfo.environment[variable] else {
          throw Options.UsageError(description: "\(variable) names no server. Tools/benchmark starts them.")
        }
        let isDurable = variable != "CDE_POSTGRESQL_URL"
        let samples =
          options.isSmoke || isDurable
          ? Samples(items: 4_000, categories: 40) : Samples(items: 100_000, categories: 1_000)
        return try ServerWorld(url, samples: samples, isAlone: options.isAlone)
      }
      let first = try world("CDE_POSTGRESQL_URL")
      show(ServerReport.header)
      var results: [ServerResult] = []
      for row in ServerRow.allCases where options.serverRows.contains(row) {
        if row == .writers {
          results += try await ServerWriters(world: first, rounds: options.rounds, isSmoke: options.isSmoke)
            .measure()
        } else {
          let place = row == .saveDurably ? try world("CDE_POSTGRESQL_DURABLE_URL") : first
          results.append(
            try await ServerRows(
              world: place, rounds: options.rounds, isSmoke: options.isSmoke,
              importCount: options.importCount
            ).measure(row))
        }
        for result in results where result.row == row {
          show(ServerReport.line(result, isSmoke: options.isSmoke))
        }
      }
      show(ServerReport.legend)
      if let path = options.jsonPath {
        try ServerReport.json(results, isSmoke: options.isSmoke).write(to: URL(fileURLWithPath: path))
      }
      if let path = options.growthPlotPath {
        try Data(WritersPlot(results: results).svg.utf8).write(to: URL(fileURLWithPath: path))
      }
    #else
      throw Options.UsageError(
        description:
          "This program was built without the trait PostgreSQL. Tools/benchmark builds it with the trait.")
    #endif
  }

  /// Rows take a while: each is shown at once, into a pipe too.
  private static func show(_ text: String) {
    print(text)
    fflush(nil)
  }
}
