@_spi(CDE) internal import CDEExecutors
public import Synchronization

/// What the layers above report to, and what reports are made of. There is one in a process.
///
/// States: off (nothing was started, or the record was stopped) -> on (by a start; another start begins the next record). Contexts keep
/// a ``ContextActivity`` of one record; with the next record they ask for another.
@_spi(CDE) public final class ProfileRecorder: Sendable {
  /// The recorder of the process.
  public static let shared = ProfileRecorder()
  /// The number of the record that is on; 0 without one.
  @usableFromInline static let on = Atomic<Int>(0)

  @usableFromInline static let timeline = Atomic<Bool>(false)

  /// Whether the beginnings and ends of blocks are recorded. Costs a load.
  @inlinable
  public static var timesBlocks: Bool { timeline.load(ordering: .relaxed) }

  /// The number of the record that is on; 0 without one. Costs a load.
  @inlinable
  public static var current: Int { on.load(ordering: .relaxed) }

  /// Whether the recorder records. Costs a load.
  @inlinable
  public static var isRecording: Bool { current != 0 }

  /// The recorder while it records, else nil. Costs a load.
  @inlinable
  public static var active: ProfileRecorder? { isRecording ? shared : nil }

  struct Recorded {
    var options = CDEProfile.Options()
    var number = 0
    var began = ContinuousClock.now
    var ended: ContinuousClock.Instant?
    var kinds: [ActivityKey: FaultKind] = [:]
    var contexts: [String] = []
    var fetches = Timed()
    var fetchedResults = 0
    var saves = Timed()
    var savedObjects = 0
    var merges = Timed()
    var wakes = 0
    var timeline = Timeline()

    mutating func add(_ event: Event, _ amount: Int) {
      switch event.kind {
      case .fetch:
        fetches.add(event.duration)
        fetchedResults += amount
      case .save:
        saves.add(event.duration)
        savedObjects += amount
      case .merge: merges.add(event.duration)
      case .wake, .block: break
      }
      if options.recordsTimeline { timeline.append(event) }
    }

    /// All stacks that were taken.
    var stacks: [CallStack] {
      kinds.values.flatMap { kind in
        let noted = kind.noted
        return noted.places.values.map(\.stack) + [noted.remedy?.fetch].compactMap(\.self)
      } + [fetches, saves, merges].flatMap(\.slowest).map(\.stack)
    }

    /// A line of the timeline that belongs to no context.
    mutating func lane(of name: String) -> Int {
      if let lane = contexts.firstIndex(of: name) { return lane }
      contexts.append(name)
      return contexts.count - 1
    }

    mutating func list(_ slow: SlowEvent, _ kind: Event.Kind) {
      switch kind {
      case .fetch: fetches.list(slow)
      case .save: saves.list(slow)
      case .merge: merges.list(slow)
      case .wake, .block: break
      }
    }
  }

  private let recorded = Lock(Recorded())
  private let number = Atomic<Int>(0)
  private let ownCounters = Lock<(any CDEProfileCounters)?>(nil)
  private let countersAreSet = Atomic<Bool>(false)

  private init() {}

  // MARK: Beginning and ending

  func start(_ options: CDEProfile.Options) {
    ownCounters.withLock { $0 = options.counters }
    countersAreSet.store(options.counters != nil, ordering: .releasing)
    let record = recorded.withLock { recorded in
      recorded = Recorded(options: options, number: recorded.number + 1)
      number.store(recorded.number, ordering: .releasing)
      return recorded.number
    }
    Self.timeline.store(options.recordsTimeline, ordering: .releasing)
    Self.on.store(record, ordering: .releasing)
  }

  func stop() {
    Self.on.store(0, ordering: .releasing)
    Self.timeline.store(false, ordering: .releasing)
    recorded.withLock { $0.ended = $0.ended ?? .now }
  }

  /// Whether there are counters. Costs a load.
  var hasCounters: Bool { countersAreSet.load(ordering: .acquiring) }

  var counters: (any CDEProfileCounters)? { hasCounters ? ownCounters.withLock { $0 } : nil }

  // MARK: Contexts and kinds

