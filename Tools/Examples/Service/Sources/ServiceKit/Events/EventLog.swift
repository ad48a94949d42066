import CoreDataEvolution

/// The last transactions that the service has read, for those who follow them. A value without locks or tasks.
///
/// A reader knows its place by a token, so it may begin anywhere, also after a transaction that another machine told it. A reader that is
/// further behind than the log reaches reads the history itself. So the log needs no more memory when a reader is slow.
struct EventLog {
  struct Entry: Sendable {
    /// The place after the transaction.
    let token: NSPersistentHistoryToken
    let events: [ChangeEvent]

    fileprivate var size: Int { events.reduce(0) { $0 + $1.text.readableBytes } }
  }

  /// What a reader finds after its place.
  enum Found {
    case entries([Entry])
    /// Nothing yet.
    case nothing
    /// The log begins later.
    case isBehind
  }

  static let entryLimit = 1_024
  static let sizeLimit = 16 << 20

  /// The place before the first entry.
  private(set) var start: NSPersistentHistoryToken
  private(set) var entries: [Entry] = []
  private var size = 0

  init(start: NSPersistentHistoryToken) { self.start = start }

  /// The place after the last entry.
  var end: NSPersistentHistoryToken { entries.last?.token ?? start }

  mutating func append(_ entry: Entry) {
    entries.append(entry)
    size += entry.size
    // A large part at once, because each removal moves the rest.
    if entries.count > Self.entryLimit || size > Self.sizeLimit { removeFirst(max(1, entries.count / 2)) }
  }

  /// Forgets all entries.
  mutating func begin(at token: NSPersistentHistoryToken) { self = EventLog(start: token) }

  func find(after token: NSPersistentHistoryToken) -> Found {
    switch token.compare(start) {
    case .orderedSame, .orderedDescending: break
    default: return .isBehind
    }
    // Most readers are at the end.
    if token.compare(end) != .orderedAscending { return .nothing }
    let first = entries.firstIndex { token.compare($0.token) == .orderedAscending }
    return first.map { .entries(Array(entries[$0...])) } ?? .nothing
  }

  private mutating func removeFirst(_ count: Int) {
    start = entries[count - 1].token
    size -= entries[..<count].reduce(0) { $0 + $1.size }
    entries.removeFirst(count)
  }
}
