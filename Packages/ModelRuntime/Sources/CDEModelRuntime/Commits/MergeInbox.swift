@_spi(CDE) internal import CDEExecutors

/// The commits that wait to be merged into one context, in the order in which the stores made them.
///
/// A commit enters while its store's writer is held, and leaves on the context's executor.
final class MergeInbox: Sendable {
  private struct Waiting {
    var commits: [CommittedTransaction?] = []
    var head = 0
  }

  private let waiting = Lock(Waiting())
  /// Has the context merge, soon, what waits up to a commit's number; nil while it merges nothing by itself.
  private let listener = Lock<(@Sendable (UInt64) -> Void)?>(nil)

  /// Whether the context merges other contexts' commits by itself.
  var isOpen: Bool { listener.withLock { $0 != nil } }

  /// Lets commits in.
  func open(notifying listener: @escaping @Sendable (UInt64) -> Void) {
    self.listener.withLock { $0 = listener }
  }

  /// Lets no further commit in. Those that wait stay.
  func close() { listener.withLock { $0 = nil } }

  func notify(_ number: UInt64) { listener.withLock { $0 }?(number) }

  func append(_ commit: CommittedTransaction) {
    waiting.withLock { $0.commits.append(commit) }
  }

  /// Removes and returns the first commit, unless its number is above a limit.
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
        // The rest is moved only when it is the smaller half, so popping takes constant time on average.
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

  /// Has the contexts merge the commit and all before it, each on its own executor.
  func start(_ number: UInt64) {
    for inbox in recipients { inbox.notify(number) }
  }
}
