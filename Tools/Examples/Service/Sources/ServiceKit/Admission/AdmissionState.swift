/// Which pieces of work run, which wait, and which are refused. A value without locks, clocks or tasks.
///
/// At most `limit` pieces run at once. At most `queueLimit` wait, and the first that came is the first that runs. All others are refused.
struct AdmissionState {
  typealias Ticket = UInt64

  /// What becomes of a piece of work that asks to run.
  enum Entry: Equatable {
    case runs
    case waits
    case isRefused(Refusal)
  }

  /// Why a piece of work does not run.
  enum Refusal: Error, Equatable {
    /// As much waits as may wait.
    case queueIsFull
    /// It waited for as long as it may.
    case waitedTooLong
    /// The service ends.
    case isClosed
  }

  let limit: Int
  let queueLimit: Int
  private(set) var running = 0
  private(set) var waiting: [Ticket] = []
  private(set) var isClosed = false

  init(limit: Int, queueLimit: Int) {
    self.limit = limit
    self.queueLimit = queueLimit
  }

  /// Whether no work runs or waits.
  var isIdle: Bool { running == 0 && waiting.isEmpty }

  /// Why work that asks now would not even wait; nil if it would.
  var refusal: Refusal? {
    if isClosed { return .isClosed }
    return running < limit || waiting.count < queueLimit ? nil : .queueIsFull
  }

  /// A piece of work asks to run.
  mutating func enter(_ ticket: Ticket) -> Entry {
    if let refusal { return .isRefused(refusal) }
    if running < limit {
      running += 1
      return .runs
    }
    waiting.append(ticket)
    return .waits
  }

  /// A piece of work has ended.
  ///
  /// - Returns: the one that runs in its place.
  mutating func leave() -> Ticket? {
    if waiting.isEmpty {
      running -= 1
      return nil
    }
    return waiting.removeFirst()
  }

  /// A piece of work waits no longer.
  ///
  /// - Returns: false if it did not wait.
  mutating func giveUp(_ ticket: Ticket) -> Bool {
    guard let place = waiting.firstIndex(of: ticket) else { return false }
    waiting.remove(at: place)
    return true
  }

  /// From now on all work is refused. What runs or waits goes on.
  mutating func close() { isClosed = true }
}
