@_spi(CDE) internal import CDEExecutors
internal import Synchronization

/// What one context did lately: the runs of single faults, and its last fetches of several objects.
///
/// A run is a row of events of one key in one context, each at most a second after the one before. Events of other keys may come
/// in between. With its tenth event a run counts as repeated.
@_spi(CDE) public final class ContextActivity: Sendable {
  static let repetition = 10
  fileprivate static let gap: UInt64 = 1_000_000_000
  fileprivate static let runsKept = 16
  private static let fetchesKept = 4

  fileprivate struct Run {
    let key: ActivityKey
    let kind: FaultKind
    var length = 0
    var last: UInt64 = 0
  }

  fileprivate struct State {
    var runs: [Run] = []
    var next = 0
    var fetches: [RecentFetch] = []
  }

  private let state = Lock(State())
  /// The recorder that the activity belongs to.
  public let recorder: ProfileRecorder
  /// The number of the record that the activity belongs to.
  public let record: Int
  /// The context's number in the timeline.
  let number: Int

  init(_ recorder: ProfileRecorder, record: Int, number: Int) {
    self.recorder = recorder
    self.record = record
    self.number = number
  }

  /// Notes an event.
  ///
  /// - Parameter names: the names of the entity and of the relationship, for the first event of a key in a context.
  /// - Returns: whether the event made a run, and no remedy for its key is known.
  public func note(_ key: ActivityKey, names: () -> (entity: String, relationship: String?)) -> Bool {
    note(key, at: CoarseTime.now(), names)
  }

  func note(
    _ key: ActivityKey, at now: UInt64, _ names: () -> (entity: String, relationship: String?)
  ) -> Bool {
    var found = state.withLock { $0.advance(key, now) }
    if found == nil {
      let names = names()
      let kind = recorder.kind(key, entity: names.entity, relationship: names.relationship)
      found = state.withLock { $0.begin(kind, now) }
    }
    guard let found else { return false }
    let makesRun = found.length == Self.repetition
    if let counters = recorder.counters, !key.isFetch {
      counters.add(1, to: key.isRelationship ? .relationshipFaults : .objectFaults)
      if found.length >= Self.repetition { counters.add(makesRun ? found.length : 1, to: .repeatedFaults) }
    }
    guard makesRun || FaultKind.looksAt(found.number), let kind = recorder.knownKind(key) else {
      return false
    }
    kind.note(found.number, at: CallStack.captured())
    return makesRun && !kind.hasRemedy
  }

  /// Notes what would have read the events of a run at once.
  public func note(_ remedy: FoundRemedy, for key: ActivityKey) { recorder.knownKind(key)?.note(remedy) }

  /// Notes a fetch of several objects, whose faults may follow.
  public func noteFetch(of entity: String, key: ActivityKey) {
    // The place of a fetch is known from the looks at its kind; each fetch of its own would cost more than reading some rows.
    let kind = recorder.knownKind(key)
    let looks = FaultKind.looksAt(kind?.count.load(ordering: .relaxed) ?? 0)
    let stack = looks ? CallStack.captured() : kind?.noted.usual
    state.withLock { state in
      if state.fetches.count == Self.fetchesKept { state.fetches.removeFirst() }
      state.fetches.append(RecentFetch(entity: entity, stack: stack))
    }
  }

  /// The last fetches of several objects, the latest first.
  public var recentFetches: [RecentFetch] { state.withLock { $0.fetches.reversed() } }
}

/// An event: its number among all of its kind, and its number in its run.
private struct NotedEvent {
  let number: Int
  let length: Int
}

extension ContextActivity.State {
  fileprivate mutating func advance(_ key: ActivityKey, _ now: UInt64) -> NotedEvent? {
    for index in runs.indices where runs[index].key == key { return runs[index].advance(now) }
    return nil
  }

  fileprivate mutating func begin(_ kind: FaultKind, _ now: UInt64) -> NotedEvent {
    if let known = advance(kind.key, now) { return known }
    let run = ContextActivity.Run(key: kind.key, kind: kind)
    if runs.count < ContextActivity.runsKept {
      runs.append(run)
      return runs[runs.count - 1].advance(now)
    }
    next = (next + 1) % runs.count
    runs[next] = run
    return runs[next].advance(now)
  }
}

extension ContextActivity.Run {
  fileprivate mutating func advance(_ now: UInt64) -> NotedEvent {
    length = now &- last > ContextActivity.gap ? 1 : length + 1
    last = now
    if length >= ContextActivity.repetition {
      kind.repeated.add(length == ContextActivity.repetition ? length : 1, ordering: .relaxed)
    }
    return NotedEvent(number: kind.count.add(1, ordering: .relaxed).newValue, length: length)
  }
}

extension FaultKind.Details {
  /// The place of most events.
  var usual: CallStack? { places.values.max { $0.count < $1.count }?.stack }
}
