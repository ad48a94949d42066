@_spi(CDE) internal import CDEExecutors

/// What one context did lately: the runs of single faults, and its last fetches of several objects.
///
/// A run is a row of events of one key in one context, each at most a second after the one before. Events of other keys may come
/// in between. With its tenth event a run counts as repeated.
///
/// Precondition of all calls: the caller is on the context's isolation.
@_spi(CDE) public final class ContextActivity: Sendable {
  static let repetition: Int32 = 10
  static let gap: UInt64 = 1_000_000_000
  private static let countsKept = 16
  private static let fetchesKept = 4

  // Guard: the context's isolation.
  private nonisolated(unsafe) var counts: [EventCount] = []
  // Guard: the context's isolation.
  private nonisolated(unsafe) var next = 0
  // Guard: the context's isolation.
  private nonisolated(unsafe) var fetches: [RecentFetch] = []
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

  deinit {
    for count in counts { count.kind.end(count) }
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
    let count = count(of: key, names: names)
    return count.add(at: now) ? noteAdded(count) : false
  }

  /// Notes an event that was counted.
  ///
  /// - Returns: whether the event made a run, and no remedy for its key is known.
  public func noteAdded(_ count: EventCount) -> Bool {
    if let counters = recorder.counters, !count.key.isFetch { add(count, to: counters) }
    guard count.makesRun || FaultKind.looksAt(count.number) else { return false }
    count.kind.note(at: CallStack.captured())
    return count.makesRun && !count.kind.hasRemedy
  }

  private func add(_ count: EventCount, to counters: any CDEProfileCounters) {
    counters.add(1, to: count.key.isRelationship ? .relationshipFaults : .objectFaults)
    if count.length >= Self.repetition {
      counters.add(count.makesRun ? Int(count.length) : 1, to: .repeatedFaults)
    }
  }

  /// What counts the events of a key. It is of use until this is asked for another key.
  ///
  /// - Parameter names: the names of the entity and of the relationship, for the first event of a key in a context.
  public func count(
    of key: ActivityKey, names: () -> (entity: String, relationship: String?)
  ) -> EventCount {
    for count in counts where count.key == key { return count }
    let names = names()
    let kind = recorder.kind(key, entity: names.entity, relationship: names.relationship)
    let count = kind.makeCount(isReported: recorder.hasCounters)
    if counts.count < Self.countsKept {
      counts.append(count)
    } else {
      next = (next + 1) % counts.count
      counts[next].kind.end(counts[next])
      counts[next] = count
    }
    return count
  }

  /// Notes what would have read the events of a run at once.
  public func note(_ remedy: FoundRemedy, for key: ActivityKey) { recorder.knownKind(key)?.note(remedy) }

  /// Notes a fetch of several objects, whose faults may follow.
  public func noteFetch(of entity: String, key: ActivityKey) {
    // The place of a fetch is known from the looks at its kind; each fetch of its own would cost more than reading some rows.
    let count = counts.first { $0.key == key }
    let looks = FaultKind.looksAt(count?.number ?? 0)
    let stack = looks ? CallStack.captured() : count?.kind.noted.usual
    if fetches.count == Self.fetchesKept { fetches.removeFirst() }
    fetches.append(RecentFetch(entity: entity, stack: stack))
  }

  /// The last fetches of several objects, the latest first.
  public var recentFetches: [RecentFetch] { fetches.reversed() }
}

extension FaultKind.Details {
  /// The place of most events.
  var usual: CallStack? { places.values.max { $0.count < $1.count }?.stack }
}
