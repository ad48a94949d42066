import Synchronization

// A run that finds its executor free never suspends its task. Tasks that only make such runs, one after the other, would keep all threads
// of the pool, and no other task of the program would begin. So such a run yields now and then.
extension ContextExecutor {
  /// How many runs there are from one look at the clock to the next.
  @usableFromInline static var runsPerLook: UInt32 { 16 }
  private static let start = ContinuousClock.now
  private static let made = Atomic<UInt32>(0)

  /// The first count of a new executor. A task may make an executor for each of its runs, so their counts differ.
  static func newTurn() -> UInt32 { made.wrappingAdd(1, ordering: .relaxed).newValue }

  /// Counts a run that may begin on its caller's thread.
  ///
  /// - Returns: whether it is time to look at the clock. Runs at the same time may be counted once.
  @usableFromInline
  @inline(__always)
  func countInlineRun() -> Bool {
    let runs = inlineRuns.load(ordering: .relaxed) &+ 1
    inlineRuns.store(runs, ordering: .relaxed)
    return runs % Self.runsPerLook == 0
  }

  /// Whether the task has had its thread for long enough, and should yield.
  @usableFromInline
  @inline(never)
  func endsTurn() -> Bool {
    let now = (ContinuousClock.now - Self.start).components
    let microseconds = now.seconds * 1_000_000 + now.attoseconds / 1_000_000_000_000
    guard microseconds - lastTurn.load(ordering: .relaxed) >= 1_000 else { return false }
    lastTurn.store(microseconds, ordering: .relaxed)
    return true
  }
}
