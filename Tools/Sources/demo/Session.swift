import CoreDataEvolution
import PackageModel

/// One run of the program: index, then answer.
@MainActor
final class Session {
  private let place: IndexPlace
  private let container: NSPersistentContainer
  private let observation: CDEObservationDomain
  private let questions: Questions
  private let terminal = Terminal()
  private var interrupt: Interrupt?

  init(store place: IndexPlace) throws {
    self.place = place
    container = try PackageStore.open(place)
    observation = CDEObservationDomain(container: container)
    questions = Questions(container: container)
  }

  /// - Parameter path: two packages to show the way between, and nothing else.
  /// - Throws: ``Stopped`` at Ctrl-C, ``NothingToIndex``, or an error of the store.
  func run(_ sources: [PackageSource], limit: Int?, path: (from: String, to: String)?) async throws {
    let start = ContinuousClock.now
    var recording = CDEProfile.Options()
    recording.recordsTimeline = true
    CDEProfile.start(recording)
    let run = IndexRun(context: container.viewContext)
    run.startedAt = Date()
    try container.viewContext.save()
    terminal.show("Counting the records of \(counted(sources.count, "file"))")
    let total = min(await Self.count(sources), limit ?? .max)
    let progress = IndexProgress(
      run, of: total, beside: try RunWatcher.runs(observation, isFinished: false), on: terminal)
    progress.follow()
    let indexer = Indexer(observationDomain: observation)
    let id = run.objectID
    let task = Task { try await indexer.index(sources, limit: limit, run: id) }
    let interrupt = Interrupt { task.cancel() }
    let result = await task.result
    interrupt.cancel()
    progress.finish()
    let report = try result.get()
    try PackageStore.purgeHistory(of: container)
    if report.isCancelled { throw Stopped(text: ReportText.stopped(report, of: total, store: place)) }
    let summary = ReportText.indexed(
      report, in: ContinuousClock.now - start, store: place, paintCount: progress.paintCount)
    if path == nil { print(summary) } else { terminal.note(summary) }
    guard report.recordCount > 0 else {
      let names = sources.map(\.path).joined(separator: ", ")
      throw NothingToIndex(sources: names)
    }
    let ending = Interrupt { [terminal, place] in
      terminal.note("Stopped before the last answer. The index is up to date in \(place.name).")
      exit(Stopped.status)
    }
    defer { ending.cancel() }
    if let path { try await show(path) } else { try await answer() }
  }

  /// Shows the runs of other processes until Ctrl-C.
  func watch() async throws {
    let watcher = try RunWatcher(observation, on: terminal)
    terminal.note("Watching \(place.name). Start Tools/demo with this --store elsewhere; Ctrl-C ends this.")
    watcher.follow()
    await withCheckedContinuation { continuation in
      interrupt = Interrupt { continuation.resume() }
    }
    interrupt = nil
    watcher.finish()
  }

  /// The records that the sources seem to hold; one that can't be read counts for nothing here and is reported
  /// when it is indexed.
  private static func count(_ sources: [PackageSource]) async -> Int {
    await Task.detached {
      sources.reduce(0) { count, source in
        do { return count + (try SourceReader.count(in: source)) } catch { return count }
      }
    }.value
  }

  private func show(_ path: (from: String, to: String)) async throws {
    let found = try await asking("the way") { try await $0.path(from: path.from, to: path.to) }
    print(ReportText.path(found, from: path.from, to: path.to))
  }

  private func answer() async throws {
    let overview = try await asking("what there is") { try await $0.overview() }
    print(ReportText.overview(overview))
    print(
      ReportText.mostDependedUpon(
        try await asking("what is needed most") { try await $0.mostDependedUpon(10) }))
    let installedOnly = overview.installed > 0
    let largest = try await asking("what is largest") {
      try await $0.largestBySection(2, installedOnly: installedOnly)
    }
    print(ReportText.largest(largest, installedOnly: installedOnly))
    let orphans = try await asking("what nothing needs") { try await $0.orphans() }
    if installedOnly { print(ReportText.orphans(orphans)) }
    if let start = orphans.max(by: { $0.dependencyCount < $1.dependencyCount })?.name
      ?? largest.first?.largest.first?.name,
      let found = try await asking("the longest way", { try await $0.longestPath(from: start) })
    {
      // Of all packages the one asks the most for, the farthest shows best what a search finds.
      print(ReportText.path(found, from: start, to: found.steps.last!.name))
    }
    print(ReportText.closing(store: place))
    CDEProfile.stop()
    // The answers are printed already: a folder that can't be written is no reason to fail.
    do { print(try Papers(beside: place).write(container.managedObjectModel)) } catch {
      terminal.note("The diagram and the profile can't be written: \(error.localizedDescription)")
    }
  }

  /// Says what is looked for while the answer takes its time.
  private func asking<Answer: Sendable>(
    _ question: String, _ ask: (Questions) async throws -> Answer
  ) async throws -> Answer {
    terminal.show("Looking for \(question)")
    defer { terminal.clear() }
    return try await ask(questions)
  }
}

/// Ctrl-C ended the run.
struct Stopped: Error {
  /// What shells report of a program that Ctrl-C ended.
  static let status = 128 + SIGINT
  /// What was kept.
  var text: String
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
