internal import Synchronization

/// The events of one kind in one context.
///
/// Only the context writes, so that an event costs some stores and no atomic addition. Reports read from other threads. What each event
/// needs lies in one line of memory: beside a fault most of the cost is fetching such lines.
@_spi(CDE) public final class EventCount: Sendable {
  let key: ActivityKey
  /// The number of the last event among all of its kind, as far as they were counted when this context began.
  private let events: Atomic<Int>
  private let repetitions = Atomic<Int>(0)
  // Guard: the context's isolation.
  private nonisolated(unsafe) var last: UInt64 = 0
  // Guard: the context's isolation.
  @exclusivity(unchecked) private(set) nonisolated(unsafe) var length: Int32 = 0
  /// Whether each event goes to counters.
  private let isReported: Bool
  private let before: Int
  let kind: FaultKind

  /// - Parameter before: how many events of the kind there were before the first one here.
  init(_ kind: FaultKind, before: Int, isReported: Bool) {
    key = kind.key
    events = Atomic(before)
    self.isReported = isReported
    self.before = before
    self.kind = kind
  }

  var count: Int { number - before }
  var number: Int { events.load(ordering: .relaxed) }

  /// How many of them belong to a run.
  var repeated: Int { repetitions.load(ordering: .relaxed) }

  var makesRun: Bool { length == ContextActivity.repetition }

  /// Counts an event if it is one of this key, as ``add()`` does.
  ///
  /// - Returns: nil if it was not counted.
  public func add(_ key: ActivityKey) -> Bool? { self.key == key ? add() : nil }

  /// Counts an event. Precondition: the caller is on the context's isolation.
  ///
  /// - Returns: whether the event has to be noted in the activity as well.
  public func add() -> Bool { add(at: CoarseTime.now()) }

  func add(at now: UInt64) -> Bool {
    length = now &- last > ContextActivity.gap ? 1 : length &+ 1
    last = now
    let number = number + 1
    events.store(number, ordering: .relaxed)
    if length >= ContextActivity.repetition {
      repetitions.store(repeated + (makesRun ? Int(length) : 1), ordering: .relaxed)
    }
    return makesRun || isReported || FaultKind.looksAt(number)
  }
}
