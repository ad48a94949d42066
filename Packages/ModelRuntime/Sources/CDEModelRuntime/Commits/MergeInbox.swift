@_spi(CDE) internal import CDEExecutors

/// The commits that wait to be merged into one context, in the order of the stores.
///
/// A commit is added while the writer of its store is locked. It is removed on the context's executor.
final class MergeInbox: Sendable {
  private struct Waiting {
    var commits: [CommittedTransaction?] = []
    var head = 0
  }

  /// A structure, because a lock that holds a closure itself wraps it once more at every access.
  private struct Listener: Sendable {
    let notify: @Sendable (UInt64) -> Void
  }

  private let waiting = Lock(Waiting())
  /// Makes the context merge, soon, the waiting commits up to a number; nil if the context does not merge
  /// automatically.
  private let listener = Lock<Listener?>(nil)

  /// The context's executor.
  let executor: ContextExecutor

  init(of executor: ContextExecutor) { self.executor = executor }

  /// Whether the context merges other contexts' commits automatically.
  var isOpen: Bool { listener.withLock { $0 != nil } }

  /// Starts accepting commits.
  func open(notifying listener: @escaping @Sendable (UInt64) -> Void) {
    self.listener.withLock { $0 = Listener(notify: listener) }
  }

  /// Stops accepting commits. Waiting commits stay.
  func close() { listener.withLock { $0 = nil } }

  func notify(_ number: UInt64) { listener.withLock { $0 }?.notify(number) }

  func append(_ commit: CommittedTransaction) {
    waiting.withLock { $0.commits.append(commit) }
  }

  /// Removes and returns the first commit. Returns nil if its number is above a limit.
  func popFirst(through limit: UInt64) -> CommittedTransaction? {
    waiting.withLock { waiting in
      guard waiting.head < waiting.commits.count, let first = waiting.commits[waiting.head],
        first.sequence <= limit
      else { return nil }
      waiting.commits[waiting.head] = nil
      waiting.head += 1
      if waiting.head == waiting.commits.count {
        waiting.commits.removeAll(keepingCapacity: waiting.head <= 64)
        waiting.head = 0
      } else if waiting.head >= 64, waiting.head * 2 >= waiting.commits.count {
        // The rest is moved only if it is the smaller half, so popping takes constant time on average.
        waiting.commits.removeSubrange(..<waiting.head)
        waiting.head = 0
      }
      return first
    }
  }
}

/// The inboxes that got a commit, until their contexts have been notified.
struct CommitDelivery {
  var recipients: [MergeInbox] = []

  /// Makes the contexts merge the commit and all earlier ones, each on its own executor.
  func start(_ number: UInt64) {
    for inbox in recipients { inbox.notify(number) }
  }
}