  /// The number of the record. Activities of other records are of no use.
  public var record: Int { number.load(ordering: .acquiring) }

  /// The activity of a context that has none of this record.
  public func makeActivity(_ name: String) -> ContextActivity {
    recorded.withLock { recorded in
      recorded.contexts.append(name)
      return ContextActivity(self, record: recorded.number, number: recorded.contexts.count - 1)
    }
  }

  func kind(_ key: ActivityKey, entity: String, relationship: String?) -> FaultKind {
    recorded.withLock { recorded in
      if let kind = recorded.kinds[key] { return kind }
      let kind = FaultKind(key, entity: entity, relationship: relationship)
      recorded.kinds[key] = kind
      return kind
    }
  }

  func knownKind(_ key: ActivityKey) -> FaultKind? { recorded.withLock { $0.kinds[key] } }

  // MARK: Events

  /// Notes a fetch or a count that ended.
  ///
  /// - Parameter condition: the condition as a format, asked for if the fetch is listed.
  public func noteFetch(
    of entity: String, from start: ContinuousClock.Instant, results: Int, in activity: ContextActivity,
    condition: () -> String
  ) {
    note(Event(.fetch, from: start, entity, in: activity), results) { includesValues in
      let condition = includesValues ? condition() : ConditionText.redacted(condition())
      return ProfileText.counted(results, "result") + (condition.isEmpty ? "" : " where \(condition)")
    }
    guard let counters else { return }
    counters.add(1, to: .fetches)
    if results > 0 { counters.add(results, to: .fetchedResults) }
    counters.record(start.duration(to: .now), of: .fetch)
  }

  /// Notes a save that ended, with success or not.
  public func noteSave(
    from start: ContinuousClock.Instant, objects: Int, in activity: ContextActivity, failed: Bool
  ) {
    note(Event(.save, from: start, "save", in: activity), objects) { _ in
      ProfileText.counted(objects, "object") + (failed ? ", failed" : "")
    }
    guard let counters else { return }
    counters.add(1, to: .saves)
    if objects > 0 { counters.add(objects, to: .savedObjects) }
    counters.record(start.duration(to: .now), of: .save)
  }

  /// Notes a merge of another context's save that ended.
  public func noteMerge(from start: ContinuousClock.Instant, objects: Int, in activity: ContextActivity) {
    note(Event(.merge, from: start, "merge", in: activity), objects) { _ in
      ProfileText.counted(objects, "object")
    }
    guard let counters else { return }
    counters.add(1, to: .merges)
    counters.record(start.duration(to: .now), of: .merge)
  }

  /// Notes that the readers of an object were woken.
  public func noteWake(of entity: String) {
    recorded.withLock { recorded in
      recorded.wakes += 1
      guard recorded.options.recordsTimeline else { return }
      let lane = recorded.lane(of: "woken readers")
      recorded.timeline.append(Event(.wake, from: .now, entity, context: lane, record: recorded.number))
    }
    counters?.add(1, to: .wakes)
  }

  /// Notes a block of a context that ended.
  public func noteBlock(from start: ContinuousClock.Instant, in activity: ContextActivity) {
    let event = Event(.block, from: start, "", in: activity)
    recorded.withLock { if $0.number == event.record { $0.add(event, 0) } }
  }

  private func note(_ event: Event, _ amount: Int, text: (_ includesValues: Bool) -> String) {
    let includesValues: Bool? = recorded.withLock { recorded in
      guard recorded.number == event.record else { return nil }
      recorded.add(event, amount)
      return event.duration >= recorded.options.slow ? recorded.options.includesValues : nil
    }
    guard let includesValues else { return }
    // Outside of the lock, because both may take long.
    let entry = SlowEvent(event, text(includesValues), at: CallStack.captured())
    recorded.withLock { if $0.number == event.record { $0.list(entry, event.kind) } }
  }

  // MARK: Reporting

  func report(placesAreLookedUp: Bool = PlaceNames.areLookedUp) -> CDEProfileReport {
    CDEProfileReport(recorded.withLock { $0 }, placesAreLookedUp: placesAreLookedUp)
  }
}
