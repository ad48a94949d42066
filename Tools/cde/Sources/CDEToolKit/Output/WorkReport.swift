import Foundation
import Synchronization

/// How far a long work has come, told to who shows it.
public enum WorkReport {
  /// A part of the work, such as an entity, with how much of it is done.
  public struct Step: Sendable, Equatable {
    public var part: String
    public var done: Int
    public var total: Int

    public init(_ part: String, _ done: Int, of total: Int) {
      self.part = part
      self.done = done
      self.total = total
    }
  }

  /// Called with each step of the work that runs in this task; nil by default.
  @TaskLocal public static var listener: (@Sendable (Step) -> Void)?

  static func tell(_ part: String, _ done: Int, of total: Int) { listener?(Step(part, done, of: total)) }

  /// A progress that tells each of its steps, for work of the library.
  static func progress(_ part: String) -> Progress? { listener.map { ToldProgress(part, $0) } }

  private final class ToldProgress: Progress, @unchecked Sendable {
    // Guard: both are immutable.
    private let part: String
    private let listener: @Sendable (Step) -> Void

    init(_ part: String, _ listener: @escaping @Sendable (Step) -> Void) {
      self.part = part
      self.listener = listener
      super.init(parent: nil, userInfo: nil)
    }

    override var completedUnitCount: Int64 {
      didSet { listener(Step(part, Int(completedUnitCount), of: Int(totalUnitCount))) }
    }
  }
}

/// A line at the bottom of a terminal that shows a work of more than a second, and disappears with it.
public final class ProgressLine: Sendable {
  private let state: Mutex<State>
  private let width: Int
  private let write: @Sendable (String) -> Void
  private let now: @Sendable () -> ContinuousClock.Instant

  private struct State {
    var began: ContinuousClock.Instant
    var drawn: ContinuousClock.Instant?
  }

  /// Nil where standard error is no terminal.
  public convenience init?() {
    let environment = ProcessInfo.processInfo.environment
    guard isatty(STDERR_FILENO) == 1, environment["TERM"] != "dumb" else { return nil }
    self.init(width: Terminal().width ?? 80) { Terminal.write($0, to: STDERR_FILENO) }
  }

  init(
    width: Int, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
    write: @escaping @Sendable (String) -> Void
  ) {
    self.width = width
    self.write = write
    self.now = now
    state = Mutex(State(began: now()))
  }

  /// Shows a step, at most ten times a second.
  public func show(_ step: WorkReport.Step) {
    let now = now()
    let isDue = state.withLock { state in
      guard now - state.began >= .seconds(1), state.drawn.map({ now - $0 >= .milliseconds(100) }) ?? true
      else {
        return false
      }
      state.drawn = now
      return true
    }
    if isDue { write("\r\u{1B}[K" + line(step)) }
  }

  /// Removes the line, so that the answer stands alone.
  public func end() {
    if state.withLock({ $0.drawn != nil }) { write("\r\u{1B}[K") }
  }

  private func line(_ step: WorkReport.Step) -> String {
    let numbers = step.total > 0 ? "\(step.done) of \(step.total)" : "\(step.done)"
    let room = min(30, width - step.part.count - numbers.count - 6)
    guard step.total > 0, room >= 5 else {
      return String("\(step.part)  \(numbers)".prefix(max(0, width - 1)))
    }
    let filled = min(room, room * step.done / step.total)
    return
      "\(step.part)  [\(String(repeating: "#", count: filled))\(String(repeating: ".", count: room - filled))]  \(numbers)"
  }
}
