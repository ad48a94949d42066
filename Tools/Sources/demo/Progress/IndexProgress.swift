import CoreDataEvolution
import Observation
import PackageModel

/// Shows how far an ``IndexRun`` is, and repaints only when something it shows has changed.
@MainActor
final class IndexProgress {
  private let run: IndexRun
  private let terminal: Terminal
  /// Runs that have not ended, those of other processes included.
  private let running: CDEObservedFetch<IndexRun>
  /// How many records there are to read.
  private let total: Int
  private var isOver = false
  /// How often the line was painted.
  private(set) var paintCount = 0

  init(_ run: IndexRun, of total: Int, beside running: CDEObservedFetch<IndexRun>, on terminal: Terminal) {
    self.run = run
    self.running = running
    self.total = total
    self.terminal = terminal
  }

  /// Paints the line and from now on keeps it up to date.
  func follow() {
    guard !isOver else { return }
    let line = withObservationTracking {
      text
    } onChange: { [weak self] in
      Task { @MainActor in self?.follow() }
    }
    paintCount += 1
    terminal.show(line)
  }

  /// Takes the line away for good.
  func finish() {
    isOver = true
    terminal.clear()
  }

  /// What it reads decides what wakes it: where lines can't be painted over, only a new task does.
  private var text: String {
    let task = run.task
    guard terminal.isInteractive else {
      return task.isEmpty ? "Indexing \(counted(total, "record"))" : "Indexing: \(task)"
    }
    var parts = ["\(grouped(run.recordCount)) of \(counted(total, "record"))"]
    for (count, word) in [
      (run.addedCount, "new"), (run.changedCount, "changed"), (run.removedCount, "removed"),
      (run.malformedCount, "malformed"),
    ] where count > 0 {
      parts.append("\(grouped(count)) \(word)")
    }
    for other in running.elements where other !== run {
      parts.append("another process: \(counted(other.recordCount, "record"))")
    }
    return "\(parts.joined(separator: ", "))  \(task)"
  }
}
