@_spi(CDE) internal import CDEExecutors

/// Something that a context did, with its time.
struct Event: Sendable {
  enum Kind: String, Sendable, Codable { case fetch, save, merge, wake, block }

  let kind: Kind
  let start: ContinuousClock.Instant
  let duration: Duration
  let label: String
  let context: Int
  let record: Int

  init(
    _ kind: Kind, from start: ContinuousClock.Instant, _ label: String, context: Int, record: Int
  ) {
    self.kind = kind
    self.start = start
    duration = start.duration(to: .now)
    self.label = label
    self.context = context
    self.record = record
  }

  init(_ kind: Kind, from start: ContinuousClock.Instant, _ label: String, in activity: ContextActivity) {
    self.init(kind, from: start, label, context: activity.number, record: activity.record)
  }
}

/// The latest events: some ten thousand, of which the oldest give way.
struct Timeline: Sendable {
  static let limit = 50_000
  private var events: [Event] = []
  private var next = 0
  /// How many events gave way.
  private(set) var dropped = 0

  mutating func append(_ event: Event) {
    if events.count < Self.limit { return events.append(event) }
    events[next] = event
    next = (next + 1) % Self.limit
    dropped += 1
  }

  /// The events in the order of their ends.
  var inOrder: [Event] { Array(events[next...] + events[..<next]) }
}

/// Number and time of events of one kind, and the slowest ones.
struct Timed: Sendable {
  private static let limit = 20
  private(set) var count = 0
  private(set) var total = Duration.zero
  private(set) var slowest: [SlowEvent] = []

  mutating func add(_ duration: Duration) {
    count += 1
    total += duration
  }

  mutating func list(_ event: SlowEvent) {
    let index = slowest.firstIndex { $0.duration < event.duration } ?? slowest.count
    guard index < Self.limit else { return }
    slowest.insert(event, at: index)
    if slowest.count > Self.limit { slowest.removeLast() }
  }
}

/// A fetch, a save or a merge that took long.
struct SlowEvent: Sendable {
  let label: String
  let context: Int
  let duration: Duration
  let text: String
  let stack: CallStack

  init(_ event: Event, _ text: String, at stack: CallStack) {
    label = event.label
    context = event.context
    duration = event.duration
    self.text = text
    self.stack = stack
  }
}
