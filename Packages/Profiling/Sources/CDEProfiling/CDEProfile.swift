@_spi(CDE) internal import CDEExecutors

/// The record of what contexts do: single faults by their places in the source, slow fetches and saves, merges and wakes.
///
/// With `CDE_PROFILE=1` in its environment a program is recorded from its first coordinator on, and prints the report to its
/// standard error when it exits, and whenever it gets the signal SIGUSR1. If the value is a path that ends with `.html`, `.json` or
/// `.txt`, the report is written to that file instead. `CDE_PROFILE_SLOW=25` makes 25 milliseconds the duration from which a fetch
/// or a save is listed; `CDE_PROFILE_VALUES=yes` prints conditions with their values.
///
/// A program that records a part of its work calls ``start(_:)`` and ``report()``:
///
/// ```swift
/// CDEProfile.start()
/// // The work to look at.
/// print(CDEProfile.report())
/// CDEProfile.stop()
/// ```
///
/// Faults are counted each. Their places are looked at for the first 32 of a kind and for one of 512 afterwards, so a place's count is
/// exact while there are few, and an estimate later. All functions may be called on any thread.
public enum CDEProfile {
  /// What is recorded.
  public struct Options: Sendable {
    /// The duration from which a fetch, a save or a merge is listed. Ten milliseconds at first.
    public var slow: Duration = .milliseconds(10)
    /// Whether the times of fetches, saves, merges, wakes and blocks are kept for the page's timeline. False at first.
    public var recordsTimeline = false
    /// Whether listed conditions contain values, which may be confidential. False at first: a `?` stands for each.
    public var includesValues = false
    /// Gets each event as well, for a system that collects measurements; nil at first.
    public var counters: (any CDEProfileCounters)?

    /// Makes the options that `CDE_PROFILE=1` has.
    public init() {}
  }

  /// Whether events are recorded.
  public static var isRecording: Bool { ProfileRecorder.isRecording }

  /// Begins a new record. What was recorded before is discarded.
  public static func start(_ options: Options = Options()) { ProfileRecorder.shared.start(options) }

  /// Ends the record. ``report()`` returns it until the next ``start(_:)``.
  public static func stop() { ProfileRecorder.shared.stop() }

  /// What was recorded since the last ``start(_:)``.
  ///
  /// Looks up the places' names, which takes seconds of processor time in a program of 200 MB.
  public static func report() -> CDEProfileReport { ProfileRecorder.shared.report() }
}
