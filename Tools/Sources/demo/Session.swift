import CoreDataEvolution

/// One run of the program: index, then answer.
@MainActor
final class Session {
  private let url: URL
  private let container: NSPersistentContainer
  private let observation: CDEObservationDomain

  init(store url: URL) throws {
    self.url = url
    container = try PackageStore.open(url)
    observation = CDEObservationDomain(container: container)
  }

  /// - Returns: whether there was anything to index and every question had an answer.
  func run(_ sources: [PackageSource], limit: Int?, path: (from: String, to: String)?) async throws -> Bool {
    let start = ContinuousClock.now
    let run = IndexRun(context: container.viewContext)
    run.startedAt = Date()
    try container.viewContext.save()
    let progress = IndexProgress(run, on: Terminal())
    progress.follow()
    let indexer = Indexer(observationDomain: observation)
    let report = try await indexer.index(sources, limit: limit, run: run.objectID)
    progress.finish()
    print(
      ReportText.indexed(
        report, in: ContinuousClock.now - start, store: url, paintCount: progress.paintCount))
    guard report.recordCount > 0 else {
      let names = sources.map(\.path).joined(separator: ", ")
      throw NothingToIndex(sources: names)
    }
    try await answer(path)
    return true
  }

  private func answer(_ path: (from: String, to: String)?) async throws {
    let questions = Questions(container: container)
    let overview = try await questions.overview()
    print(ReportText.overview(overview))
    print(ReportText.mostDependedUpon(try await questions.mostDependedUpon(10)))
    let installedOnly = overview.installed > 0
    let largest = try await questions.largestBySection(2, installedOnly: installedOnly)
    print(ReportText.largest(largest, installedOnly: installedOnly))
    let orphans = try await questions.orphans()
    if installedOnly { print(ReportText.orphans(orphans)) }
    if let path {
      let found = try await questions.path(from: path.from, to: path.to)
      print(ReportText.path(found, from: path.from, to: path.to))
    } else if let start = orphans.max(by: { $0.dependencyCount < $1.dependencyCount })?.name
      ?? largest.first?.largest.first?.name,
      let found = try await questions.longestPath(from: start)
    {
      // Of all packages the one asks the most for, the farthest shows best what a search finds.
      print(ReportText.path(found, from: start, to: found.steps.last!.name))
    }
    print(ReportText.closing(store: url))
  }
}

/// None of the files held a record.
struct NothingToIndex: Error, CustomStringConvertible {
  var sources: String
  var description: String {
    sources.isEmpty
      ? "There is no package database to index; name one with --status or --lists."
      : "There is no package record in \(sources)."
  }
}
