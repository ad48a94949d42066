import CoreDataEvolution
import Observation
import PackageModel

/// Shows the newest run on an index, whichever process does it, and repaints when that process saves.
@MainActor
final class RunWatcher {
  private let runs: CDEObservedFetch<IndexRun>
  private let terminal: Terminal
  private var isOver = false
  /// Called after each painting.
  var onPaint: (String) -> Void = { _ in }

  init(_ observation: CDEObservationDomain, on terminal: Terminal) throws {
    runs = try Self.runs(observation)
    self.terminal = terminal
  }

  /// Runs on an index, the newest first.
  ///
  /// - Parameter isFinished: nil for all; runs that ended without saying so are left out after an hour.
  static func runs(_ observation: CDEObservationDomain, isFinished: Bool? = nil) throws -> CDEObservedFetch<
    IndexRun
  > {
    let request = IndexRun.fetchRequest()
    request.sortDescriptors = [NSSortDescriptor(key: "startedAt", ascending: false)]
    if let isFinished {
      request.predicate = NSPredicate(
        format: "isFinished == %@ AND startedAt > %@", isFinished as NSNumber,
        Date(timeIntervalSinceNow: -60 * 60) as NSDate)
    } else {
      request.fetchLimit = 1
    }
    return try CDEObservedFetch(request, in: observation)
  }

  /// Paints the line and from now on keeps it up to date.
  func follow() {
    guard !isOver else { return }
    let line = withObservationTracking {
      text
    } onChange: { [weak self] in
      Task { @MainActor in self?.follow() }
    }
    terminal.show(line)
    onPaint(line)
  }

  /// Takes the line away for good.
  func finish() {
    isOver = true
    terminal.clear()
  }

  private var text: String {
    guard let run = runs.elements.first else { return "Nothing was indexed yet" }
    var parts = [counted(run.recordCount, "record")]
    for (count, word) in [
      (run.addedCount, "new"), (run.changedCount, "changed"), (run.removedCount, "removed"),
    ] where count > 0 {
      parts.append("\(grouped(count)) \(word)")
    }
    return "\(parts.joined(separator: ", "))  \(run.task)"
  }
}
