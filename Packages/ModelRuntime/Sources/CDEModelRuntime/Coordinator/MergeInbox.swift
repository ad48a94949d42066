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

/// The contexts that a commit was handed to, from the store's writer until they have been woken.
struct CommitDelivery {
  var contexts: [NSManagedObjectContext] = []
  /// Those with the commit in their inboxes.
  var recipients: [NSManagedObjectContext] = []

  /// Has the recipients merge the commit and all before it, each on its own executor.
  func start(_ number: UInt64) {
    for context in recipients {
      context.executor.enqueue { [weak context] in context?.mergeInbox(through: number) }
    }
  }
}
